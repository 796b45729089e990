"""Long runs of the same characters do not change what the tokens are."""

import pytest
from nested_documents import settings

from spacy_nested_ner.corpus.tokenization import make_doc, tokenize


def tokens_of(text):
    return [(token.idx, token.idx + len(token)) for token in settings().nlp.tokenizer(text)]


@pytest.mark.parametrize("unit", ["(", "-", ".", "=", "()", "'s", "-.", "1,", "a", "ab-", "!?", '"', "([{<"])
@pytest.mark.parametrize("before, after", [("", ""), ("x", "y"), ("(", "),")])
def test_the_tokens_are_those_of_the_tokenizer(unit, before, after):
    run = before + unit * 600 + after
    text = f"Ada {run} and {run} Bonn."
    assert tokenize(settings().nlp, text) == tokens_of(text)


def test_ordinary_texts():
    text = "Ada's band (of Bonn) sings…  twice\n\na week!"
    assert tokenize(settings().nlp, text) == tokens_of(text)
    assert tokenize(settings().nlp, "") == []


def test_the_tokenizer_sees_short_runs_only():
    """It takes quadratic time for long ones, so what it sees is counted, not how long it takes."""
    seen = []

    class Spy:
        lang = "en"

        def tokenizer(self, text):
            seen.append(len(text))
            return settings().nlp.tokenizer(text)

    assert len(tokenize(Spy(), "(" * 20_000)) == 20_000
    assert seen[0] < 100
    assert len(tokenize(Spy(), ("()" * 10_000 + " ") * 3)) == 60_000
    assert seen[1] < 300


@pytest.mark.parametrize("text", ["Ada  sings .", f"Ada {'(' * 600}  in\n Bonn.", "--" * 600 + " "])
def test_documents_are_those_of_the_pipeline(text):
    nlp = settings().nlp
    assert make_doc(nlp, text).to_json() == nlp.make_doc(text).to_json()
