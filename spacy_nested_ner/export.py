"""The mentions of a Doc as plain dictionaries: a list for JSON, tables and web services, and a tree."""

from typing import Any, NamedTuple

from spacy.tokens import Doc, SpanGroup

from .annotation import as_mention, scores_of
from .decoders.mention import Mention, sort_mentions
from .decoders.nesting import places


class PlacedMention(NamedTuple):
    """A mention of a Doc, and where it is. The fields are those of the dictionaries of `mentions`."""

    start_char: int
    end_char: int
    start: int
    end: int
    label: str
    probability: float | None
    depth: int
    parent: int | None


def placed_mentions(doc: Doc, spans_key: str = "sc") -> list[PlacedMention]:
    """What `mentions` is made from. It does not need the text, which takes spaCy long to put together.

    doc (Doc): Processed by a pipeline, or with gold mentions.
    spans_key (str): The mentions are in `doc.spans[spans_key]`.
    RETURNS (list[PlacedMention]): The mentions, in the same order.
    """
    found = _probabilities(_group(doc, spans_key))
    in_order = sort_mentions(found)
    placed = []
    for mention, place in zip(in_order, places(in_order)):
        span = doc[mention.start : mention.end]
        placed.append(PlacedMention(span.start_char, span.end_char, *mention, found[mention], *place))
    return placed


def mentions(doc: Doc, spans_key: str = "sc") -> list[dict[str, Any]]:
    """The mentions of a Doc in reading order, an outer one before those inside it. There are only strings, numbers,
    None and lists in them, so that `json.dumps`, `pandas.DataFrame` and web frameworks take them as they are.

    Every dictionary has
    - text (str) and label (str);
    - start, end (int): the first token, and the token after the last one;
    - start_char, end_char (int): the same in characters of `doc.text`;
    - probability (float | None): None if there is none, as in gold data;
    - depth (int): 1 on the first level, one more for every other span around its own;
    - parent (int | None): the index in this list of the shortest mention around it, None on the first level;
    - children (list[int]): the indices of the mentions that have it as their parent.

    Labels on one span are siblings; what is inside that span belongs to the first of them. Mentions may cross: a
    mention inside two that cross is deeper than its parent by more than one. A mention that is there twice is given
    once, with its highest probability.

    doc (Doc): Processed by a pipeline, or with gold mentions.
    spans_key (str): The mentions are in `doc.spans[spans_key]`.
    RETURNS (list[dict[str, Any]]): The mentions.
    """
    placed = placed_mentions(doc, spans_key)
    text = doc.text
    rows: list[dict[str, Any]] = []
    for mention in placed:
        row: dict[str, Any] = {
            "text": text[mention.start_char : mention.end_char],  # Span.text joins tokens, which takes longer
            "label": mention.label,
            "start": mention.start,
            "end": mention.end,
            "start_char": mention.start_char,
            "end_char": mention.end_char,
            "probability": mention.probability,
            "depth": mention.depth,
            "parent": mention.parent,
            "children": [],
        }
        rows.append(row)
    for number, row in enumerate(rows):
        if row["parent"] is not None:
            rows[row["parent"]]["children"].append(number)
    return rows


def mention_tree(doc: Doc, spans_key: str = "sc") -> list[dict[str, Any]]:
    """The mentions of the first level, as `mentions` gives them, but with dictionaries instead of indices: "children"
    are the mentions directly inside, and there is no "parent".

    doc (Doc): Processed by a pipeline, or with gold mentions.
    spans_key (str): The mentions are in `doc.spans[spans_key]`.
    RETURNS (list[dict[str, Any]]): The outermost mentions.
    """
    rows = mentions(doc, spans_key)
    parents = [row.pop("parent") for row in rows]
    for row in rows:
        row["children"] = [rows[number] for number in row["children"]]
    return [row for row, parent in zip(rows, parents) if parent is None]


def _group(doc: Doc, spans_key: str) -> SpanGroup:
    if not isinstance(doc, Doc):
        raise TypeError(f"expected a Doc, such as nlp(text) returns, not {type(doc).__name__} {doc!r:.40}")
    if spans_key not in doc.spans:
        others = ", ".join(f"{key!r} with {len(group):,} spans" for key, group in doc.spans.items())
        found = f"the keys are {others}; set spans_key" if others else "it has no spans at all"
        raise ValueError(f"the doc has no spans[{spans_key!r}]: {found}")
    return doc.spans[spans_key]


def _probabilities(group: SpanGroup) -> dict[Mention, float | None]:
    """The mentions of a group, each of them once."""
    spans = [as_mention(span) for span in group]
    scores = scores_of(group)
    if scores is None:
        return dict.fromkeys(spans)
    found: dict[Mention, float | None] = {}
    for score, mention in sorted(zip(scores, spans)):
        found[mention] = score  # of equal mentions, the last one has the highest
    return found
