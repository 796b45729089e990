"""Which component writes mentions, and what runs before and after it."""

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Span

from spacy_nested_ner.evaluation.components import SplitPipeline, check_scores, component_of, set_threshold


@Language.component("test_components_mark")
def mark(doc):
    """No key, no scores."""
    doc.spans["sc"] = [Span(doc, 0, len(doc), label="ALL")] if len(doc) > 1 else []
    return doc


def pipeline(*names):
    nlp = spacy.blank("en")
    for number, name in enumerate(names):
        nlp.add_pipe(name, name=f"{name}_{number}")
    return nlp


def test_the_last_component_of_the_key_counts():
    nlp = pipeline("sentencizer", "nested_ner", "spancat", "doc_cleaner", "test_components_mark")
    assert component_of(nlp, "sc") == ("spancat_2", nlp.get_pipe("spancat_2"))
    assert component_of(nlp, "other") is None
    split = SplitPipeline.at(nlp, "sc")
    assert (split.before, split.name) == (["sentencizer_0", "nested_ner_1"], "spancat_2")
    assert split.after == ["test_components_mark_4"], "docs are not cleaned up"


def test_a_function_declares_no_key():
    nlp = pipeline("sentencizer", "test_components_mark")
    split = SplitPipeline.at(nlp, "sc")
    assert (split.before, split.pipe, split.after) == (["sentencizer_0", "test_components_mark_1"], None, [])


def test_only_the_components_named_run():
    nlp = pipeline("sentencizer", "test_components_mark")
    docs = [nlp.make_doc("Ada sings. Bo listens."), nlp.make_doc("Yes.")]
    SplitPipeline.at(nlp, "sc").run(["sentencizer_0"], docs)
    assert [len(list(doc.sents)) for doc in docs] == [2, 1]
    assert all("sc" not in doc.spans for doc in docs)
    SplitPipeline.at(nlp, "sc").run([], docs)
    assert nlp.pipe_names == ["sentencizer_0", "test_components_mark_1"]


def test_mentions_need_probabilities():
    nlp = pipeline("test_components_mark")
    check_scores(nlp, nlp("Yes"), "sc")
    with pytest.raises(ValueError, match=r"and their probabilities to its attrs\[\"scores\"\], such as nested_ner"):
        check_scores(nlp, nlp("Ada sings"), "sc")


@pytest.mark.parametrize("score", [float("nan"), -0.5, 1.01, float("inf")])
def test_scores_are_probabilities(score):
    nlp = pipeline("test_components_mark")
    doc = nlp("Ada sings")
    doc.spans["sc"].attrs["scores"] = [1.0000001]
    check_scores(nlp, doc, "sc")
    doc.spans["sc"].attrs["scores"] = [score]
    with pytest.raises(ValueError, match=rf"attrs\[\"scores\"\] has {score:g}; expected probabilities"):
        check_scores(nlp, doc, "sc")


def test_the_threshold_of_nested_ner_and_spancat():
    for name in ("nested_ner", "spancat"):
        nlp = pipeline(name)
        set_threshold(nlp, "sc", 0.25)
        assert nlp.get_pipe(f"{name}_0").cfg["threshold"] == 0.25
    with pytest.raises(ValueError, match=r"threshold is 1.5; expected a number between 0 and 1"):
        set_threshold(nlp, "sc", 1.5)
    with pytest.raises(ValueError, match=r"the component that writes to doc.spans\['sc'\] has no threshold"):
        set_threshold(pipeline("test_components_mark"), "sc", 0.5)
