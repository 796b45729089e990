"""`spacy nested-ner calibrate`"""

from pathlib import Path
from typing import Annotated

import spacy
from spacy.cli._util import Opt

from ..corpus import Settings
from ..corpus.files import whole_folder
from ..display.tables import render_table
from ..evaluation.calibration import HIGHEST, LOWEST, Calibration, calibrate, calibrated_component
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
)

_Output = Annotated[Path, Opt("--output", "-o", help="Folder for the pipeline with its temperature")]
_Force = Annotated[bool, Opt("--force", "-F", help="Replace the pipeline that is in the folder")]


def calibrate_cli(
    model: Model,
    data: Data,
    output: _Output,
    force: _Force = False,
    gold_tokens: GoldTokens = False,
    gpu_id: Gpu = -1,
    source_format: From = None,
    spans_key: SpansKey = "sc",
    misaligned: Misaligned = "error",
    line_sentences: LineSentences = True,
    skip_bad: SkipBad = False,
) -> None:
    """Make the probabilities of a trained pipeline agree with how often it is right.

    Fits the temperature of nested_ner on DATA it was not trained on, the development data, and saves the
    pipeline with it. What it finds does not change, unless a threshold is set.
    """
    with errors_shown():
        _check_output(output, force)
        if gpu_id >= 0:
            spacy.require_gpu(gpu_id)
        nlp = spacy.load(model)
        calibrated_component(nlp, spans_key)
        settings = Settings(spans_key=spans_key, pipeline=nlp, misaligned=misaligned, line_sentences=line_sentences)
        source = Source(data, source_format, settings, skip_bad=skip_bad)
        records = list(source.read_all())
        source.check_mentions_found()
        result = calibrate(nlp, records, spans_key=spans_key, gold_tokens=gold_tokens, progress=True)
        print(_table(result))
        if source.report.losses():
            print("\n" + "\n".join(source.report.losses()))
        with whole_folder(output) as folder:
            nlp.to_disk(folder)
        print(f"\nSaved {output}")


def _check_output(folder: Path, force: bool) -> None:
    """Before the work, not after it. Nothing but a pipeline is ever replaced."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if not (folder / "config.cfg").is_file() or not (folder / "meta.json").is_file():
        raise ValueError(f"{folder} exists and is not a pipeline; give a new or empty folder, see --output")
    if not force:
        raise ValueError(f"{folder} has a pipeline; give another folder, or --force to replace it")


def _table(result: Calibration) -> str:
    before, after = result.before, result.after
    rows = [
        ("temperature", f"{before.temperature:.3f}", f"{after.temperature:.3f}"),
        ("negative log-likelihood, nats a sentence", f"{before.nll:.4f}", f"{after.nll:.4f}"),
        ("log loss, nats a mention", f"{before.log_loss:.4f}", f"{after.log_loss:.4f}"),
        ("expected calibration error", f"{before.ece:.4f}", f"{after.ece:.4f}"),
        ("… by chance, were the probabilities exact", f"{before.by_chance:.4f}", f"{after.by_chance:.4f}"),
    ]
    text = render_table(rows, [f"{result.mentions:,} mentions found", "before", "after"])
    if result.left_out:
        text += f"\n\n{result.left_out:,} documents left out: incomplete, without tokens, or not annotated"
    if not LOWEST * 1.01 < after.temperature < HIGHEST * 0.99:
        text += f"\n\nThe temperature is at the end of its range, {LOWEST} to {HIGHEST}: look at the model or the data"
    return text
