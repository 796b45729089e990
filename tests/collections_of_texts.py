"""Small collections of documents in every format, and what is in the output of `annotate`."""

import json

import spacy
from spacy.tokens import Doc, DocBin

TEXTS = [
    "The wife of the president of Kestria arrived at the airport in Dorvin.",
    "Nobody spoke.",
    "Milo Brandt, a spokesman for the Halden Group, left the port of Dorvin. He met the mayor of Ostrel.",
    "",
    "Åsa Lindqvist told the Dorvin Herald – twice – that the bridge was closed.",
    "The army of Kestria shelled the harbor.",
]


def jsonl(texts=TEXTS, **fields):
    """The content of a JSONL file with ids."""
    lines = [json.dumps({"id": f"doc{k}", "text": text, **fields}, ensure_ascii=False) for k, text in enumerate(texts)]
    return "".join(f"{line}\n" for line in lines).encode()


def save_docbin(path, texts=TEXTS):
    """Docs that are divided at spaces, which no tokenizer would do, and have ids."""
    docs = []
    for number, text in enumerate(texts):
        doc = Doc(spacy.blank("en").vocab, words=text.split())
        doc.user_data["id"] = f"doc{number}"
        docs.append(doc)
    DocBin(docs=docs, store_user_data=True).to_disk(path)


def shards(output):
    """The content of all shards, by name."""
    return {path.name: path.read_bytes() for path in sorted(output.glob("part-*"))}


def rows(output):
    """All rows of a folder of Parquet, in order."""
    import pyarrow.parquet

    return pyarrow.parquet.read_table(output).to_pylist()


def failures(output):
    """All documents that failed, in order."""
    paths = sorted((output / "errors").glob("*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text().splitlines()]
