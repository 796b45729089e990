r"""TSV 3 of INCEpTION and WebAnno: one line per token, and one column per feature of each layer.

A file is a document. It begins with `#FORMAT=WebAnno TSV 3`, then names its layers, `#T_SP=layer|feature|feature` for
spans. Every sentence begins with its text, `#Text=…`. A line has the number of the token, its characters, the token,
and the columns: `1-2<tab>4-8<tab>Bonn<tab>ORG[1]|LOC`. Values with the same number in brackets are one mention, values
without a number are mentions of one token, and `|` separates mentions that share a token. Lines such as `1-2.1` are for
parts of a token. In values, a backslash escapes the characters that have a meaning.

One layer is read: named entities, or else the first layer of spans that is not about tokens, such as parts of speech.
Its label is the feature called `value`, `label` or the like, or else its first feature. `Settings.layer` names another.
Other layers, relations and chains are not kept. Named entities are written, as one document.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ...decoders.mention import Mention
from ..conversion_report import ConversionReport, FormatError, shown
from ..documents import Record, Sentence, Settings, visible_sentences
from ..files import NUMBER, Line, place, read_lines
from ._offsets import Edges, doc_from_text
from ._sample import Sample

NAMED_ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"

_HEADER = "#FORMAT=WebAnno TSV 3"
_LAYER = re.compile(r"#T_(SP|RL|CH)=(.*)")
# Layers that say something about tokens, not about mentions.
_ABOUT_TOKENS = (
    "POS",
    "Lemma",
    "Stem",
    "MorphologicalFeatures",
    "Token",
    "SurfaceForm",
    "SofaChangeAnnotation",
    "PdfPage",
)
_LABELS = ("value", "label", "type", "category", "class", "entity", "tag")
_UNIT = re.compile(rf"(\d+)-\d+(\.\d+)?\t({NUMBER})-({NUMBER})\t([^\t]*)\t?(.*)", re.DOTALL)
_NOTHING, _NO_VALUE = "_", "*"
_STACKED = re.compile(r"(?:\\.|[^\\|])+", re.DOTALL)
_NUMBERED = re.compile(r"((?:\\.|[^\\])*)\[(\d+)\]", re.DOTALL)
_ESCAPED = re.compile(r"\\(->|.)", re.DOTALL)
_SPECIAL = re.compile(r"->|[\\\[\]|_;*\t\n]")
_CONTROLS = {"t": "\t", "n": "\n"}


class Layer(NamedTuple):
    """A layer that the header of a file declares.

    name (str): Its full name, such as webanno.custom.Part.
    features (list[str]): What its columns contain; none if it has one column without values.
    column (int): The first of its columns, counted after the token.
    is_of_spans (bool): Otherwise it has relations or chains.
    """

    name: str
    features: list[str]
    column: int
    is_of_spans: bool

    @property
    def short_name(self) -> str:
        return self.name.rsplit(".", 1)[-1]

    @property
    def label_feature(self) -> int:
        """The number of the feature that is most likely the label."""
        usual = [self.features.index(name) for name in (*_LABELS, self.short_name) if name in self.features]
        # Slots for other annotations begin like this, or have the name of a layer.
        plain = [i for i, name in enumerate(self.features) if not name.startswith("ROLE_") and "." not in name]
        named = [i for i in plain if self.features[i] != "identifier"]
        return next(iter(usual + named + plain), 0)


class _Unit(NamedTuple):
    """A token or a part of one.

    edges (Edges): Its characters in the text that is made of the tokens.
    values (str): Its value in the column of labels.
    """

    edges: Edges
    values: str
    where: str


def read(path: Path, settings: Settings, report: ConversionReport) -> Iterator[Record]:
    """Read the one document of a file."""
    with report.tolerating():
        lines = list(read_lines(path))
        layers = _read_header(lines, path)
        chosen = _choose(layers, settings.layer)
        for other in layers:
            if chosen is None or other != chosen[0]:
                report.lose(f"the layer {other.short_name}", str(path))
        layer, feature = chosen or (Layer("", [], 0, True), 0)
        text, tokens, sent_starts, units = _read_tokens(lines, path, layer.column + feature)
        if chosen is None:  # layers without annotations are not exported, so one document may lack what others have
            report.lose(*_lacking(layers, settings.layer, path))
            mentions = []
        else:
            report.note(f"Layer      {layer.short_name}" + (f", {layer.features[feature]}" if layer.features else ""))
            mentions = _mentions(units, layer, report)
        doc = doc_from_text(text, mentions, settings, report, str(path), tokens=tokens, sent_starts=sent_starts)
        yield Record(doc, str(path))


def recognizes(sample: Sample) -> bool:
    """Whether the file says so."""
    return sample.text.startswith(_HEADER)


def _read_header(lines: list[Line], path: Path) -> list[Layer]:
    """The layers in the order of their columns."""
    if not lines or not lines[0].text.startswith(_HEADER):
        raise FormatError(place(path, 1), f"not WebAnno TSV 3; expected {_HEADER}.3")
    layers: list[Layer] = []
    column = 0
    for line in lines[1:]:
        found = _LAYER.fullmatch(line.text)
        if found:
            name, *features = [field for field in found[2].split("|") if field] or [""]
            layers.append(Layer(name, features, column, found[1] == "SP"))
            column += max(1, len(features))
        elif _UNIT.fullmatch(line.text):
            break
    return layers


def _choose(layers: list[Layer], wanted: str | None) -> tuple[Layer, int] | None:
    """The layer of the mentions, and the number of the feature with their labels; None if there is none."""
    spans = [layer for layer in layers if layer.is_of_spans]
    if wanted is None:
        entities = [layer for layer in spans if layer.name == NAMED_ENTITY]
        others = [layer for layer in spans if layer.short_name not in _ABOUT_TOKENS]
        for layer in entities + others:
            return layer, layer.label_feature
    for layer in spans:
        for name in (layer.name, layer.short_name):
            if wanted == name:
                return layer, layer.label_feature
            for feature in layer.features:
                if wanted == f"{name}.{feature}":
                    return layer, layer.features.index(feature)
    return None


def _lacking(layers: list[Layer], wanted: str | None, path: Path) -> tuple[str, str]:
    """What to report about a document without the layer of the mentions."""
    spans = [layer for layer in layers if layer.is_of_spans]
    found = "; ".join(f"{layer.short_name} with {', '.join(layer.features) or 'no feature'}" for layer in spans)
    remedy = f"choose one with --layer; found: {found}" if found else "found no layer of spans at all"
    return f"documents without {f'the layer {wanted!r}' if wanted else 'a layer of mentions'}", f"{path}: {remedy}"


def _read_tokens(lines: list[Line], path: Path, column: int) -> tuple[str, list[Edges], list[int], list[_Unit]]:
    """The text, its tokens, the characters that begin a sentence, and all tokens and parts of them with their values.

    The text is made of the tokens. There is a space wherever the original text has something between them.
    """
    text: list[str] = []
    tokens: list[Edges] = []
    starts: list[int] = []
    units: list[_Unit] = []
    length, sentence, token_start, token_end, word = 0, "", 0, 0, ""
    for line in lines:
        if line.text.startswith("#") or not line.text.strip():
            continue
        where = place(path, line.number)
        found = _UNIT.fullmatch(line.text)
        columns = found[6].split("\t") if found else []
        if not found or len(columns) <= column:
            expected = f"expected 1-1<tab>0-5<tab>token<tab> and a value in each of {column + 1} columns"
            raise FormatError(where, f"{shown(line.text)}; {expected}")
        start, end = int(found[3]), int(found[4])
        if found[2]:  # a part of the token above
            edges = _part(word, start - token_start, end - token_start, tokens, where)
        else:
            word = found[5]
            if tokens and start != token_end:
                text.append(" ")
                length += 1
            edges = (length, length + len(word))
            if found[1] != sentence:
                starts.append(length)
            tokens.append(edges)
            text.append(word)
            length += len(word)
            sentence, token_start, token_end = found[1], start, end
        units.append(_Unit(edges, columns[column], where))
    return "".join(text), tokens, starts, units


def _part(word: str, start: int, end: int, tokens: list[Edges], where: str) -> Edges:
    """The characters of a part of a token. WebAnno counts as Java does: some characters count twice."""
    if not tokens or not 0 <= start <= end:
        raise FormatError(where, "the part is not in the token above; expected characters inside it")
    units = word.encode("utf-16-le", "surrogatepass")
    before, until = (len(units[: 2 * edge].decode("utf-16-le", "ignore")) for edge in (start, end))
    return tokens[-1][0] + before, tokens[-1][0] + until


def _mentions(units: list[_Unit], layer: Layer, report: ConversionReport) -> list[tuple[Mention, str]]:
    """The mentions by characters, each with its place."""
    mentions: dict[str | tuple[int, int], tuple[Mention, str]] = {}
    for n, ((start, end), values, where) in enumerate(units):
        for i, value in enumerate(_STACKED.findall(values) if values != _NOTHING else ()):
            numbered = _NUMBERED.fullmatch(value)
            raw = numbered[1] if numbered else value
            key = numbered[2] if numbered else (n, i)
            if raw == _NO_VALUE and layer.features:
                report.lose("annotations without a value", where)
            elif start == end:
                report.lose("annotations between two characters", where)
            elif key in mentions:
                known, first = mentions[key]
                mentions[key] = known._replace(end=end), first
            else:
                label = _unescape(raw) if layer.features else layer.short_name
                mentions[key] = Mention(start, end, label), where
    return list(mentions.values())


def write(records: Iterable[Record], path: Path, settings: Settings, report: ConversionReport) -> None:
    """Write one file with a layer of named entities. A file is one document."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{_HEADER}.3\n#T_SP={NAMED_ENTITY}|value\n\n")
        writer = _Writer()
        for n, record in enumerate(records):
            with report.tolerating():
                sentences = visible_sentences(record, settings, report, spaced=True)
                lines = [line for sentence in sentences for line in writer.render(sentence, record.where)]
                file.writelines(lines)
                if n:
                    report.lose("which sentences form a document", record.where)


class _Writer:
    """What goes on from one sentence to the next: the numbers of sentences and mentions, and the characters."""

    def __init__(self) -> None:
        self.offset = self.n_sentences = self.n_mentions = 0

    def render(self, sentence: Sentence, where: str) -> list[str]:
        """The lines of a sentence."""
        spaces = sentence.spaces or [True] * len(sentence.words)
        for word in sentence.words:
            if any(character in word for character in "\t\r\n"):
                raise FormatError(where, f"{word!r} contains a tab or a line break; write jsonl or spacy instead")
        self.n_sentences += 1
        text = "".join(word + " " * space for word, space in zip(sentence.words, spaces)).rstrip(" ")
        lines = ["\n#Text=" + text.replace("\\", "\\\\") + "\n"]
        values = self._values(sentence.mentions, len(sentence.words))
        for n, (word, space, value) in enumerate(zip(sentence.words, spaces, values), 1):
            # WebAnno counts as Java does: some characters count twice.
            end = self.offset + len(word.encode("utf-16-le")) // 2
            lines.append(f"{self.n_sentences}-{n}\t{self.offset}-{end}\t{word}\t{value}\t\n")
            self.offset = end + space
        return lines

    def _values(self, mentions: list[Mention], n_words: int) -> list[str]:
        """What each word has in the column of labels."""
        # Only a mention of one word that shares it with no other needs no number.
        shared = Counter(i for start, end, _ in mentions for i in range(start, end))
        values: list[list[str]] = [[] for _ in range(n_words)]
        for start, end, label in mentions:
            needs_number = end - start > 1 or shared[start] > 1
            self.n_mentions += needs_number
            number = f"[{self.n_mentions}]" if needs_number else ""
            for i in range(start, end):
                values[i].append(_escape(label) + number)
        return ["|".join(some) or _NOTHING for some in values]


def _escape(label: str) -> str:
    return _SPECIAL.sub(lambda found: "\\" + {"\t": "t", "\n": "n"}.get(found[0], found[0]), label)


def _unescape(value: str) -> str:
    return _ESCAPED.sub(lambda found: _CONTROLS.get(found[1], found[1]), value)
