"""`spacy nested-ner annotate`"""

import json
from enum import Enum
from functools import partial
from typing import Annotated

import typer
from spacy.cli._util import Arg, Opt

from .options import Gpu, SpansKey, errors_shown


class _To(str, Enum):
    parquet = "parquet"
    spacy = "spacy"


class _EngineName(str, Enum):
    local = "local"
    ray = "ray"


_Inputs = Annotated[
    list[str],
    Arg(
        metavar="INPUT",
        help="JSONL, Parquet, .spacy and .txt files, folders of them, patterns in quotation marks, or - for JSONL on "
        "standard input; JSONL and .txt may be compressed (.gz, .bz2, .xz, .zst)",
    ),
]
_Output = Annotated[str, Arg(metavar="OUTPUT", help="Folder for the shards; must be new or of the same run")]
_Model = Annotated[
    str,
    Opt(
        "--model",
        "-m",
        help="Trained pipeline: a folder, the name of an installed package, or `sample` for the one that comes along",
    ),
]
_ToOption = Annotated[_To, Opt("--to", "-t", help="Format of the shards")]
_WithText = Annotated[bool, Opt("--with-text", help="Write the text to Parquet, too")]
_TextField = Annotated[str, Opt("--text-field", help="Field or column with the text")]
_IdField = Annotated[str, Opt("--id-field", help="Field or column with the id; without it, file and position are used")]
_Threshold = Annotated[
    float | None, Opt("--threshold", help="Instead of the pipeline's own, from 0 to 1: lower finds more")
]
_ShardSize = Annotated[float, Opt("--shard-size", help="Megabytes of the input per shard, about")]
_BatchWords = Annotated[
    int, Opt("--batch-words", min=1, help="Words that go through the pipeline at once: fewer need less memory")
]
_MaxBytes = Annotated[
    int,
    Opt("--max-bytes", min=1, help="How large a document, or a .spacy file, may be when it is decompressed, in bytes"),
]
_NProcess = Annotated[int, Opt("--n-process", "-n", min=1, help="Processes on this machine")]
_Engine = Annotated[_EngineName, Opt("--engine", help="Run on this machine, or on a Ray cluster")]
_Address = Annotated[str | None, Opt("--address", help="ray: a running cluster; by default one is started here")]
_Workers = Annotated[int | None, Opt("--workers", min=1, help="ray: number of workers; by default as many as fit")]
_GpusPerWorker = Annotated[float, Opt("--gpus-per-worker", min=0, help="ray: GPUs of each worker")]
_Overwrite = Annotated[bool, Opt("--overwrite", help="Begin anew, and remove the shards of an earlier run")]


def annotate_cli(
    inputs: _Inputs,
    output: _Output,
    model: _Model,
    to: _ToOption = _To.parquet,
    with_text: _WithText = False,
    text_field: _TextField = "text",
    id_field: _IdField = "id",
    spans_key: SpansKey = "sc",
    threshold: _Threshold = None,
    shard_size: _ShardSize = 4,
    batch_words: _BatchWords = 10_000,
    max_bytes: _MaxBytes = 2**30,
    n_process: _NProcess = 1,
    gpu_id: Gpu = -1,
    engine: _Engine = _EngineName.local,
    address: _Address = None,
    workers: _Workers = None,
    gpus_per_worker: _GpusPerWorker = 0,
    overwrite: _Overwrite = False,
) -> None:
    """Annotate a collection of documents with a trained pipeline, in shards.

    Stop it at any time: the same command goes on where it was stopped. What fails is listed in OUTPUT/errors.
    Input and output can be elsewhere, as in s3://bucket/folder. The summary is printed as JSON.
    """
    from ..jobs.collection import annotate
    from ..jobs.job import Job

    with errors_shown():
        job = Job(
            model,
            output,
            to=to.value,
            with_text=with_text,
            text_field=text_field,
            id_field=id_field,
            spans_key=spans_key,
            threshold=threshold,
            batch_words=batch_words,
            max_bytes=max_bytes,
            gpu_id=gpu_id,
        )
        if engine is _EngineName.ray:
            if "-" in inputs:
                raise ValueError("workers on other machines cannot read standard input; write it to a file first")
            from ..jobs import ray_engine

            run = partial(ray_engine.run, address=address, workers=workers, gpus_per_worker=gpus_per_worker)
        else:
            from ..jobs import local_engine

            run = partial(local_engine.run, n_process=n_process)
        try:
            summary = annotate(
                job,
                inputs,
                engine=run,
                shard_size=round(shard_size * 1e6),
                overwrite=overwrite,
                standard_input=typer.get_binary_stream("stdin"),
                progress=True,
            )
        except KeyboardInterrupt:
            typer.echo(f"Stopped. The same command goes on with what is in {output}", err=True)
            raise typer.Exit(130) from None
        print(json.dumps(summary._asdict()))
        if summary.errors:
            typer.echo(f"Documents that failed: {summary.errors:,}; see {output}/errors", err=True)
        if summary.errors and not summary.documents:
            raise ValueError("no document could be annotated")
