"""What workers do, wherever they run: read a piece of the input, annotate it, and write its shard."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple

from spacy.tokens import Doc

from ..evaluation.components import check_pipeline, check_scores, set_threshold
from ..pipeline.loading import load_pipeline
from .pieces import Piece
from .reading import MAX_BYTES, Document, Failure, Fields, read_piece, reason_of
from .shards import SHARDS, Shard
from .storage import join, remove_file, write_file

# How many strings a vocab may remember for good.
_NEW_STRINGS = 200_000
# How many batches are sorted by length together. More need more memory.
_BATCHES = 8
_CHARACTERS_PER_WORD = 6
# Empty documents have no characters, but are objects all the same.
_DOCUMENTS = 10_000

ERRORS = "errors"


def shard_path(output: str, piece: Piece, to: str) -> str:
    """The file that a piece is written to. If it is there, the piece is finished."""
    return join(output, f"{piece.name}.{to}")


def errors_path(output: str, piece: Piece) -> str:
    """The file with the documents of a piece that failed, if there are some."""
    # pyarrow, Spark and others that read a folder of Parquet pass over names with an underscore.
    return join(output, ERRORS, f"_{piece.name}.jsonl")


class Done(NamedTuple):
    """What a worker says about a finished piece.

    piece (int): Its number.
    documents (int): How many were annotated.
    words (int): How many tokens these have.
    mentions (int): How many mentions were found.
    errors (int): How many documents failed.
    seconds (float): How long it took.
    """

    piece: int
    documents: int
    words: int
    mentions: int
    errors: int
    seconds: float


@dataclass(frozen=True)
class Job:
    """Everything that a worker needs to know. It can be pickled.

    model (str): The pipeline: a folder, the name of an installed package, or `sample`.
    output (str): The folder of the shards: a path, or an address such as `s3://bucket/folder`.
    to (str): parquet or spacy.
    with_text (bool): Whether Parquet has the text, too.
    text_field (str): Name of the field or column with the text.
    id_field (str): Name of the field or column with the id.
    spans_key (str): The pipeline writes mentions to `doc.spans[spans_key]`.
    threshold (float | None): Instead of the pipeline's own.
    batch_words (int): About how many words go through the pipeline at once.
    max_bytes (int): How large a document of the input may be when it is decompressed; for `.spacy`, the whole file.
    gpu_id (int): GPU of the worker, or -1 for the CPU. It does not change the output.
    """

    model: str
    output: str
    to: str = "parquet"
    with_text: bool = False
    text_field: str = "text"
    id_field: str = "id"
    spans_key: str = "sc"
    threshold: float | None = None
    batch_words: int = 10_000
    max_bytes: int = MAX_BYTES
    gpu_id: int = -1

    def worker(self) -> "Worker":
        """Load the pipeline. A ValueError if it cannot be used."""
        return Worker(self)


class Worker:
    """A loaded pipeline that takes one piece after another. To take a piece twice gives the same shard again."""

    def __init__(self, job: Job):
        self.job = job
        self.nlp = load_pipeline(job.model, job.gpu_id)
        check_pipeline(self.nlp, job.spans_key)
        if job.threshold is not None:
            set_threshold(self.nlp, job.spans_key, job.threshold)
        self._full_vocab = len(self.nlp.vocab.strings) + _NEW_STRINGS

    def __call__(self, piece: Piece) -> Done:
        """Read a piece, annotate it, and write its shard, all or nothing.

        piece (Piece): What to read.
        RETURNS (Done): What became of it.
        """
        started = perf_counter()
        work = _Work(SHARDS[self.job.to](self.job.spans_key, with_text=self.job.with_text))
        fields = Fields(self.job.text_field, self.job.id_field, self.job.max_bytes)
        for entries in _chunks(read_piece(piece, fields), self.job.batch_words):
            with self._memory_zone():
                self._annotate(entries, work)
        errors = errors_path(self.job.output, piece)
        if work.failures:
            write_file(errors, "".join(map(Failure.line, work.failures)).encode())
        else:
            remove_file(errors)  # of an attempt that was stopped; what failed then may not fail now
        # Last, because a piece with a shard is finished.
        write_file(shard_path(self.job.output, piece, self.job.to), work.shard.to_bytes())
        seconds = perf_counter() - started
        return Done(piece.number, work.documents, work.words, work.mentions, len(work.failures), seconds)

    def _memory_zone(self) -> AbstractContextManager[Any]:
        """Forget the words of a chunk, once there are many. The first ones are kept: spaCy's tokenizer remembers
        nothing new inside a memory zone, and is five times slower with words that it does not remember."""
        return self.nlp.memory_zone() if len(self.nlp.vocab.strings) > self._full_vocab else nullcontext()

    def _annotate(self, entries: list[Document | Failure], work: "_Work") -> None:
        """Annotate some documents. Nothing of their Docs may remain, which refer to memory that will be gone."""
        results = [self._attempt(entry) for entry in entries]
        lengths = {number: len(doc) for number, doc in enumerate(results) if isinstance(doc, Doc)}
        for batch in _batches(lengths, self.job.batch_words):
            for number, result in zip(batch, self._run([entries[k] for k in batch], [results[k] for k in batch])):
                results[number] = result
        for entry, result in zip(entries, results):
            if isinstance(result, Doc):
                result = self._add(entry, result, work)
            if isinstance(result, Failure):
                work.failures.append(result)

    def _run(self, entries: list[Any], docs: list[Any]) -> list[Any]:
        """Run the pipeline on a batch; one by one if that fails, on new Docs."""
        try:
            results = list(self.nlp.pipe(docs, batch_size=len(docs)))
            if len(results) == len(docs):  # the error handler of a component can drop docs
                return results
        except Exception:
            pass
        return [self._attempt(entry, self.nlp) for entry in entries]

    def _attempt(self, entry: Document | Failure, nlp: Callable[[Doc], Doc] | None = None) -> Doc | Failure:
        """Make a Doc, and run the pipeline on it, if it is given."""
        if isinstance(entry, Failure):
            return entry
        try:
            if isinstance(entry.content, bytes):
                doc = Doc(self.nlp.vocab).from_bytes(entry.content)
            else:
                doc = self.nlp.make_doc(entry.content)
            return doc if nlp is None else nlp(doc)
        except Exception as error:
            return Failure(entry.id, entry.place, reason_of(error))

    def _add(self, entry: Document | Failure, doc: Doc, work: "_Work") -> Failure | None:
        try:
            check_scores(self.nlp, doc, self.job.spans_key)
            work.shard.add(entry.id, doc)
        except Exception as error:
            return Failure(entry.id, entry.place, reason_of(error))
        work.documents += 1
        work.words += len(doc)
        work.mentions += len(doc.spans[self.job.spans_key])
        return None


@dataclass
class _Work:
    """What has become of a piece so far."""

    shard: Shard
    failures: list[Failure] = field(default_factory=list)
    documents: int = 0
    words: int = 0
    mentions: int = 0


def _chunks(entries: Iterable[Document | Failure], batch_words: int) -> Iterator[list[Document | Failure]]:
    """Documents that are sorted into batches together, and are in memory at the same time."""
    limit = batch_words * _BATCHES * _CHARACTERS_PER_WORD
    chunk: list[Document | Failure] = []
    size = 0
    for entry in entries:
        length = len(entry.content) if isinstance(entry, Document) else 0
        if chunk and (size + length > limit or len(chunk) >= _DOCUMENTS):
            yield chunk
            chunk, size = [], 0
        chunk.append(entry)
        size += length
    if chunk:
        yield chunk


def _batches(lengths: dict[int, int], batch_words: int) -> Iterator[list[int]]:
    """Documents of about the same length together, up to a number of words; a longer one alone."""
    batch: list[int] = []
    words = 0
    for number in sorted(lengths, key=lambda number: (lengths[number], number)):
        if batch and words + lengths[number] > batch_words:
            yield batch
            batch, words = [], 0
        batch.append(number)
        words += lengths[number]
    if batch:
        yield batch
