"""What a conversion did, and what it could not keep."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any

from ..decoders.mention import Mention
from ..decoders.nesting import depths

# How many places of one kind of loss are remembered, and how many are printed.
REMEMBERED = 100
PRINTED = 5
# How much of a value is shown in a message.
SHOWN = 80
# How much of a message: its beginning and its end, which says what to do. What is between is from the file.
_LONGEST = 600


def counted(number: int, noun: str) -> str:
    """A number of things, as in "1 document" or "2,000 documents"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def shown(value: Any) -> str:
    """A value as messages show it: never too long."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # nested too deeply, or a number of thousands of digits
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


class FormatError(ValueError):
    """Input or output that a format cannot express.

    where (str): The file, and the line, record or sentence in it.
    reason (str): What is wrong, and what to do about it.
    """

    def __init__(self, where: str, reason: str) -> None:
        if len(reason) > _LONGEST:
            reason = f"{reason[: _LONGEST // 2]} … {reason[-_LONGEST // 2 :]}"
        super().__init__(f"{where}: {reason}")
        self.where = where
        self.reason = reason


@dataclass
class Loss:
    """One kind of thing that was not kept.

    count (int): How often.
    places (list[str]): Where it was seen first.
    """

    count: int = 0
    places: list[str] = field(default_factory=list)

    def add(self, place: str, count: int = 1) -> None:
        self.count += count
        if len(self.places) < REMEMBERED:
            self.places.append(place)

    def __str__(self) -> str:
        shown = [f"\n    {place}" for place in self.places[:PRINTED]]
        if len(self.places) > PRINTED:
            shown.append("\n    …")
        return f"{self.count:,}" + "".join(shown)


def other_annotation(path: Path, spans: Counter[str], entities: int) -> str:
    """What data hold in which no mention was found, and what to do.

    path (Path): The `.spacy` file or folder.
    spans (Counter[str]): Spans by their key in `doc.spans`.
    entities (int): Spans in `doc.ents`.
    """
    if spans:
        found = ", ".join(f"{key!r} ({n:,} spans)" for key, n in spans.most_common())
        return f"found {found}; choose one of them with --spans-key"
    if entities:
        target = path.with_name(f"{path.stem}_spans.spacy")
        return (
            f"found {entities:,} entities in doc.ents, which cannot nest; copy them to doc.spans first: "
            f"spacy nested-ner convert {quote(str(path))} {quote(str(target))} --ents"
        )
    return "found no spans under any key and no entities; expected annotated documents"


@dataclass
class ConversionReport:
    """What was read, and what could not be kept. Prints as a short text.

    skip_bad (bool): Skip and count bad input instead of raising a `FormatError`.
    documents, sentences, words (int): How many were read.
    longest (int): The number of words in the longest sentence.
    mentions (int): How many were kept.
    labels (Counter[str]): Mentions by label.
    nested (int): Mentions whose span is inside another one: what the recall of nested mentions is a share of.
    depth (int): The depth of the deepest mention.
    entities (int): Entities in doc.ents, which are no mentions unless they are asked for.
    other_spans (Counter[str]): Spans under other keys than that of the mentions.
    notes (list[str]): What was found out about the input, such as the scheme of its tags.
    warnings (list[str]): What is probably not wanted.
    parts (dict[str, ConversionReport]): What the parts of a split have.
    lost (dict[str, Loss]): What was read and not kept, by kind.
    bad (Loss): Sentences, records or annotations that were skipped because they are wrong.
    """

    skip_bad: bool = False
    documents: int = 0
    sentences: int = 0
    words: int = 0
    longest: int = 0
    mentions: int = 0
    nested: int = 0
    depth: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    entities: int = 0
    other_spans: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    parts: "dict[str, ConversionReport]" = field(default_factory=dict)
    lost: dict[str, Loss] = field(default_factory=dict)
    bad: Loss = field(default_factory=Loss)

    def count(self, lengths: list[int], mentions: list[Mention]) -> None:
        """Add a document: the lengths of its sentences and its sorted mentions."""
        of_mentions = depths(mentions)
        self.documents += 1
        self.sentences += len(lengths)
        self.words += sum(lengths)
        self.longest = max([self.longest, *lengths])
        self.mentions += len(mentions)
        self.nested += sum(depth > 1 for depth in of_mentions)
        self.depth = max([self.depth, *of_mentions])
        self.labels.update(mention.label for mention in mentions)

    def count_others(self, entities: int, spans: dict[str, int]) -> None:
        """Add what else a document is annotated with: its entities, and its spans by their key."""
        self.entities += entities
        self.other_spans.update(spans)

    def note(self, text: str) -> None:
        """Remember something about the input, once."""
        if text not in self.notes:
            self.notes.append(text)

    def lose(self, what: str, where: str, count: int = 1) -> None:
        """Record that something at some place was not kept."""
        self.lost.setdefault(what, Loss()).add(where, count)

    @contextmanager
    def tolerating(self) -> Iterator[None]:
        """Inside this block, a `FormatError` ends the conversion, unless `skip_bad` is set: then it is counted."""
        try:
            yield
        except FormatError as error:
            if not self.skip_bad:
                raise
            self.bad.add(str(error))

    def __str__(self) -> str:
        share = 100 * self.nested / self.mentions if self.mentions else 0.0
        lines = [
            f"Documents  {self.documents:,}",
            f"Sentences  {self.sentences:,} (longest {self.longest:,} words)",
            f"Words      {self.words:,}",
            f"Mentions   {self.mentions:,} ({share:.1f} % nested, depth {self.depth})",
            "Labels     " + (", ".join(f"{label} {n:,}" for label, n in self.labels.most_common()) or "none"),
        ]
        warnings = [f"Warning: {warning}" for warning in self.warnings]
        return "\n".join([*lines, *self.notes, *self._part_lines(), *self.losses(), *warnings])

    def _part_lines(self) -> list[str]:
        """The lines of the text about the parts of a split."""
        return [
            f"  {name:<9}{counted(part.documents, 'document')}, {counted(part.mentions, 'mention')}, "
            + counted(len(part.labels), "label")
            for name, part in self.parts.items()
        ]

    def losses(self) -> list[str]:
        """The lines of the text about what was not kept; none if everything was."""
        lines = ["Not kept", *(f"  {what}: {loss}" for what, loss in self.lost.items())] if self.lost else []
        if self.bad.count:
            lines.append(f"Skipped as bad: {self.bad}")
        return lines
