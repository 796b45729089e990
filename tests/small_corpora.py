"""Corpora of a few sentences, of the kinds that people have."""

import spacy
from nested_examples import make_doc
from spacy.tokens import DocBin

VOCAB = spacy.blank("en").vocab

FLAT = ("Ada met Grace in Ghent .", [(0, 1, "PER"), (2, 3, "PER"), (4, 5, "GPE")])
NESTED = ("The mayor of Ghent met the owner of the mill .", [(0, 4, "PER"), (3, 4, "GPE"), (5, 10, "PER")])
# Two children of three words: outside the quadratic search space.
WIDE = ("The old mayor and the new mayor met .", [(0, 7, "PER"), (0, 3, "PER"), (4, 7, "PER")])
DOUBLE = ("Ghent won again .", [(0, 1, "GPE"), (0, 1, "ORG")])
CROSSING = ("The mayor of Ghent town hall sang .", [(0, 4, "PER"), (3, 6, "FAC")])


def save_docs(path, *documents, key="sc", spaced=False, change=None):
    """Save documents, each a list of sentences, as a .spacy file.

    spaced (bool): Every word is followed by a space, so that the text is known.
    change (Callable | None): Changes each Doc before it is saved.
    """
    docs = []
    for sentences in documents:
        n_words = sum(len(text.split()) for text, _ in sentences)
        docs.append(make_doc(VOCAB, sentences, key, spaces=[True] * n_words if spaced else None))
        if change is not None:
            change(docs[-1])
    path.parent.mkdir(parents=True, exist_ok=True)
    DocBin(docs=docs, store_user_data=True).to_disk(path)
    return path
