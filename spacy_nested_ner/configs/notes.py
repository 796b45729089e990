"""What someone should know about their data before they train, with what to do about it."""

from collections.abc import Iterator
from importlib.util import find_spec
from shlex import quote

from ..corpus.conversion_report import counted
from ..decoders import FlatDecoder
from .decisions import PIECES
from .evidence import Evidence, Part

# How many misaligned mentions are shown.
_EXAMPLES = 3


def find_notes(train: Part, dev: Part | None, key: str, *, has_transformer: bool) -> list[str]:
    """All that apply.

    key (str): Where the mentions are in `doc.spans`.
    """
    option = "" if key == "sc" else f" --spans-key {quote(key)}"
    path = quote(str(train.contents.path))
    notes = [
        *_about_annotation(train, key),
        *_about_tokens(train.evidence),
        *_about_decoder(train.evidence, f"spacy nested-ner coverage {path}{option}"),
        *_about_lengths(train, key, PIECES["transformer" if has_transformer else "tok2vec"]),
        *(_about_dev(train, dev) if dev is not None else ()),
    ]
    if has_transformer and find_spec("spacy_transformers") is None:
        notes.append("spacy-transformers is missing: pip install 'spacy-nested-ner[transformers]'")
    return notes


def _about_annotation(train: Part, key: str) -> Iterator[str]:
    evidence = train.evidence
    if evidence.unannotated:
        yield (
            f"{evidence.unannotated:,} of {evidence.examples:,} documents have no group doc.spans[{key!r}]. They count "
            f"as not annotated and teach nothing; an empty group would say that they have no mentions."
        )
    cut = train.contents.spans[key] - evidence.labels.total()
    if cut > 0:
        yield (
            f"{counted(cut, 'mention')} lost between pieces of a document: begun in one, ended in the next. Correct "
            f"the sentence boundaries, or set max_length = 0 in [corpora.train]."
        )


def _about_tokens(evidence: Evidence) -> Iterator[str]:
    if evidence.misaligned:
        examples = ", ".join(map(repr, evidence.misaligned[:_EXAMPLES]))
        yield (
            f"{counted(len(evidence.misaligned), 'mention')} cannot be learned, because they begin or end inside a "
            f"token: {examples}. Another --lang, or a tokenizer that splits such words, may recover them."
        )


def _about_decoder(evidence: Evidence, command: str) -> Iterator[str]:
    lost = evidence.placed - evidence.kept_by(evidence.decoder)
    if lost:
        yield f"{counted(lost, 'mention')} left out of training by the decoder. To see why: {command}"
    if isinstance(evidence.decoder, FlatDecoder) and not evidence.nested:
        yield "No mention is inside another, so spaCy's own `ner` may be all you need."


def _about_lengths(train: Part, key: str, piece: int) -> Iterator[str]:
    evidence, contents = train.evidence, train.contents
    limit = evidence.limit
    if limit is not None and limit.kept < limit.mentions:
        yield (
            f"{limit.mentions - limit.kept:,} of {counted(limit.mentions, 'mention')} are left out of training, "
            f"because they have more than {limit.limit} tokens; the longest has {limit.longest:,}. Look for mistakes; "
            f"max_span_length = {limit.longest} keeps them, and makes training slower."
        )
    if contents.longest_unsplit > piece:
        yield (
            f"A document of {contents.longest_unsplit:,} words has no sentence boundaries, so it is trained on as a "
            f"whole. If memory runs out, split the documents, or add boundaries with spaCy's sentencizer."
        )


def _about_dev(train: Part, dev: Part) -> Iterator[str]:
    both = len(train.contents.texts & dev.contents.texts)
    if both:
        yield (
            f"{both:,} of {len(dev.contents.texts):,} development texts are also in the training data, so scores will "
            f"be too high; keep them apart."
        )
    unseen = [label for label in dev.evidence.labels if label not in train.evidence.labels]
    if unseen:
        yield f"The development data have labels that the training data lack: {', '.join(unseen)}."
