"""`spacy nested-ner report`"""

from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated

from spacy.cli._util import Opt
from spacy.language import Language

from .._whole import write_whole
from ..corpus import Settings
from ..display.confidence_text import describe_confidence
from ..display.page import render_page
from ..display.scores_text import describe_scores
from ..evaluation.components import check_pipeline, component_of
from ..evaluation.findings import settings_of
from ..evaluation.measures import measure
from ..evaluation.predictions import predict
from ..pipeline.loading import load_pipeline
from .options import (
    Data,
    From,
    GoldTokens,
    Gpu,
    LineSentences,
    Misaligned,
    Model,
    SkipBad,
    Source,
    SpansKey,
    errors_shown,
    write_json,
)

_Output = Annotated[Path, Opt("--output", "-o", help="Folder for report.html and report.json")]
_Examples = Annotated[int, Opt("--examples", "-n", min=0, help="How many sentences with surprising errors to show")]


def report_cli(
    model: Model,
    data: Data,
    output: _Output,
    examples: _Examples = 20,
    gold_tokens: GoldTokens = False,
    gpu_id: Gpu = -1,
    source_format: From = None,
    spans_key: SpansKey = "sc",
    misaligned: Misaligned = "error",
    line_sentences: LineSentences = True,
    skip_bad: SkipBad = False,
) -> None:
    """Make a page that shows what a trained pipeline gets right and wrong.

    Scores by label, depth and length, precision and recall at every threshold, calibration, how well entropy
    points at errors, confusion of labels, and the sentences with the most surprising errors.
    """
    with errors_shown():
        _check_writable(output)
        nlp = load_pipeline(model, gpu_id)
        check_pipeline(nlp, spans_key)
        settings = Settings(spans_key=spans_key, pipeline=nlp, misaligned=misaligned, line_sentences=line_sentences)
        source = Source(data, source_format, settings, skip_bad=skip_bad)
        records = list(source.read_all())
        source.check_mentions_found()
        component = component_of(nlp, spans_key)
        numbers = {
            "model": _title(nlp, model),
            "path": model,
            "component": component[0] if component else None,
            "settings": settings_of(component[1]) if component else None,
            "data": [str(path) for path in data],
            "spans_key": spans_key,
            **measure(
                predict(nlp, records, spans_key=spans_key, gold_tokens=gold_tokens, progress=True), n_examples=examples
            ),
        }
        print(describe_scores(numbers))
        print(f"\n{describe_confidence(numbers)}")
        source.print_losses()
        write_json(output / "report.json", numbers)
        write_whole(output / "report.html", render_page(numbers))
        print(f"\nSaved {output / 'report.html'}\nSaved {output / 'report.json'}")


def _check_writable(folder: Path) -> None:
    """Checked before the work, not after it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ValueError(f"cannot write to the folder {folder}: {error.strerror}; see --output") from None


def _title(nlp: Language, model: str) -> str:
    """The name and version of a pipeline that has them; spaCy calls all others "pipeline"."""
    return model if nlp.meta["name"] == "pipeline" else f"{nlp.lang}_{nlp.meta['name']} {nlp.meta['version']}"
