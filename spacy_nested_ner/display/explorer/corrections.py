"""What a user has marked as right, wrong or missing, as documents that train as incomplete annotation."""

import json
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from spacy.tokens import Doc, DocBin, Span, SpanGroup

from ...annotation import INCOMPLETE
from ...corpus.formats.jsonl import render_tokens
from ...corpus.reader import bare_doc
from ...decoders.mention import Mention, sort_mentions
from .scoring import RefusedError, Scorer
from .sentences import Corpus

Verdict = Literal["right", "wrong", "missing"]
FileFormat = Literal["spacy", "jsonl"]


class Mark(NamedTuple):
    """A mention that was judged. A missing one is right, but was not found."""

    mention: Mention
    verdict: Verdict


class Judgment(NamedTuple):
    """The marks of a text.

    source (str | int): A text, or the number of a sentence of the corpus.
    marks (Sequence[Mark]): On the tokens of the text or sentence.
    complete (bool): There are no other mentions.
    """

    source: str | int
    marks: Sequence[Mark]
    complete: bool = False


def corrected_docs(scorer: Scorer, corpus: Corpus | None, judgments: Iterable[Judgment]) -> list[Doc]:
    """One doc per text, and one per document of the corpus. Mentions that are right are in `doc.spans["sc"]`, spans
    that are wrong in `doc.spans["sc_incorrect"]`; a doc is incomplete unless all its sentences are complete."""
    drafts: dict[str | int, _Draft] = {}
    for judgment in judgments:
        draft, place = _draft_for(scorer, corpus, judgment.source, drafts)
        draft.add(judgment, *place)
    return [draft.finish(scorer.pipe.key, scorer.pipe.incorrect_key) for draft in drafts.values()]


def file_content(docs: Iterable[Doc], format: FileFormat, spans_key: str) -> bytes:
    """The docs as a `.spacy` file or as JSON lines."""
    if format == "spacy":
        return DocBin(docs=docs, store_user_data=True).to_bytes()
    return "".join(json.dumps(render_tokens(doc, spans_key), ensure_ascii=False) + "\n" for doc in docs).encode()


class _Draft:
    """A document, and what is known of it so far."""

    def __init__(self, doc: Doc, n_sentences: int):
        self.doc = doc
        self.n_sentences = n_sentences
        self.right: set[Mention] = set()
        self.wrong: set[Mention] = set()
        self.complete: set[int] = set()

    def add(self, judgment: Judgment, sentence: int, start: int, end: int) -> None:
        """Marks of a sentence that begins and ends with these tokens."""
        for mention, verdict in judgment.marks:
            if not 0 <= mention.start < mention.end <= end - start:
                raise RefusedError(
                    f"The mark on {mention.start}:{mention.end} is not a span of a text of {end - start} tokens."
                )
            if not mention.label and verdict != "wrong":
                raise RefusedError(f"The mention {mention.start}:{mention.end} has no label; expected one.")
            place = Mention(mention.start + start, mention.end + start, mention.label)
            (self.wrong if verdict == "wrong" else self.right).add(place)
        for m in sort_mentions(self.right):
            if m in self.wrong or Mention(m.start, m.end, "") in self.wrong:
                text = self.doc[m.start : m.end].text
                raise RefusedError(f"{m.label} {text!r} is marked as right and as wrong; choose one of them.")
        if judgment.complete:
            self.complete.add(sentence)

    def finish(self, key: str, incorrect_key: str) -> Doc:
        attrs = {} if len(self.complete) == self.n_sentences else {INCOMPLETE: True}
        self.doc.spans[key] = SpanGroup(self.doc, name=key, spans=self._spans(self.right), attrs=attrs)
        if self.wrong and attrs:  # in a complete document, all other spans are wrong
            self.doc.spans[incorrect_key] = SpanGroup(self.doc, name=incorrect_key, spans=self._spans(self.wrong))
        return self.doc

    def _spans(self, mentions: set[Mention]) -> list[Span]:
        return [Span(self.doc, m.start, m.end, m.label) for m in sort_mentions(mentions)]


def _draft_for(
    scorer: Scorer, corpus: Corpus | None, source: str | int, drafts: dict[str | int, _Draft]
) -> tuple[_Draft, tuple[int, int, int]]:
    """The draft of a document, and the number, start and end of the sentence in it."""
    if isinstance(source, str):
        if source not in drafts:
            drafts[source] = _Draft(scorer.nlp.make_doc(source), 1)
        return drafts[source], (0, 0, len(drafts[source].doc))
    if corpus is None:
        raise RefusedError(f"There is no sentence {source}: the explorer was started without --data.")
    sentence = corpus.sentence(source)
    scored = corpus.scored_document(sentence.document)
    if sentence.document not in drafts:
        # With the sentences that were decoded: marks of one of them must not reach into another.
        drafts[sentence.document] = _Draft(bare_doc(scorer.nlp, scored.doc), len(scored.segments))
    return drafts[sentence.document], (sentence.segment, *scored.segments[sentence.segment])
