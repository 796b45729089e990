"""A corpus in any format, as a config names it: @readers = "spacy-nested-ner.Corpus.v1"."""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from .conversion import read_docs
from .documents import Settings


def create_reader(
    path: Path | None,
    format: str | None = None,
    spans_key: str = "sc",
    gold_tokens: bool = True,
    limit: int = 0,
) -> Callable[[Language], Iterator[Example]]:
    """Read examples from a file or folder, without converting it first.

    path (Path | None): The data.
    format (str | None): Its format, if its name does not tell.
    spans_key (str): Where its mentions are in `doc.spans`.
    gold_tokens (bool): Predict on the tokens and sentences of the data; otherwise on what the
        tokenizer of the pipeline makes of the text, without sentences.
    limit (int): Read no more documents than this; 0 for all.
    """
    if path is None:
        raise ValueError("the corpus has no path; set paths.train and paths.dev, or `path` of the reader")

    def read(nlp: Language) -> Iterator[Example]:
        settings = Settings(spans_key=spans_key, lang=nlp.lang)
        for reference in islice(read_docs(path, format, settings=settings), limit or None):
            yield Example(bare_doc(nlp, reference) if gold_tokens else nlp.make_doc(reference.text), reference)

    return read


def bare_doc(nlp: Language, reference: Doc) -> Doc:
    """The tokens and sentences of a doc, and nothing else."""
    spaces = [bool(token.whitespace_) for token in reference]
    starts = None
    if reference.has_annotation("SENT_START"):
        starts = [bool(token.is_sent_start) for token in reference]
    return Doc(nlp.vocab, words=[token.text for token in reference], spaces=spaces, sent_starts=starts)
