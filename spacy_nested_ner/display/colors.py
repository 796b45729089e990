"""The colors of labels, the same in a browser and in a terminal."""

import re
from collections.abc import Iterable, Mapping
from zlib import crc32

# Different for most color-blind eyes, and light enough for black text. If there are more labels, they share them.
COLORS = (
    *("#a8d0f0", "#f7cf8b", "#b5dfb0", "#e3bfe8", "#f4c4b4", "#b6e3dd"),
    *("#d9d4a3", "#c9cbe8", "#f3bfd2", "#cfe58f", "#cfcfcf", "#e2c9a8"),
)
# The same of the 256 colors of a terminal: legible on black and on white.
TERMINAL_COLORS = (33, 166, 34, 133, 160, 37, 136, 63, 168, 70, 244, 130)

# Labels of well-known corpora, by their color, so that they look the same in every text. Others get one by their name.
_FAMILIAR = (
    "PER PERSON PROTEIN",
    "ORG ORGANIZATION DNA",
    "GPE RNA",
    "FAC FACILITY CELL_TYPE",
    "LOC LOCATION CELL_LINE",
    "VEH VEHICLE CELL",
    "WEA WEAPON PRODUCT",
    "DATE TIME",
    "NORP EVENT",
    "WORK_OF_ART LAW",
    "MISC QUANTITY CARDINAL ORDINAL",
    "MONEY PERCENT LANGUAGE",
)
_PREFERRED = {label: number for number, labels in enumerate(_FAMILIAR) for label in labels.split()}

# Colors of the user are made light or dark enough for the text on them.
_LEGIBLE = "oklch(from var(--label) clamp(var(--darkest), l, var(--lightest)) c h)"

_HEX = re.compile(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})", re.IGNORECASE)
_CSS_COLOR = re.compile(rf"{_HEX.pattern}|[a-z]+|(?:rgb|hsl|hwb|lab|lch|oklab|oklch)a?\([\w\s.,%/+-]*\)", re.IGNORECASE)


def color_numbers(labels: Iterable[str]) -> dict[str, int]:
    """A color for every label, as an index of `COLORS`. Labels of one call have different colors, while there are any;
    give all labels at once if several drawings should have the same."""
    numbers: dict[str, int] = {}
    free: set[int] = set()
    in_order = sorted(set(labels), key=lambda label: (label.upper() not in _PREFERRED, label))
    for label in in_order:
        free = free or set(range(len(COLORS)))
        wanted = _PREFERRED.get(label.upper(), crc32(label.encode()) % len(COLORS))
        numbers[label] = min(free, key=lambda number: (number - wanted) % len(COLORS))
        free.remove(numbers[label])
    return numbers


def color_classes(labels: Iterable[str], colors: Mapping[str, str] | None = None) -> dict[str, str]:
    """The CSS class of every label, for its color.

    colors (Mapping[str, str] | None): Colors of some labels, as given to `stylesheet`.
    """
    own = {label: f"x{number}" for number, label in enumerate(colors or ())}
    return {label: own.get(label, f"c{number}") for label, number in color_numbers(labels).items()}


def color_rules(selector: str, colors: Mapping[str, str] | None = None) -> list[str]:
    """The CSS of the classes.

    selector (str): Of what has one of the classes, with {} for the class.
    """
    rules = [f"{selector.format(f'.c{number}')} {{ --label: {color}; }}" for number, color in enumerate(COLORS)]
    for number, color in enumerate(check_colors(colors).values()):
        rules.append(f"{selector.format(f'.x{number}')} {{ --label: {color}; background-color: {_LEGIBLE}; }}")
    return rules


def check_colors(colors: Mapping[str, str] | None) -> Mapping[str, str]:
    """Colors that are safe to write into a style sheet."""
    if colors is None:
        return {}
    if not isinstance(colors, Mapping):
        raise TypeError(f"colors is {colors!r:.60}; expected a dictionary of labels and colors: {{'PER': '#a8d0f0'}}")
    for label, color in colors.items():
        if not isinstance(color, str) or not _CSS_COLOR.fullmatch(color):
            raise ValueError(f"colors[{label!r}] is {color!r}; expected a color of CSS, such as '#a8d0f0' or 'gold'")
    return colors


def terminal_colors(labels: Iterable[str], colors: Mapping[str, str] | None = None) -> dict[str, int]:
    """The color of every label in a terminal with 256 colors. Of the colors given, those in hexadecimal are used."""
    numbers = {label: TERMINAL_COLORS[number] for label, number in color_numbers(labels).items()}
    for label, color in check_colors(colors).items():
        if _HEX.fullmatch(color) and label in numbers:
            numbers[label] = _nearest(color[1:])
    return numbers


def _nearest(digits: str) -> int:
    """Of the cube of six reds, greens and blues."""
    parts = [2 * digit for digit in digits[:3]] if len(digits) < 6 else [digits[i : i + 2] for i in (0, 2, 4)]
    red, green, blue = (round(int(part, 16) / 255 * 5) for part in parts)
    return 16 + 36 * red + 6 * green + blue
