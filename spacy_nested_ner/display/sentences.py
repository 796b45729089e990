"""Sentences with their mentions as HTML: gold above the words, prediction below them.

Every word is a column. A mention is a bar across its columns, closer to the words than the mentions around it, so that
lines may break anywhere and mentions may cross.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

# Colors of labels, the most frequent label first: different for most color-blind eyes, and light enough for black text.
# If there are more labels than colors, they share them.
COLORS = (
    *("#a8d0f0", "#f7cf8b", "#b5dfb0", "#e3bfe8", "#f4c4b4", "#b6e3dd"),
    *("#d9d4a3", "#c9cbe8", "#f3bfd2", "#cfe58f", "#cfcfcf", "#e2c9a8"),
)

Bar = dict[str, Any]


def draw_sentence(example: dict[str, Any], classes: dict[str, str]) -> str:
    """Words with their mentions.

    example (dict[str, Any]): "words", and "gold" and "predicted" mentions, as in the JSON file.
    classes (dict[str, str]): The CSS class of every label, for its color.
    """
    words = example["words"]
    above = lanes(example["gold"])
    below = lanes(example["predicted"])
    columns = []
    for place, word in enumerate(words):
        bars = [_bar(lane, place, words, classes, "missed") for lane in reversed(above)]
        bars.append(f"<b>{escape(word)}</b>")
        bars += [_bar(lane, place, words, classes, "spurious") for lane in below]
        columns.append(f'<span class="w">{"".join(bars)}</span>')
    return f'<div class="sentence">{"".join(columns)}</div>'


def lanes(mentions: Sequence[Bar]) -> list[list[Bar]]:
    """Mentions by their distance from the words: a mention is further away than all shorter ones that it overlaps."""
    result: list[list[Bar]] = []
    for mention in sorted(mentions, key=lambda m: (m["end"] - m["start"], m["start"], m["label"])):
        near = [number for number, lane in enumerate(result) if any(_overlap(mention, other) for other in lane)]
        number = 1 + max(near, default=-1)
        if number == len(result):
            result.append([])
        result[number].append(mention)
    return result


def _overlap(one: Bar, other: Bar) -> bool:
    return one["start"] < other["end"] and other["start"] < one["end"]


def _bar(lane: list[Bar], place: int, words: list[str], classes: dict[str, str], error: str) -> str:
    """The part of a bar in one column, or empty room. The label is written at its start."""
    mention = next((m for m in lane if m["start"] <= place < m["end"]), None)
    if mention is None:
        return "<i></i>"
    names = ["m", classes[mention["label"]]]
    names += [] if mention["correct"] else [error]
    names += ["start"] if place == mention["start"] else []
    names += ["end"] if place == min(mention["end"], len(words)) - 1 else []
    state = "" if mention["correct"] else f", {error}"
    title = escape(f"{mention['label']}{state}, probability {mention['probability']:.2f}")
    text = ""
    if place == mention["start"]:
        number = "" if mention["correct"] else probability(mention["probability"])
        # A label longer than the words of its mention makes its column wider; any other one lies over the bar.
        room = len(" ".join(words[place : mention["end"]]))
        over = ' class="over"' if len(mention["label"]) + len(number) + 1 <= room else ""
        text = f"<s{over}>{escape(mention['label'])} <u>{number}</u></s>"
    return f'<i class="{" ".join(names)}" title="{title}">{text}</i>'


def probability(number: float) -> str:
    """Two digits, without a leading zero."""
    if number < 0.005:
        return "0"
    return "1.0" if number >= 0.995 else f"{number:.2f}"[1:]
