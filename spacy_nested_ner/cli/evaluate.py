"""`spacy nested-ner evaluate`"""

from pathlib import Path
from typing import Annotated, Any, NamedTuple

from spacy.cli._util import Opt
from spacy.language import Language

from ..corpus import Record, Settings
from ..display.scores_text import describe_difference, describe_table
from ..evaluation.components import check_pipeline, component_of
from ..evaluation.predictions import Judged, predict
from ..evaluation.resampling import Resampling
from ..evaluation.scores import ScoreTable, difference_table, score_table
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

_Against = Annotated[
    str | None, Opt("--against", "-a", help="Another pipeline, and a test of whether the difference may be chance")
]
_Json = Annotated[Path | None, Opt("--json", "-j", "--output", "-o", help="File for all numbers")]
_Resamples = Annotated[
    int, Opt("--resamples", "-n", min=0, help="How often to resample the documents; 0 for no intervals")
]
_Seed = Annotated[int, Opt("--seed", min=0, help="The same seed gives the same intervals")]
_ModelKey = Annotated[str | None, Opt("--model-key", help="Key that MODEL writes to, if not that of the data")]
_AgainstKey = Annotated[
    str | None, Opt("--against-key", help="Key that the other pipeline writes to, if not that of the data")
]


def evaluate_cli(
    model: Model,
    data: Data,
    against: _Against = None,
    json_path: _Json = None,
    resamples: _Resamples = 1000,
    seed: _Seed = 0,
    gold_tokens: GoldTokens = False,
    gpu_id: Gpu = -1,
    source_format: From = None,
    spans_key: SpansKey = "sc",
    model_key: _ModelKey = None,
    against_key: _AgainstKey = None,
    misaligned: Misaligned = "error",
    line_sentences: LineSentences = True,
    skip_bad: SkipBad = False,
) -> None:
    """Score a trained pipeline: all mentions, the first level, nested ones, by depth, by label and by length.

    The scores are those of `spacy evaluate`, with confidence intervals. With --against, two pipelines are compared on
    the same documents.
    """
    with errors_shown():
        if json_path is not None and json_path.is_dir():
            raise ValueError(f"{json_path} is a folder; name the file to write, such as {json_path / 'scores.json'}")
        resampling = Resampling(resamples, seed)
        # Both are loaded first, so that what is wrong with them shows before any work.
        pipelines = [_load(model, model_key or spans_key, gpu_id)]
        if against is not None:
            pipelines.append(_load(against, against_key or spans_key, gpu_id))
        settings = Settings(spans_key, pipeline=pipelines[0].nlp, misaligned=misaligned, line_sentences=line_sentences)
        source = Source(data, source_format, settings, skip_bad=skip_bad)
        records = list(source.read_all())
        source.check_mentions_found()
        judged = [_judge(each, records, spans_key, gold_tokens=gold_tokens) for each in pipelines]
        tables = [score_table(each, resampling) for each in judged]
        numbers: dict[str, Any] = {"data": [str(path) for path in data], "spans_key": spans_key}
        for role, pipeline, table in zip(("model", "against"), pipelines, tables):
            numbers[role] = _numbers(pipeline, table)
        if against is None:
            print(describe_table(tables[0]))
        else:
            differences = difference_table(judged[0], judged[1], resampling)
            numbers["difference"] = differences.as_dict()
            for name, pipeline, table in zip("AB", pipelines, tables):
                print(f"{name}  {pipeline.path}\n\n{describe_table(table)}\n\n")
            print(describe_difference(differences))
        source.print_losses()
        if json_path is not None:
            write_json(json_path, numbers)
            print(f"\nSaved {json_path}")


class _Pipeline(NamedTuple):
    path: str
    key: str
    nlp: Language


def _load(path: str, key: str, gpu_id: int) -> _Pipeline:
    nlp = load_pipeline(path, gpu_id)
    check_pipeline(nlp, key)
    return _Pipeline(path, key, nlp)


def _judge(pipeline: _Pipeline, records: list[Record], gold_key: str, *, gold_tokens: bool) -> list[Judged]:
    return predict(
        pipeline.nlp,
        records,
        spans_key=pipeline.key,
        gold_key=gold_key,
        thresholds=(),
        gold_tokens=gold_tokens,
        progress=True,
    )


def _numbers(pipeline: _Pipeline, table: ScoreTable) -> dict[str, Any]:
    path, key, nlp = pipeline
    component = component_of(nlp, key)
    return {
        "path": path,
        "name": f"{nlp.lang}_{nlp.meta['name']} {nlp.meta['version']}",
        "component": component[0] if component else None,
        "spans_key": key,
        **table.as_dict(),
    }
