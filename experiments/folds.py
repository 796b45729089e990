"""Divide all documents of a corpus into folds: every document is in the test part of one of them.

    python experiments/folds.py corpus/litbank --folds 5

Reads train.spacy, dev.spacy and test.spacy of the folder, and writes these three files into fold-0, fold-1, … below it.
The dev part of a fold is half of the test part of the next one.
"""

import argparse
import random
from pathlib import Path

import spacy
from spacy.tokens import Doc, DocBin

PARTS = ("train", "dev", "test")


def divide(docs: list[Doc], folds: int, seed: int) -> list[dict[str, list[Doc]]]:
    """The parts of every fold. The dev part has half as many documents as the test part."""
    if not 3 <= folds <= len(docs):
        raise ValueError(f"{folds} folds of {len(docs)} documents; expected at least 3, and a document for each")
    docs = list(docs)
    random.Random(seed).shuffle(docs)
    groups = [docs[number::folds] for number in range(folds)]
    every = []
    for number, test in enumerate(groups):
        following = groups[(number + 1) % folds]
        dev = following[: (len(following) + 1) // 2]
        held_out = {id(doc) for doc in (*dev, *test)}
        every.append({"train": [doc for doc in docs if id(doc) not in held_out], "dev": dev, "test": test})
    return every


def write_folds(folder: Path, folds: int, seed: int = 0) -> list[Path]:
    """Write the folds of a corpus. RETURNS (list[Path]): Their folders."""
    vocab = spacy.blank("en").vocab
    docs = [doc for part in PARTS for doc in DocBin().from_disk(folder / f"{part}.spacy").get_docs(vocab)]
    folders = []
    for number, parts in enumerate(divide(docs, folds, seed)):
        folders.append(folder / f"fold-{number}")
        folders[-1].mkdir(exist_ok=True)
        for name, chosen in parts.items():
            DocBin(docs=chosen, store_user_data=True).to_disk(folders[-1] / f"{name}.spacy")
    return folders


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, help="folder with train.spacy, dev.spacy and test.spacy")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0, help="of the order of documents")
    arguments = parser.parse_args()
    for folder in write_folds(arguments.corpus, arguments.folds, arguments.seed):
        print(folder)


if __name__ == "__main__":
    main()
