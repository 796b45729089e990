"""The three decoders on the same scores, and where they differ."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ...annotation import Segment
from ...decoders import Mention
from .settings import KINDS
from .view import View


class Comparison(NamedTuple):
    """The same scores in several search spaces.

    views (list[View]): One per decoder, from the smallest search space to the largest.
    differing (set[Mention]): What some of them find, and others do not.
    stretches (list[Segment]): The parts of the text in which they differ; the first part, if they do not.
    """

    views: list[View]
    differing: set[Mention]
    stretches: list[Segment]


def compare(view: View) -> Comparison:
    """Decode a text with every decoder; all other settings are the same."""
    views = [replace(view, settings=replace(view.settings, decoder=kind)) for kind in KINDS]
    found = [set(each.mentions) for each in views]
    everything = set().union(*found)
    differing = everything - found[0].intersection(*found[1:])
    stretches = view.stretches_around(everything)
    return Comparison(views, differing, _containing(stretches, differing) or stretches[:1])


def _containing(stretches: Sequence[Segment], mentions: set[Mention]) -> list[Segment]:
    starts = sorted(mention.start for mention in mentions)
    result, place = [], 0
    for start, end in stretches:
        if place < len(starts) and starts[place] < end:
            result.append((start, end))
        while place < len(starts) and starts[place] < end:
            place += 1
    return result
