"""Every reader on files that were damaged or made up: documents or a FormatError, and never anything else."""

import base64
import gzip
import json
import shutil
import tempfile
import zlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from nested_documents import make_doc, settings

from spacy_nested_ner.corpus import ConversionReport, FormatError, read_docs, write_docs
from spacy_nested_ner.corpus.formats import FORMATS

NAME = "a"

# Of formats that are only read.
GENIA = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE set SYSTEM "gpml.dtd">\n<set><article><title><sentence>'
    '<cons lex="x" sem="G#other_name"><cons sem="G#DNA_domain_or_region">IL-2</cons> gene</cons> &amp; (<cons '
    'sem="(AND G#cell_type G#RNA_N/A)">T &lt; B</cons>).</sentence></title></article></set>\n'
)
PAIR = ["The mayor of Bonn met Ada.", {"entities": [[0, 17, "PER"], [13, 17, "GPE"], [22, 25, "PER"]]}]
TAGGED = {"id": "0", "tokens": ["Ada", "met", "New", "York"], "ner_tags": ["B-PER", "O", "B-GPE", "I-GPE"]}
READ_ONLY = {
    "genia": {".xml": GENIA.encode(), ".xml.gz": gzip.compress(GENIA.encode())},
    "spacy-v2": {".json": json.dumps([PAIR, PAIR]).encode(), ".jsonl": f"{json.dumps(PAIR)}\n".encode() * 2},
    "huggingface": {".jsonl": f"{json.dumps(TAGGED)}\n".encode() * 2, ".json": json.dumps([TAGGED]).encode()},
}

# What readers treat in some way of their own.
PIECES = [
    *(b"\n", b"\r\n", b"\r", b"\t", b" ", b"\0", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xe2\x80\xa8"),
    *(b"[", b"]", b"{", b"}", b"(", b")", b"<", b">", b"&", b"\\", b'"', b"'", b",", b":", b";", b"|", b"#", b"-"),
    *(b"0", b"-1", b"1e400", b"NaN", b"Infinity", b"null", b"true", b"99999999999999999999", b"0.5", b"[]", b'""'),
    *(b"B-PER", b"I-", b"O", b"T1", b"R1", b"Entity=(1-PER)", b"<a>", b"</a>", b"<!--", b"<![CDATA[", b"]]>", b"&#0;"),
    *(b"<!ENTITY a 'b'>", b"\\u0000", b"\\ud800", b"# text = ", b"#FORMAT=WebAnno TSV 3.3", b"#Text=", b"|t|", b"|a|"),
]


class Case(NamedTuple):
    """Files, of which the first is read.

    format (str | None): None to go by content and name.
    files (dict[str, str]): Their content in base64, by name.
    target (str): The format in which what was read is written.
    """

    format: str | None
    files: dict
    target: str


@cache
def _originals():
    """Correct files of all formats, as (format, {name: content})."""
    docs = [
        make_doc([(["The", "mayor", "of", "Bonn", "met", "Ada", "."], [(0, 4, "PER"), (3, 4, "GPE"), (5, 6, "PER")])]),
        make_doc([(["Ada", "[", "#", "B-PER"], [(0, 4, "A b"), (0, 1, "ORG"), (0, 1, "PER")]), (["Nobody", "."], [])]),
    ]
    found = [
        (name, {f"{NAME}{suffix}": content}) for name, files in READ_ONLY.items() for suffix, content in files.items()
    ]
    for name, format in FORMATS.items():
        if format.write is None:
            continue
        for count in (1, 2):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    write_docs(docs[:count], Path(folder) / f"{NAME}{format.suffixes[0]}", name)
                except FormatError:  # one document per file
                    continue
                paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
                content = {path.name: path.read_bytes() for path in paths}
            if len(content) <= 2:
                found.append((name, content))
    return found


# ---- make ----


def make(random):
    originals = _originals()
    format, files = originals[random.integers(len(originals))]
    other = originals[random.integers(len(originals))][1]
    damaged = {}
    for name, content in files.items():
        pack = PACKED.get(name.partition(".")[2])
        inner = pack is not None and random.integers(4) > 0
        content = pack[1](content) if inner else content
        for _ in range(int(random.choice([0, 1, 1, 2, 3, 8]))):
            content = _damage(random, content, next(iter(other.values())))
        damaged[name] = base64.b64encode(pack[0](content) if inner else content).decode()
    targets = [name for name, format in FORMATS.items() if format.write is not None]
    return Case(format if random.integers(4) else None, damaged, str(random.choice(targets)))


PACKED = {"spacy": (zlib.compress, zlib.decompress), "xml.gz": (gzip.compress, gzip.decompress)}


def _damage(random, content, other):
    """One change of some bytes."""
    first, last = sorted(random.integers(0, len(content) + 1, size=2).tolist())
    last = min(last, first + int(random.choice([1, 4, 30, 10_000])))
    piece = PIECES[random.integers(len(PIECES))]
    kind = random.integers(9)
    if kind == 0:
        return content[:first]
    if kind == 1:
        return content[:first] + content[last:]
    if kind == 2:
        return content[:first] + piece + content[first:]
    if kind == 3:
        return content[:first] + piece + content[last:]
    if kind == 4:
        return content[:last] + content[first:last] * int(random.choice([1, 3, 50])) + content[last:]
    if kind == 5:
        return content[:first] + bytes(random.integers(256, size=last - first, dtype="uint8")) + content[last:]
    if kind == 6:
        return content[:first] + piece * int(random.choice([2, 100, 3000])) + content[first:]
    if kind == 7:
        start = int(random.integers(0, len(other) + 1))
        return content[:first] + other[start : start + 200] + content[last:]
    lines = content.split(b"\n")
    return b"\n".join(lines[k] for k in random.permutation(len(lines)))


# ---- check ----


def check(case):
    """Raise an error if a reader lets any error but a FormatError out, or makes up what cannot be written and read."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = [folder / name for name in case.files]
        for path, content in zip(paths, case.files.values()):
            path.write_bytes(base64.b64decode(content))
        for skip_bad in (False, True):
            try:
                report = ConversionReport(skip_bad=skip_bad)
                docs = list(read_docs(paths[0], case.format, settings=settings(), report=report))
            except FormatError as error:
                _check_message(str(error), folder)
                continue
            for doc in docs:
                for span in doc.spans["sc"]:
                    assert 0 <= span.start < span.end <= len(doc)
                    assert span.label_
            _check_rewritten(docs, folder)
            _check_written(docs, folder, case.target)
        assert sorted(path.name for path in folder.iterdir()) == sorted(case.files), "files were left"


def _check_message(message, folder):
    assert str(folder) in message, "an error without its place"
    assert len(message) < 3000, "an error that nobody can read"


def _content(docs):
    return [([token.text for token in doc], {(s.start, s.end, s.label_) for s in doc.spans["sc"]}) for doc in docs]


def _check_rewritten(docs, folder):
    """The format that keeps everything does."""
    path = folder / "again.spacy"
    write_docs(docs, path)
    assert _content(read_docs(path, "spacy", settings=settings())) == _content(docs)
    path.unlink()


def _check_written(docs, folder, target):
    """What is written in any format can be read in it, or is refused."""
    out = folder / "out"
    out.mkdir()
    try:
        write_docs(docs, out / f"b{FORMATS[target].suffixes[0]}", target)
    except FormatError:
        assert not list(out.iterdir()), "half of a file"
    for path in sorted(path for path in out.iterdir() if path.name.endswith(FORMATS[target].suffixes[0])):
        # Formats by characters do not keep tokens: mentions that do not fit others are left out.
        list(read_docs(path, target, settings=settings(misaligned="drop")))
    shutil.rmtree(out)
