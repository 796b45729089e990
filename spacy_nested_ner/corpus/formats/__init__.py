"""The formats of corpora, one per file, and the table of them.

A format is a file with a docstring that describes it, a function `read` and, unless the format is
read-only, a function `write`. To add one, add its file here and one line to `FORMATS`.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..conversion_report import ConversionReport
from ..documents import Record, Settings
from . import bio, bracket, brat, docbin, dygie, genia, gliner, huggingface, index, jsonl, label_studio, spacy_v2

Reader = Callable[[Path, Settings, ConversionReport], Iterator[Record]]
Writer = Callable[[Iterable[Record], Path, Settings, ConversionReport], None]


@dataclass(frozen=True)
class Format:
    """How a format is read and written, and what its files are called.

    read (Reader): Reads the documents of one file.
    write (Writer | None): Writes all documents to one file; None if the format is read-only.
    suffixes (tuple[str, ...]): The ends of its file names; new files get the first one.
    pair (bool): Two files make one document, and the first suffix is used to name both.
    keeps_all (bool): Everything that Docs are annotated with is written, not only labeled mentions.
    split (tuple[int, ...]): How many sentences the parts of its standard split have, if it has one.
    """

    read: Reader
    write: Writer | None
    suffixes: tuple[str, ...]
    pair: bool = False
    keeps_all: bool = False
    split: tuple[int, ...] = ()


FORMATS = {
    "spacy": Format(docbin.read, docbin.write, (".spacy",), keeps_all=True),
    "bracket": Format(bracket.read, bracket.write, (".txt",)),
    "bio": Format(bio.read, bio.write, (".tsv", ".bio", ".conll")),
    "brat": Format(brat.read, brat.write, (".ann", ".txt"), pair=True),
    "label-studio": Format(label_studio.read, label_studio.write, (".json",)),
    "jsonl": Format(jsonl.read, jsonl.write_tokens, (".jsonl",)),
    "jsonl-tokens": Format(jsonl.read, jsonl.write_tokens, (".jsonl",)),
    "jsonl-text": Format(jsonl.read, jsonl.write_text, (".jsonl",)),
    "json": Format(jsonl.read, jsonl.write_json, (".json",)),
    "dygie": Format(dygie.read, dygie.write, (".jsonl", ".json")),
    "biaffine-ner": Format(dygie.read, dygie.write_by_sentence, (".jsonlines", ".jsonl", ".json")),
    "gliner": Format(gliner.read, gliner.write, (".json", ".jsonl")),
    "huggingface": Format(huggingface.read, None, (".jsonl", ".json")),
    "spacy-v2": Format(spacy_v2.read, None, (".json", ".jsonl")),
    "genia": Format(genia.read, None, (".xml", ".xml.gz", ".tgz"), split=genia.SPLIT),
    "index": Format(index.read, index.write, (".index",)),
}
