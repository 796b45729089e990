"""`spacy nested-ner init`"""

import sys
from pathlib import Path
from typing import Annotated

from spacy.cli._util import Arg, Opt

from .._whole import write_whole
from .options import errors_shown

_Config = Annotated[Path, Arg(metavar="CONFIG", help="Config to write, or - for standard output", allow_dash=True)]
_Train = Annotated[Path, Opt("--train", "-t", help="Training data: a .spacy file, or a folder of them")]
_Dev = Annotated[Path | None, Opt("--dev", "-d", help="Development data: a .spacy file, or a folder of them")]
_Transformer = Annotated[
    str | None, Opt("--transformer", "-T", help="Fine-tune this transformer: its name, or a folder with one")
]
_Vectors = Annotated[
    str | None, Opt("--vectors", "-V", help="Use the word vectors of this pipeline: a folder, or the name of a package")
]
_Lang = Annotated[str | None, Opt("--lang", "-l", help="Language of the pipeline, such as de; otherwise English")]
_SpansKey = Annotated[
    str | None, Opt("--spans-key", "-k", help="Key of the mentions in doc.spans, if the data have several")
]
_Force = Annotated[bool, Opt("--force", "-F", help="Replace a config that is already there")]


def init_cli(
    config: _Config,
    train: _Train,
    dev: _Dev = None,
    transformer: _Transformer = None,
    vectors: _Vectors = None,
    lang: _Lang = None,
    spans_key: _SpansKey = None,
    force: _Force = False,
) -> None:
    """Write a training config that fits the data, and explain it.

    Looks at keys, labels, lengths, tokens and nesting. The config is complete and commented, and `spacy train`
    runs it as it is.
    """
    # spaCy imports all commands when it starts: what only this one needs is loaded here.
    from ..configs import init_config
    from ..display.config_text import describe_next_steps, describe_plan

    is_stdout = str(config) == "-"
    with errors_shown():
        if not is_stdout:
            _check_target(config, force=force)
        name = "config.cfg" if is_stdout else str(config)
        options = {"transformer": transformer, "vectors": vectors, "lang": lang, "spans_key": spans_key}
        plan = init_config(train, dev, **options, name=name, progress=True)
        explanation = [describe_plan(plan), describe_next_steps(plan, name)]
        if is_stdout:
            print(plan.text, end="")
            print("\n\n".join(explanation), file=sys.stderr)
            return
        write_whole(config, plan.text)
        explanation.insert(1, f"Saved {config}")
        print("\n\n".join(explanation))


def _check_target(path: Path, *, force: bool) -> None:
    """Checked before the work, not after it."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder; name the file to write, such as {path / 'config.cfg'}")
    if path.exists() and not force:
        raise ValueError(f"{path} exists; give another name, or --force to replace it")
