"""`spacy nested-ner calibrate`"""

from pathlib import Path
from typing import Annotated

from spacy.cli._util import Opt

from .._whole import whole_folder
from ..corpus import Settings
from ..display.scores_text import describe_calibration
from ..evaluation.calibration import calibrate, calibrated_component
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
    check_pipeline_folder,
    errors_shown,
)

_Output = Annotated[Path, Opt("--output", "-o", help="Folder for the pipeline with its new settings")]
_Force = Annotated[bool, Opt("--force", "-F", help="Replace a pipeline that is already in the folder")]
_TuneThreshold = Annotated[
    bool,
    Opt("--tune-threshold", help="Set the threshold with the highest F on DATA, too, unless its gain may be chance"),
]


def calibrate_cli(
    model: Model,
    data: Data,
    output: _Output,
    force: _Force = False,
    tune_threshold: _TuneThreshold = False,
    gold_tokens: GoldTokens = False,
    gpu_id: Gpu = -1,
    source_format: From = None,
    spans_key: SpansKey = "sc",
    misaligned: Misaligned = "error",
    line_sentences: LineSentences = True,
    skip_bad: SkipBad = False,
) -> None:
    """Make the probabilities of a trained pipeline agree with how often it is right.

    Fits the temperature of nested_ner on DATA that it was not trained on, such as the development data, and saves the
    pipeline with it. The mentions it finds do not change, unless a threshold is set. With --tune-threshold, the
    threshold with the highest F on DATA is set, unless what it gains may be chance.
    """
    with errors_shown():
        check_pipeline_folder(output, force=force)
        nlp = load_pipeline(model, gpu_id)
        calibrated_component(nlp, spans_key)
        settings = Settings(spans_key=spans_key, pipeline=nlp, misaligned=misaligned, line_sentences=line_sentences)
        source = Source(data, source_format, settings, skip_bad=skip_bad)
        records = list(source.read_all())
        source.check_mentions_found()
        result = calibrate(
            nlp, records, spans_key=spans_key, gold_tokens=gold_tokens, tune_threshold=tune_threshold, progress=True
        )
        print(describe_calibration(result))
        source.print_losses()
        with whole_folder(output) as folder:
            nlp.to_disk(folder)
        print(f"\nSaved {output}")
