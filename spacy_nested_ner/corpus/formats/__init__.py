"""The formats of corpora, one per file, and the table of them.

A format is a file with a docstring that describes it, a function `read` and, unless the format is
read-only, a function `write`. A function `recognizes` says whether a file looks like the format, for files whose names
do not show it. To add a format, add its file here and one line to `FORMATS`.
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..conversion_report import ConversionReport
from ..documents import Record, Settings
from . import (
    bio,
    bracket,
    brat,
    conllu,
    docbin,
    dygie,
    genia,
    gliner,
    huggingface,
    index,
    jsonl,
    label_studio,
    pubtator,
    spacy_v2,
    table,
    webanno,
    xml,
)
from ._sample import Sample

Reader = Callable[[Path, Settings, ConversionReport], Iterator[Record]]
Writer = Callable[[Iterable[Record], Path, Settings, ConversionReport], None]
Recognizer = Callable[[Sample], bool]

_FIRST_CLAUSE = re.compile(r"(.+?)(?:[:.,;](?:\s|$)| \()", re.DOTALL)


@dataclass(frozen=True)
class Format:
    """How a format is read and written, and what its files are called.

    read (Reader): Reads the documents of one file.
    write (Writer | None): Writes all documents to one file; None if the format is read-only.
    suffixes (tuple[str, ...]): The ends of its file names; new files get the first one.
    pair (bool): Two files make one document, and the first suffix is used to name both.
    keeps_all (bool): Everything that Docs are annotated with is written, not only labeled mentions.
    keeps_incomplete (bool): That mentions are missing is written, and which spans are known not to be mentions.
    about (str): What it is, in a few words; if empty, the beginning of the description in its file.
    split (tuple[int, ...]): How many sentences the parts of its standard split have, if it has one.
    """

    read: Reader
    write: Writer | None
    suffixes: tuple[str, ...]
    pair: bool = False
    keeps_all: bool = False
    keeps_incomplete: bool = False
    about: str = ""
    split: tuple[int, ...] = ()

    @property
    def recognizes(self) -> Recognizer | None:
        """Whether a file looks like this format; None if only its name shows that."""
        return getattr(sys.modules[self.read.__module__], "recognizes", None)

    @property
    def summary(self) -> str:
        """What the format is, in a few words."""
        if self.about:
            return self.about
        description = sys.modules[self.read.__module__].__doc__ or ""
        found = _FIRST_CLAUSE.match(description)
        return " ".join((found[1] if found else description).replace("`", "").split())


FORMATS = {
    "spacy": Format(docbin.read, docbin.write, (".spacy",), keeps_all=True, keeps_incomplete=True),
    "bracket": Format(bracket.read, bracket.write, (".txt",)),
    "bio": Format(bio.read, bio.write, (".tsv", ".bio", ".conll", ".iob", ".bioes", ".bilou")),
    "brat": Format(brat.read, brat.write, (".ann", ".txt"), pair=True),
    "webanno": Format(webanno.read, webanno.write, (".tsv",)),
    "conllu": Format(conllu.read, conllu.write, (".conllu", ".conll")),
    "pubtator": Format(pubtator.read, pubtator.write, (".pubtator",)),
    "csv": Format(table.read, table.write, (".csv", ".tsv")),
    "label-studio": Format(label_studio.read, label_studio.write, (".json",)),
    "jsonl": Format(jsonl.read, jsonl.write_tokens, (".jsonl",), keeps_incomplete=True),
    "jsonl-tokens": Format(
        jsonl.read, jsonl.write_tokens, (".jsonl",), keeps_incomplete=True, about="JSON lines by words"
    ),
    "jsonl-text": Format(
        jsonl.read, jsonl.write_text, (".jsonl",), keeps_incomplete=True, about="JSON lines by characters"
    ),
    "json": Format(jsonl.read, jsonl.write_json, (".json",), keeps_incomplete=True, about="JSON list by characters"),
    "dygie": Format(dygie.read, dygie.write, (".jsonl", ".json"), about="DyGIE++ and PURE"),
    "biaffine-ner": Format(
        dygie.read, dygie.write_by_sentence, (".jsonlines", ".jsonl", ".json"), about="biaffine-ner of Yu et al."
    ),
    "gliner": Format(gliner.read, gliner.write, (".json", ".jsonl")),
    "huggingface": Format(huggingface.read, None, (".jsonl", ".json"), about="Hugging Face tags"),
    "spacy-v2": Format(spacy_v2.read, None, (".json", ".jsonl")),
    "genia": Format(genia.read, None, (".xml", ".xml.gz", ".tgz"), split=genia.SPLIT),
    "xml": Format(xml.read, xml.write, (".xml",)),
    "index": Format(index.read, index.write, (".index",)),
}
"""All formats by name."""
