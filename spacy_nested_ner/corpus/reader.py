"""A corpus in any format, to train from: `@readers = "spacy-nested-ner.Corpus.v1"` in a config."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from .._warn import warn
from .conversion import read_docs
from .documents import Settings
from .pieces import pieces


def create_reader(
    path: Path | None,
    format: str | None = None,
    *,
    spans_key: str = "sc",
    gold_tokens: bool = True,
    limit: int = 0,
    max_length: int = 0,
    misaligned: str = "error",
    line_sentences: bool = True,
    tag_names: Sequence[str] = (),
    layer: str | None = None,
    structure: Sequence[str] = (),
) -> Callable[[Language], Iterator[Example]]:
    """Create a function that reads examples from a file or folder, without converting it first.

    path (Path | None): The file or folder.
    format (str | None): Its format, a key of `spacy_nested_ner.corpus.FORMATS`; None to go by the content and
        the file name.
    spans_key (str): The mentions are in `doc.spans[spans_key]`.
    gold_tokens (bool): Predict on the tokens and sentences of the data; otherwise on the tokens that the
        tokenizer of the pipeline finds in the text, without sentences.
    limit (int): How many documents to read at most; 0 for all.
    max_length (int): Divide longer documents between sentences into pieces of at most this many tokens; 0 to keep
        them whole. A longer sentence is a piece of its own.
    misaligned (str): What to do if a mention by characters begins or ends inside a token: raise an "error",
        "split" the token, or "drop" the mention.
    line_sentences (bool): Take every line of a running text as a sentence (brat).
    tag_names (Sequence[str]): The names of tags that the data has as numbers, in their order (huggingface).
    layer (str | None): The layer with the mentions, if there are several (webanno); None for the likeliest one.
    structure (Sequence[str]): Elements that are not mentions, in addition to the usual ones (xml).
    RETURNS (Callable[[Language], Iterator[Example]]): The reader.
    """
    if path is None:
        raise ValueError("the corpus has no path; set paths.train and paths.dev, or the `path` of the reader")

    def read(nlp: Language) -> Iterator[Example]:
        settings = Settings(
            spans_key,
            pipeline=nlp,
            misaligned=misaligned,
            line_sentences=line_sentences,
            tag_names=tuple(tag_names),
            layer=layer,
            structure=tuple(structure),
        )
        lost = 0
        for reference in islice(read_docs(path, format, settings=settings), limit or None):
            lost += len(reference.spans.get(spans_key, ()))
            for piece in pieces(reference, max_length):
                lost -= len(piece.spans.get(spans_key, ()))
                yield Example(bare_doc(nlp, piece) if gold_tokens else nlp.make_doc(piece.text), piece)
        if lost:
            warn(
                f"{lost} mentions in {path} are lost: they begin in one piece of at most max_length = {max_length} "
                f"tokens and end in another. Set max_length = 0, or correct the sentence boundaries"
            )

    return read


def bare_doc(nlp: Language, reference: Doc) -> Doc:
    """A Doc with the tokens and sentences of another one, and nothing else."""
    spaces = [bool(token.whitespace_) for token in reference]
    starts: list[bool | int | None] | None = None
    if reference.has_annotation("SENT_START"):
        starts = [bool(token.is_sent_start) for token in reference]
    return Doc(nlp.vocab, words=[token.text for token in reference], spaces=spaces, sent_starts=starts)
