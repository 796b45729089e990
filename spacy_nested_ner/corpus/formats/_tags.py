"""Tags, one per word, as mentions: what formats in JSON with tags have in common.

Read are BIO (IOB2), in which a mention begins with `B-` and continues with `I-`; IOB1, in which it may begin with `I-`;
BILUO and BIOES, which also mark its last word (`L-` or `E-`) and a mention of one word (`U-` or `S-`); and labels
without any prefix, where neighbors with the same label are one mention.
"""

import re
from collections.abc import Iterator, Sequence

from ...decoders.mention import Mention
from ..conversion_report import FormatError

# The tag of a word that nobody annotated, in spaCy 2.
UNKNOWN = "-"

_PREFIXED = re.compile(r"([BILUES])-(.+)", re.DOTALL)
_OUTSIDE = ("O", "", UNKNOWN)


def mentions_of_tags(tags: Sequence[str], where: str) -> Iterator[Mention]:
    """The mentions that tags show. They cannot be nested.

    tags (Sequence[str]): One per word.
    where (str): The place of the first word, for messages.
    """
    inside = [tag for tag in tags if tag not in _OUTSIDE]
    plain = not any(map(_PREFIXED.fullmatch, inside))
    start, label = 0, ""
    for i, tag in enumerate(tags):
        mark, name = _split(tag, plain, i, where)
        if mark in ("L", "E") and name != label:
            reason = f"tag {i} is {tag!r}, with no {name} to end there; expected B-{name} or I-{name} before it"
            raise FormatError(where, reason)
        if mark in ("B", "U", "S", "O") or name != label:
            if label:
                yield Mention(start, i, label)
            start, label = i, name
        if mark in ("L", "E", "U", "S"):
            yield Mention(start, i + 1, label)
            label = ""
    if label:
        yield Mention(start, len(tags), label)


def _split(tag: str, plain: bool, number: int, where: str) -> tuple[str, str]:
    """The prefix and the label of a tag."""
    if tag in _OUTSIDE:
        return "O", ""
    if plain:
        return "I", tag
    found = _PREFIXED.fullmatch(tag)
    if not found:
        reason = f"tag {number} is {tag!r}; expected O, or B- or I- and a label, as in the other tags"
        raise FormatError(where, reason)
    return found[1], found[2]
