"""The text of a page in HTML, and where its characters come from."""

from html.parser import HTMLParser

# Elements whose text no browser shows.
_HIDDEN = {"head", "script", "style", "template", "title"}
# Elements that begin and end a line.
_BLOCKS = {"article", "blockquote", "dd", "div", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre"}
_BLOCKS |= {"section", "table", "td", "th", "tr", "ul"}


def text_of_html(html: str) -> tuple[str, list[int]]:
    """The text of a page, with a line break between blocks that would run into each other.

    RETURNS (tuple[str, list[int]]): The text; and the place in it of each character of the page's text nodes, of each
        `<br>`, and of the end. The global offsets of Label Studio count these.
    """
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return "".join(reader.characters), [*reader.places, len(reader.characters)]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.characters: list[str] = []
        self.places: list[int] = []
        self._hidden = 0
        self._at_edge = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _HIDDEN:
            self._hidden += 1
        elif tag == "br":
            self._add("\n")
        self._at_edge |= tag in _BLOCKS

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self._hidden = max(0, self._hidden - 1)
        self._at_edge |= tag in _BLOCKS

    def handle_data(self, data: str) -> None:
        if not self._hidden and data:
            self._add(data)

    def _add(self, text: str) -> None:
        if self._at_edge and self.characters and not self.characters[-1].isspace() and not text[0].isspace():
            self.characters.append("\n")
        self._at_edge = False
        first = len(self.characters)
        self.places += range(first, first + len(text))
        self.characters += text
