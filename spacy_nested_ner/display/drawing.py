"""What is drawn: a text with its mentions, and perhaps the gold. Every drawing of the project is made from this."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from spacy.tokens import Doc, Span

from ..annotation import Segment, as_mention, sentence_bounds
from ..decoders.mention import AnyMention, Mention, check_mentions, sort_mentions
from ..decoders.nesting import places
from ..export import placed_mentions

RIGHT, MISSED, SPURIOUS = "right", "missed", "spurious"

# Spans or mentions, or a Doc that has them.
Gold = Doc | Iterable[Span] | Iterable[AnyMention]


class DrawnMention(NamedTuple):
    """A mention in a drawing.

    parent (int | None): The number of the shortest mention around it, of the prediction or of the gold as it is itself.
    status (str | None): "right", "missed" or "spurious", if there is gold.
    """

    start: int
    end: int
    label: str
    probability: float | None = None
    parent: int | None = None
    status: str | None = None


@dataclass(frozen=True)
class Drawing:
    """A text with its mentions, in reading order.

    words (Sequence[str]): The tokens.
    spaces (Sequence[str]): What is written between each of them and the next one.
    mentions (Sequence[DrawnMention]): What was found, or what a Doc is annotated with.
    sentences (Sequence[Segment]): Where sentences begin and end.
    gold (Sequence[DrawnMention] | None): What should have been found, if that is to be drawn, too.
    lang (str): The language of the text, as in `nlp.lang`, if it is known.
    """

    words: Sequence[str]
    spaces: Sequence[str]
    mentions: Sequence[DrawnMention]
    sentences: Sequence[Segment]
    gold: Sequence[DrawnMention] | None = None
    lang: str = ""

    @classmethod
    def of_doc(cls, doc: Doc, spans_key: str = "sc", gold: Gold | None = None) -> "Drawing":
        """A Doc with the mentions in `doc.spans[spans_key]`.

        gold (Gold | None): A Doc with the gold mentions in `gold.spans[spans_key]`, or the mentions.
        """
        rows = [
            DrawnMention(row.start, row.end, row.label, row.probability, row.parent)
            for row in placed_mentions(doc, spans_key)
        ]
        words, spaces = [token.text for token in doc], [token.whitespace_ for token in doc]
        sentences = sentence_bounds(doc)
        lang = "" if doc.lang_ == "xx" else doc.lang_  # several languages
        if gold is None:
            return cls(words, spaces, rows, sentences, lang=lang)
        wanted = _gold_mentions(doc, gold, spans_key)
        found = {Mention(*row[:3]): row.probability for row in rows}
        judged = [row._replace(status=RIGHT if row[:3] in wanted else SPURIOUS) for row in rows]
        rows_of_gold = [
            mention._replace(
                probability=found.get(Mention(*mention[:3])), status=RIGHT if mention[:3] in found else MISSED
            )
            for mention in _placed(sort_mentions(wanted))
        ]
        return cls(words, spaces, judged, sentences, rows_of_gold, lang)

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> "Drawing":
        """A sentence in report.json: its "words" and "spaces", and "gold" and "predicted" mentions, which are
        "correct" or not."""

        def drawn(mentions: list[dict[str, Any]], error: str) -> list[DrawnMention]:
            inside = _placed([Mention(m["start"], min(m["end"], len(words)), m["label"]) for m in mentions])
            return [
                place._replace(probability=m["probability"], status=RIGHT if m["correct"] else error)
                for m, place in zip(mentions, inside)
            ]

        words = row["words"]
        return cls(
            words,
            row.get("spaces") or [" "] * len(words),
            drawn(row["predicted"], SPURIOUS),
            [(0, len(words))],
            drawn(row["gold"], MISSED),
        )

    def text(self, start: int, end: int) -> str:
        """A part of the text, as it is written."""
        parts = [part for pair in zip(self.words[start:end], self.spaces[start:end]) for part in pair]
        return "".join(parts[:-1])


def visible(text: str, *, keep: str = "") -> str:
    """A text without characters that would change how the rest of the line is drawn: pictures for control characters,
    and no marks that turn the direction of the rest of the line.

    keep (str): Control characters to leave as they are.
    """
    return text.translate({code: sign for code, sign in _VISIBLE.items() if chr(code) not in keep})


_VISIBLE: dict[int, str | None] = {
    **{code: chr(0x2400 + code) for code in range(32)},
    **dict.fromkeys(range(0x7F, 0xA0), "\ufffd"),
    **dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)]),
}


def probability_text(probability: float | None) -> str:
    """In percent; only what is certain is 100%."""
    if probability is None:
        return ""
    if 0.995 <= probability < 1:
        return ">99%"
    return "<1%" if 0 < probability < 0.005 else f"{probability:.0%}"


def _placed(mentions: Sequence[Mention]) -> list[DrawnMention]:
    return [DrawnMention(*mention, parent=place.parent) for mention, place in zip(mentions, places(mentions))]


def _gold_mentions(doc: Doc, gold: Gold, spans_key: str) -> set[Mention]:
    """The gold on the tokens of the Doc."""
    if isinstance(gold, Doc):
        if spans_key not in gold.spans:
            keys = ", ".join(map(repr, gold.spans)) or "none at all"
            raise ValueError(f"gold has no spans[{spans_key!r}], where its mentions should be; its spans keys: {keys}")
        gold = gold.spans[spans_key]
    given: list[Any] = list(gold)
    if not all(isinstance(span, Span) for span in given):
        return set(check_mentions(given, len(doc)))
    found = set()
    for span in given:
        other = span.doc
        if other is doc or [token.text for token in other] == [token.text for token in doc]:
            found.add(as_mention(span))
            continue
        if other.text != doc.text:
            raise ValueError(f"gold is for another text: {other.text!r:.60} instead of {doc.text!r:.60}")
        # A mention that ends inside a token cannot be found; it is drawn on the whole token.
        around = doc.char_span(span.start_char, span.end_char, alignment_mode="expand")
        assert around is not None
        found.add(Mention(around.start, around.end, span.label_))
    return found
