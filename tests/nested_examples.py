"""A small corpus that a small model learns by heart, and pipelines trained on it."""

from pathlib import Path

import spacy
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from spacy.util import fix_random_seed

from spacy_nested_ner import load_sample
from spacy_nested_ner.corpus import read_docs

SAMPLE_DEV = Path(__file__).parent.parent / "assets" / "sample" / "dev.txt"

SENTENCES = [
    ("I am Fabian from Bonn , Germany .", [(0, 1, "PER"), (2, 7, "PER"), (4, 7, "GPE"), (6, 7, "GPE")]),
    ("He retired with the United States army .", [(0, 1, "PER"), (3, 7, "ORG"), (4, 6, "GPE")]),
    ("This is your second one he has missed .", [(0, 1, "PER"), (2, 8, "PER"), (2, 3, "PER"), (5, 6, "PER")]),
    ("The mayor of Ghent met the owner of the mill .", [(0, 4, "PER"), (3, 4, "GPE"), (5, 10, "PER"), (8, 10, "FAC")]),
    ("Nobody spoke .", []),
    ("The army of Germany left Ghent .", [(0, 4, "ORG"), (3, 4, "GPE"), (5, 6, "GPE")]),
]

TINY = {
    "model": {
        "hidden_width": 32,
        "subword_width": 16,
        "subword_rows": 500,
        "tok2vec": {
            # It learns its few sentences by heart: no word is unknown in training.
            "embed": {"width": 32, "rows": [200, 100, 100, 100], "unknown_rate": 0.0},
            "encode": {"width": 32, "depth": 1},
        },
    }
}


def make_doc(vocab, sentences, key="sc", spaces=None):
    """One doc with the given sentences, each a text or its words; spans are counted within each."""
    words, starts, spans = [], [], []
    for text, mentions in sentences:
        offset = len(words)
        new = text.split() if isinstance(text, str) else text
        words += new
        starts += [True] + [False] * (len(new) - 1)
        spans += [(start + offset, end + offset, label) for start, end, label in mentions]
    doc = Doc(vocab, words=words, spaces=spaces, sent_starts=starts)
    if key:
        doc.spans[key] = [Span(doc, start, end, label=label) for start, end, label in spans]
    return doc


def make_examples(nlp, key="sc", per_doc=2):
    groups = [SENTENCES[k : k + per_doc] for k in range(0, len(SENTENCES), per_doc)]
    return [Example(make_doc(nlp.vocab, group, key=None), make_doc(nlp.vocab, group, key)) for group in groups]


def train(nlp, examples, steps=80):
    fix_random_seed(0)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    for _ in range(steps):
        nlp.update(examples, sgd=optimizer)
    return nlp


def trained(config=None, steps=80):
    nlp = spacy.blank("en")
    nlp.add_pipe("nested_ner", config={**TINY, **(config or {})})
    return train(nlp, make_examples(nlp, (config or {}).get("spans_key", "sc")), steps)


def save_corpus(path, key="sc", times=1):
    nlp = spacy.blank("en")
    groups = [SENTENCES[k : k + 2] for k in range(0, len(SENTENCES), 2)] * times
    DocBin(docs=[make_doc(nlp.vocab, group, key) for group in groups], store_user_data=True).to_disk(path)


def found(doc, key="sc"):
    return sorted((span.start, span.end, span.label_) for span in doc.spans[key])


def expected(group):
    """The gold mentions of some sentences, as `found` gives them."""
    return found(make_doc(spacy.blank("en").vocab, group))


def plain(nlp, group):
    """A doc with some sentences and no mentions."""
    return make_doc(nlp.vocab, group, key=None)


def save_beginner(folder):
    """A pipeline that has not learned enough, and a corpus, for commands that look at errors."""
    trained(steps=7).to_disk(folder / "model")
    save_corpus(folder / "dev.spacy")
    return folder


def save_timid(folder):
    """A pipeline with the right analyses and too little confidence in them, and a corpus."""
    nlp = trained()
    nlp.get_pipe("nested_ner").temperature = 6.0
    nlp.to_disk(folder / "model")
    save_corpus(folder / "dev.spacy")
    return folder


def reluctant():
    """The sample pipeline with a lower score for every mention, so that it finds too few: a low threshold helps."""
    nlp = load_sample()
    scorer = next(node for node in nlp.get_pipe("nested_ner").model.walk() if node.name == "additive_span_scorer")
    scorer.set_param("b", scorer.get_param("b") - 2)
    return nlp


def save_reluctant(folder):
    """This pipeline, and half of the development part of the sample corpus."""
    reluctant().to_disk(folder / "model")
    docs = list(read_docs(SAMPLE_DEV))[:8]
    DocBin(docs=docs, store_user_data=True).to_disk(folder / "dev.spacy")
    return folder
