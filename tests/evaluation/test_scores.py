"""Tables of scores with intervals."""

import json

import pytest
import spacy
from nested_examples import SENTENCES, make_doc, make_examples, train
from spacy.training import Corpus, Example

from spacy_nested_ner.corpus import Record, read_records
from spacy_nested_ner.decoders import Mention
from spacy_nested_ner.evaluation import Judged, Resampling, difference_table, measure, predict, score_table
from spacy_nested_ner.evaluation.scorer import nested_ner_score


@pytest.fixture(scope="module")
def nlp(folder):
    return spacy.load(folder / "model")


@pytest.fixture(scope="module")
def judged(folder, nlp):
    return predict(nlp, read_records(folder / "dev.spacy"), thresholds=())


def spancat(key="sc"):
    pipeline = spacy.blank("en")
    config = {"suggester": {"@misc": "spacy.ngram_range_suggester.v1", "min_size": 1, "max_size": 5}, "threshold": 0.6}
    pipeline.add_pipe("spancat", config={**config, "spans_key": key})
    return train(pipeline, make_examples(pipeline, key), steps=12)


def by_group(table, group):
    return {row.name: row for row in table.rows if row.group == group}


def values(row):
    """As spaCy writes them: zero where there is nothing to divide by."""
    return {letter: getattr(row, letter).value or 0.0 for letter in "prf"}


def check_scores_of_spacy(table, scores):
    [row] = by_group(table, "all").values()
    assert values(row) == {letter: scores[f"spans_sc_{letter}"] for letter in "prf"}
    for name, row in by_group(table, "level").items():
        assert values(row) == {letter: scores[f"spans_sc_{name}_{letter}"] or 0.0 for letter in "prf"}
    assert {name: values(row) for name, row in by_group(table, "label").items()} == scores["spans_sc_per_type"]
    assert {name: values(row) for name, row in by_group(table, "depth").items()} == scores["spans_sc_per_depth"]


def test_numbers_are_those_of_spacy_evaluate(folder, nlp, judged):
    scores = nlp.evaluate(list(Corpus(folder / "dev.spacy")(nlp)))
    assert 0 < scores["spans_sc_nested_f"] < 1
    check_scores_of_spacy(score_table(judged), scores)


@pytest.mark.slow
def test_numbers_of_spancat(folder):
    pipeline = spancat()
    table = score_table(predict(pipeline, read_records(folder / "dev.spacy"), thresholds=()))
    examples = list(Corpus(folder / "dev.spacy")(pipeline))
    assert table.rows[0].f.value == pipeline.evaluate(examples)["spans_sc_f"] > 0
    # spancat has no scores by depth; those of nested_ner are for any mentions.
    processed = [Example(pipeline(example.predicted), example.reference) for example in examples]
    check_scores_of_spacy(table, nested_ner_score(processed, spans_key="sc"))


def test_numbers_are_those_of_the_report(judged):
    numbers, table = measure(judged), score_table(judged)
    for ours, theirs in (("label", "by_label"), ("depth", "by_depth"), ("length", "by_length")):
        rows = by_group(table, ours)
        assert list(rows) == list(numbers[theirs]), "in the same order"
        for name, row in rows.items():
            expected = numbers[theirs][name]
            assert values(row) == {letter: expected[letter] for letter in "prf"}
            assert (row.gold, row.found, row.correct) == tuple(expected[k] for k in ("gold", "predicted", "correct"))


def test_intervals_are_around_the_scores(judged):
    table = score_table(judged, Resampling(300))
    assert table.documents == 3
    for row in table.rows[:3]:
        for estimate in (row.p, row.r, row.f):
            assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert score_table(judged, Resampling(300)) == table
    assert score_table(judged, Resampling(300, seed=1)) != table


def test_one_document_has_scores_and_no_intervals(judged):
    [all_rows, *_] = score_table(judged[:1]).rows
    assert all_rows.f.value is not None
    assert all_rows.f[1:] == (None, None)
    row, *_ = difference_table(judged[:1], judged[:1]).rows
    assert (row.difference, row.p_value) == ((0.0, None, None), None)


def example(gold, found):
    words = [f"w{k}" for k in range(9)]
    return Judged("here", words, [(0, 9)], {Mention(*m) for m in gold}, {Mention(*m): 0.5 for m in found})


def test_rows_without_gold_have_no_recall_and_no_f():
    judged = [example([(0, 1, "A")], [(0, 1, "A"), (0, 2, "B")]), example([], [])]
    table = score_table(judged)
    row = by_group(table, "label")["B"]
    assert (row.gold, row.found, row.p.value, row.r.value, row.f.value) == (0, 1, 0.0, None, None)
    row = by_group(table, "level")["nested"]
    assert (row.gold, row.found, row.p.value) == (0, 1, 1.0)
    row = by_group(score_table([example([(0, 1, "A")], [])]), "label")["A"]
    assert (row.p.value, row.r.value, row.f.value) == (None, 0.0, 0.0)


def test_a_better_pipeline_is_better():
    gold = [(0, 3, "A"), (1, 2, "B"), (4, 5, "A")]
    good, poor = [example(gold, gold[:2])] * 12, [example(gold, gold[:1])] * 6 + [example(gold, [(0, 9, "C")])] * 6
    table = difference_table(good, poor)
    row = table.rows[0]
    assert row.difference.value == row.f - row.other_f > 0
    assert 0 < row.difference.low < row.difference.value < row.difference.high
    assert row.p_value < 0.01
    assert list(by_group(table, "label")) == ["A", "B", "C"]
    assert by_group(table, "label")["C"].difference == (None, None, None)
    back = difference_table(poor, good).rows[0]
    assert back.difference.value == -row.difference.value
    assert back.p_value == pytest.approx(row.p_value, abs=0.01)


def test_tables_are_ready_for_json(judged):
    for table in (score_table(judged), difference_table(judged, judged)):
        content = table.as_dict()
        assert json.loads(json.dumps(content)) == content
        assert content["resampling"] == {"n": 1000, "seed": 0, "confidence": 0.95}
        assert content["rows"][0]["group"] == "all"


def test_only_the_same_documents_are_compared(judged):
    with pytest.raises(ValueError, match="3 and 2 documents with different gold mentions"):
        difference_table(judged, judged[:2])


def test_gold_under_another_key(nlp, judged):
    """The pipeline writes to "sc"; the data has its mentions elsewhere."""
    docs = [make_doc(nlp.vocab, SENTENCES[k : k + 2], key="gold") for k in range(0, len(SENTENCES), 2)]
    records = [Record(doc, "here") for doc in docs]
    assert score_table(predict(nlp, records, gold_key="gold", thresholds=())) == score_table(judged)
    assert predict(nlp, records) == []
