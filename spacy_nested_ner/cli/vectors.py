"""`spacy nested-ner vectors`"""

from pathlib import Path
from shlex import quote
from typing import Annotated

from spacy.cli._util import Arg, Opt

from .._whole import whole_folder
from ..configs.plan import DEFAULT_LANGUAGE
from ..corpus import Settings
from ..word_vectors import WIDTH, make_word_vectors
from .options import Gpu, check_pipeline_folder, errors_shown

_Transformer = Annotated[
    str, Arg(metavar="TRANSFORMER", help="Name of a transformer on the Hugging Face hub, or a folder with one")
]
_Output = Annotated[Path, Arg(metavar="OUTPUT", help="Folder for the vectors")]
_Lang = Annotated[str, Opt("--lang", "-l", help="Language of the pipelines that will use the vectors")]
_Width = Annotated[int, Opt("--width", "-w", help="Numbers per word")]
_Force = Annotated[bool, Opt("--force", "-F", help="Replace vectors that are already in the folder")]


def vectors_cli(
    transformer: _Transformer,
    output: _Output,
    width: _Width = WIDTH,
    lang: _Lang = DEFAULT_LANGUAGE,
    gpu_id: Gpu = -1,
    force: _Force = False,
) -> None:
    """Take word vectors from a transformer, for a pipeline that runs without one.

    The transformer reads every piece of its vocabulary once. The vector of a word is the mean over its pieces, so
    that almost every word has one. `init --vectors` makes a config that uses them.
    """
    with errors_shown():
        check_pipeline_folder(output, force=force)
        lang = str(Settings(lang=lang).nlp.lang)  # checked before the work
        made = make_word_vectors(transformer, lang=lang, width=width, gpu_id=gpu_id, progress=True)
        with whole_folder(output) as folder:
            made.nlp.to_disk(folder)
        print(f"{made.pieces:,} pieces of words")
        print(f"{width} numbers per word, which keep {made.kept:.0%} of the variance")
        init = f"spacy nested-ner init config.cfg --train … --dev … --vectors {quote(str(output))}"
        init += f" --lang {lang}" if lang != DEFAULT_LANGUAGE else ""
        print(f"\nSaved {output}\n\nNext:\n  {init}")
