"""`spacy nested-ner explore`"""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from spacy.cli._util import Opt

from ..corpus import Settings
from ..pipeline.loading import load_pipeline
from .options import From, Gpu, LineSentences, Misaligned, Model, SkipBad, Source, SpansKey, errors_shown

_DataOption = Annotated[
    list[Path] | None,
    Opt("--data", "-d", help="File or folder to step through, in any format of `convert`; may be repeated"),
]
_Host = Annotated[str, Opt("--host", help="Address to listen at: 127.0.0.1 is for this machine only")]
_Port = Annotated[int, Opt("--port", "-p", min=0, max=65535, help="Port to listen at; 0 for any free one")]
_Browser = Annotated[bool, Opt("--browser/--no-browser", help="Open the page in a browser")]
_AllowHost = Annotated[
    list[str] | None,
    Opt("--allow-host", help="Other name by which browsers may call this machine; may be repeated"),
]


def explore_cli(
    model: Model,
    data: _DataOption = None,
    host: _Host = "127.0.0.1",
    port: _Port = 8080,
    browser: _Browser = True,
    allow_host: _AllowHost = None,
    gpu_id: Gpu = -1,
    source_format: From = None,
    spans_key: SpansKey = "sc",
    misaligned: Misaligned = "error",
    line_sentences: LineSentences = True,
    skip_bad: SkipBad = False,
) -> None:
    """Explore a trained pipeline in the browser: type a text or step through a corpus, see the mentions, change the
    decoder, threshold and temperature, see what else was likely, and correct what is wrong.
    """
    with errors_shown():
        _check_installed()
        from ..display.explorer.scoring import Scorer
        from ..display.explorer.sentences import Corpus
        from ..display.explorer.server import create_app
        from ..display.explorer.serving import address_of, listen, serve

        listener = listen(host, port)  # before the pipeline is loaded, which takes longer
        with listener:
            nlp = load_pipeline(model, gpu_id)
            scorer = Scorer(nlp, spans_key)
            corpus = None
            if data:
                settings = Settings(spans_key, pipeline=nlp, misaligned=misaligned, line_sentences=line_sentences)
                source = Source(data, source_format, settings, skip_bad=skip_bad)
                corpus = Corpus(scorer, source.read_all(), ", ".join(path.name for path in data))
                source.print_losses()
            app = create_app(scorer, model=model, corpus=corpus, host=host, allow_hosts=allow_host or ())
            address = address_of(listener, host)
            typer.echo(f"The explorer is at {address}; press Ctrl-C to stop it")
            serve(app, listener, browse=address if browser else None)


def _check_installed() -> None:
    missing = [name for name in ("fastapi", "uvicorn") if find_spec(name) is None]
    if missing:
        raise ValueError(
            f"explore needs {' and '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed; run "
            f"pip install 'spacy-nested-ner[explore]'"
        )
