"""A part of a corpus, to see what can be learned from little."""

import random
from pathlib import Path

import spacy
from spacy.tokens import DocBin


def write_subset(source: Path, target: Path, sentences: int, seed: int) -> int:
    """Write whole documents in the order of the seed, up to the first one that reaches a number of sentences, so a
    smaller part is the beginning of a larger one.

    RETURNS (int): How many sentences they have: fewer than asked for if the corpus has no more.
    """
    docs = list(DocBin().from_disk(source).get_docs(spacy.blank("en").vocab))
    random.Random(seed).shuffle(docs)
    kept = DocBin(store_user_data=True)
    n_sentences = 0
    for doc in docs:
        if n_sentences >= sentences:
            break
        kept.add(doc)
        n_sentences += sum(1 for _ in doc.sents)
    target.parent.mkdir(parents=True, exist_ok=True)
    kept.to_disk(target)
    return n_sentences
