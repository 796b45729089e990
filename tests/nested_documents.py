"""Documents with nested mentions, made up, written and read."""

from functools import cache

import nested_examples
import spacy
from hypothesis import strategies as st

from spacy_nested_ner.corpus import ConversionReport, Settings, read_docs
from spacy_nested_ner.decoders.mention import Mention

VOCAB = spacy.blank("en").vocab

ANY_WORD = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
# Words that formats with words between spaces can show: nothing in them separates words or lines.
PLAIN_WORD = st.text(st.characters(exclude_categories=["Cs", "Zs", "Zl", "Zp", "Cc"]), min_size=1, max_size=5).filter(
    lambda word: not word.startswith("\ufeff")
)
# Words that a tokenizer leaves whole.
SIMPLE_WORD = st.text("bfgk", min_size=1, max_size=5)
TRICKY_WORD = st.sampled_from(["[", "]", "\\", "#", "[]", "\\]", "a]", "]]", "\\u0041", "O", "B-PER", "1", "0,1", "|"])
LABEL = st.sampled_from(["PER", "GPE", "ORG", "G#DNA"])


def make_doc(sentences, *, spaces=None):
    """A Doc of pairs of words and mentions, one per sentence; mentions in the order of all formats."""
    ordered = [(words, sorted(mentions, key=in_order)) for words, mentions in sentences]
    return nested_examples.make_doc(VOCAB, ordered, spaces=spaces)


def in_order(mention):
    start, end, label = mention
    return start, -end, label


def crosses(one, other):
    return one[0] < other[0] < one[1] < other[1] or other[0] < one[0] < other[1] < one[1]


@st.composite
def sentences(draw, words, labels=LABEL, crossing=False):
    """Words and mentions of them: some inside one another, some with two labels on one span."""
    text = draw(st.lists(words, min_size=1, max_size=8))
    ends = st.tuples(st.integers(0, len(text) - 1), st.integers(1, len(text)), labels)
    spans = {mention for mention in draw(st.lists(ends, max_size=8)) if mention[0] < mention[1]}
    mentions = []
    for mention in sorted(spans, key=in_order):
        if crossing or not any(crosses(mention, other) for other in mentions):
            mentions.append(mention)
    return text, mentions


@st.composite
def documents(draw, words=ANY_WORD, labels=LABEL, crossing=False, spaced=False):
    """Several Docs. If `spaced`, they know which words are followed by a space."""
    groups = draw(
        st.lists(st.lists(sentences(words, labels, crossing), min_size=1, max_size=3), min_size=1, max_size=3)
    )
    docs = []
    for group in groups:
        n_words = sum(len(text) for text, _ in group)
        spaces = draw(st.lists(st.booleans(), min_size=n_words, max_size=n_words)) if spaced else None
        docs.append(make_doc(group, spaces=spaces))
    return docs


def mentions(doc, key="sc"):
    """The mentions of a Doc, in its own order, so that tests see that order."""
    return [Mention(span.start, span.end, span.label_) for span in doc.spans[key]]


def content(doc):
    """What every format keeps."""
    return [token.text for token in doc], [sent.start for sent in doc.sents], mentions(doc)


@cache
def settings(**options):
    """Cached, because they make a blank pipeline, which takes longer than most tests."""
    return Settings(**options)


def save(path, text):
    """Write a text file, in a new folder if there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))
    return path


def read(path, format=None, *, skip_bad=False, **options):
    """The Docs of a file, and the report."""
    report = ConversionReport(skip_bad=skip_bad)
    return list(read_docs(path, format, settings=settings(**options), report=report)), report


def shown(doc):
    """The labels and texts of the mentions of a Doc."""
    return [(span.label_, span.text) for span in doc.spans["sc"]]
