"""How good a pipeline is, in numbers."""

import pytest
import spacy
from nested_examples import SENTENCES, make_doc
from spacy.training import Corpus

from spacy_nested_ner.corpus import Record, read_records
from spacy_nested_ner.decoders import Mention
from spacy_nested_ner.evaluation import Judged, measure, predict


@pytest.fixture(scope="module")
def numbers(folder):
    return measure(predict(spacy.load(folder / "model"), read_records(folder / "dev.spacy")))


def test_numbers_are_those_of_spacy_evaluate(folder, numbers):
    nlp = spacy.load(folder / "model")
    scores = nlp.evaluate(list(Corpus(folder / "dev.spacy")(nlp)))
    assert 0 < scores["spans_sc_f"] < 1
    for letter in "prf":
        assert numbers["scores"]["all"][letter] == scores[f"spans_sc_{letter}"]
        assert numbers["scores"]["first_level"][letter] == scores[f"spans_sc_first_level_{letter}"]
        assert numbers["scores"]["nested"][letter] == scores[f"spans_sc_nested_{letter}"]
    for ours, theirs in (("by_label", "spans_sc_per_type"), ("by_depth", "spans_sc_per_depth")):
        found = {name: {letter: row[letter] for letter in "prf"} for name, row in numbers[ours].items()}
        assert found == scores[theirs]


def test_parts_add_up(numbers):
    total = numbers["scores"]["all"]
    assert (numbers["sentences"], numbers["mentions"]) == (6, sum(len(mentions) for _, mentions in SENTENCES))
    for kind in ("by_label", "by_length"):
        for name in ("gold", "predicted", "correct"):
            assert sum(row[name] for row in numbers[kind].values()) == total[name]
    assert sum(row["mentions"] for row in numbers["calibration"]["bins"]) == total["predicted"]
    confusion = numbers["confusion"]
    for label in confusion["labels"]:
        row = confusion["counts"][label]
        assert sum(row.values()) + confusion["missed"][label] == numbers["by_label"][label]["gold"]
        column = [counts.get(label, 0) for counts in confusion["counts"].values()]
        assert sum(column) + confusion["spurious"][label] == numbers["by_label"][label]["predicted"]


def test_the_threshold_trades_precision_for_recall(numbers):
    rows = numbers["thresholds"]
    assert [row["threshold"] for row in rows] == [n / 100 for n in range(5, 100, 5)]
    assert rows[0]["predicted"] > rows[-1]["predicted"]
    assert rows[0]["r"] > rows[-1]["r"]
    assert 1 >= rows[0]["nested_r"] > rows[-1]["nested_r"]
    assert numbers["best_threshold"] in [row["threshold"] for row in rows]


def test_errors_are_ranked_by_entropy(folder):
    """Sentences of the data, one by one; all errors are somewhere, and entropies are the component's own."""
    nlp = spacy.load(folder / "model")
    [each] = predict(nlp, [Record(make_doc(nlp.vocab, SENTENCES), "here")], gold_tokens=True, thresholds=())
    assert [segment[:2] for segment in each.segments] == each.sentences
    doc = nlp.get_pipe("nested_ner")(make_doc(nlp.vocab, SENTENCES, key=None))
    total = sum(entropy for _, _, entropy in each.segments)
    assert total == pytest.approx(doc.spans["sc"].attrs["entropy"], rel=1e-5)
    result = measure([each])["error_ranking"]
    assert result["segments"] == len(SENTENCES)
    assert result["errors"] == len(each.gold ^ set(each.found)) > 0
    for kind in ("by_segments", "by_words"):
        areas = {name: row["area"] for name, row in result[kind].items()}
        assert areas["best"] >= max(areas["entropy"], areas["length"])
    assert result["by_segments"]["length"]["half"] < 1


def test_without_entropies_there_is_no_ranking():
    assert measure([judged([(0, 1, "A")], [])])["error_ranking"] is None


def judged(gold, found, **kwargs):
    words = [f"w{k}" for k in range(6)]
    return Judged("here", words, [(0, 6)], {Mention(*m) for m in gold}, {Mention(*m): p for m, p in found}, **kwargs)


def test_confusion_of_several_labels_on_a_span():
    gold = [(0, 1, "A"), (0, 1, "B"), (2, 3, "A"), (4, 5, "B")]
    found = [((0, 1, "A"), 0.9), ((0, 1, "C"), 0.6), ((2, 4, "A"), 0.8)]
    confusion = measure([judged(gold, found)])["confusion"]
    assert confusion["labels"] == ["A", "B", "C"]
    assert confusion["counts"] == {"A": {"A": 1}, "B": {"C": 1}, "C": {}}
    assert confusion["missed"] == {"A": 1, "B": 1, "C": 0}
    assert confusion["spurious"] == {"A": 1, "B": 0, "C": 0}


def test_calibration_error():
    found = [((0, 1, "A"), 0.95), ((1, 2, "A"), 0.85), ((2, 3, "A"), 0.81), ((3, 4, "A"), 1.0)]
    calibration = measure([judged([(0, 1, "A"), (1, 2, "A")], found)])["calibration"]
    assert [row["mentions"] for row in calibration["bins"]] == [0] * 8 + [2, 2]
    assert calibration["bins"][8]["probability"] == pytest.approx(0.83)
    assert calibration["bins"][8]["correct"] == 0.5
    assert calibration["ece"] == pytest.approx(0.5 * (0.83 - 0.5) + 0.5 * (0.975 - 0.5))


def test_nothing_found():
    numbers = measure([judged([(0, 1, "A")], [])])
    assert numbers["scores"]["all"]["f"] == 0
    assert numbers["calibration"]["ece"] is None
