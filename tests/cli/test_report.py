"""`spacy nested-ner report`, as users call it."""

import json
import subprocess
import sys
from html.parser import HTMLParser

import pytest
import spacy
from commands import run
from nested_examples import SENTENCES, make_doc, make_examples, save_corpus, train, trained
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span, SpanGroup
from spacy.training import Corpus, Example

from spacy_nested_ner.corpus import Record
from spacy_nested_ner.decoders import Mention
from spacy_nested_ner.display.page import render_page
from spacy_nested_ner.display.sentences import lanes
from spacy_nested_ner.evaluation import Judged, measure, predict
from spacy_nested_ner.evaluation.measures import surprise

VOID = {"meta", "br"}


class Page(HTMLParser):
    """Text of a page whose tags must be closed in order, and what it would load."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text, self.loads = [], [], "", []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.loads += [value for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.text += data


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A pipeline that has not learned enough, and a corpus."""
    path = tmp_path_factory.mktemp("report")
    trained(steps=6).to_disk(path / "model")
    save_corpus(path / "dev.spacy")
    return path


@pytest.fixture(scope="module")
def made(folder):
    result = run("report", folder / "model", folder / "dev.spacy", "-o", folder / "new" / "out")
    assert result.exit_code == 0, result.output
    return result.output, folder / "new" / "out"


@pytest.fixture(scope="module")
def numbers(made):
    return json.loads((made[1] / "report.json").read_text(encoding="utf-8"))


def test_files_and_output(made):
    output, out = made
    assert sorted(path.name for path in out.iterdir()) == ["report.html", "report.json"]
    assert output.endswith(f"Saved {out / 'report.html'}\nSaved {out / 'report.json'}\n")
    assert output.splitlines()[0].split() == ["mentions", "P", "R", "F"]


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


def test_the_pipeline_keeps_its_threshold(folder):
    nlp = spacy.load(folder / "model")
    predict(nlp, [Record(make_doc(nlp.vocab, SENTENCES), "here")])
    assert nlp.get_pipe("nested_ner").cfg["threshold"] is None


def test_probabilities_of_gold_are_those_of_the_component(folder):
    nlp = spacy.load(folder / "model")
    [each] = predict(nlp, [Record(make_doc(nlp.vocab, SENTENCES), "here")])
    assert set(each.probabilities) == each.gold
    both = each.gold & set(each.found)
    assert both
    for mention in both:
        assert each.probabilities[mention] == pytest.approx(each.found[mention], abs=1e-6)


def test_the_page(made, numbers):
    text = (made[1] / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.loads == []
    assert "script" not in page.tags
    assert page.tags.count("svg") == 5
    for title in (
        "Scores",
        "threshold",
        "nested recall",
        "Calibration",
        "uncertain sentences first",
        "Confusion",
        "Spurious",
        "surprising errors",
    ):
        assert title in page.text
    for row in (*numbers["scores"].values(), *numbers["by_label"].values(), *numbers["by_length"].values()):
        for letter in "prf":
            assert f"{100 * row[letter]:.1f}" in page.text
    assert text.count('class="sentence"') == len(numbers["examples"]) > 0


def test_flat_gold_has_no_curve_of_nested_recall(numbers):
    flat = {**numbers, "scores": {**numbers["scores"], "nested": {**numbers["scores"]["nested"], "gold": 0}}}
    assert "nested recall" in render_page(numbers)
    assert "nested recall" not in render_page(flat)


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


def test_segments_are_counted_in_tokens_of_the_gold():
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("nested_ner", config={})
    reference = Doc(nlp.vocab, words=["Bonn.", "Ghent", "-based", "."], spaces=[True, False, False, False])
    reference.spans["sc"] = [Span(reference, 1, 2, label="GPE")]
    nlp.initialize(lambda: [Example(nlp.make_doc(reference.text), reference)])
    [each] = predict(nlp, [Record(reference, "here")], thresholds=())
    assert [segment[:2] for segment in each.segments] == [(0, 1), (1, 4)]


def test_without_entropies_there_is_no_ranking():
    assert measure([judged([(0, 1, "A")], [])])["error_ranking"] is None


def test_the_same_again(folder, made):
    again = folder / "again"
    run("report", folder / "model", folder / "dev.spacy", "-o", again)
    for name in ("report.html", "report.json"):
        assert (again / name).read_bytes() == (made[1] / name).read_bytes()


def test_number_of_examples(folder, tmp_path):
    assert run("report", folder / "model", folder / "dev.spacy", "-o", tmp_path, "-n", 1).exit_code == 0
    numbers = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert len(numbers["examples"]) == 1


def test_text_is_escaped(folder, tmp_path):
    data = tmp_path / "a&b.txt"
    data.write_text('[PER <script>alert(1)</script> & co] met [<b>"x" Ghent] .\n', encoding="utf-8")
    result = run("report", folder / "model", data, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    text = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    page = Page(text)
    assert "<script>" not in text
    assert not {"script", "b>"} & set(page.tags)
    assert "<script>alert(1)</script>" in page.text
    assert '<b>"x"' in page.text
    assert "a&b.txt" in page.text


def test_other_tokens_than_those_of_the_gold(folder):
    """The pipeline's own tokenizer is used, and what it found is brought back to the tokens of the gold."""
    nlp = spacy.load(folder / "model")
    words = ["The", "army", "of", "Ger", "many", "left", "Ghent."]
    doc = Doc(nlp.vocab, words=words, spaces=[word not in ("Ger", "Ghent.") for word in words])
    doc.spans["sc"] = [Span(doc, 0, 5, label="ORG"), Span(doc, 3, 5, label="GPE")]
    [each] = predict(nlp, [Record(doc, "here")], thresholds=[0.5])
    scores = nlp.evaluate([Example(nlp.make_doc(doc.text), doc)])
    numbers = measure([each])["scores"]["all"]
    assert (numbers["p"], numbers["r"]) == (scores["spans_sc_p"], scores["spans_sc_r"])
    assert Mention(3, 5, "GPE") in each.probabilities
    assert each.unaligned + len(each.found) == len(nlp(doc.text).spans["sc"])


def test_spancat(tmp_path):
    nlp = spacy.blank("en")
    config = {"suggester": {"@misc": "spacy.ngram_range_suggester.v1", "min_size": 1, "max_size": 5}, "threshold": 0.6}
    nlp.add_pipe("spancat", config=config)
    train(nlp, make_examples(nlp), steps=12).to_disk(tmp_path / "model")
    save_corpus(tmp_path / "dev.spacy")
    result = run("report", tmp_path / "model", tmp_path / "dev.spacy", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    numbers = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    scores = nlp.evaluate(list(Corpus(tmp_path / "dev.spacy")(nlp)))
    assert numbers["component"] == "spancat"
    assert numbers["scores"]["all"]["f"] == scores["spans_sc_f"] > 0
    assert numbers["thresholds"][0]["predicted"] > numbers["scores"]["all"]["predicted"]


@Language.component("test_report_capitals")
def capitals(doc):
    """Every capitalised word is a mention, with a score by its length."""
    spans = [Span(doc, token.i, token.i + 1, label="GPE") for token in doc if token.is_title]
    scores = [min(1.0, len(span.text) / 10) for span in spans]
    doc.spans["sc"] = SpanGroup(doc, name="sc", spans=spans, attrs={"scores": scores})
    return doc


def test_a_component_without_threshold_is_filtered_by_its_scores():
    nlp = spacy.blank("en")
    nlp.add_pipe("test_report_capitals")
    [each] = predict(nlp, [Record(make_doc(nlp.vocab, SENTENCES), "here")], thresholds=[0.5, 0.7])
    assert {each.words[mention.start] for mention in each.at[0.7]} == {"Germany"}
    assert set(each.at[0.7]) < set(each.at[0.5]) < set(each.found)


# ---- numbers by hand ----


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


def test_surprise():
    each = judged([(0, 1, "A"), (2, 3, "A")], [((4, 5, "A"), 0.75), ((0, 1, "A"), 0.5)])
    each.at = {0.1: {Mention(2, 3, "A"): 0.25}}
    [example] = measure([each])["examples"]
    assert example["surprise"] == pytest.approx(2 + 2)
    assert [mention["correct"] for mention in example["gold"]] == [True, False]
    assert surprise(0.0, True) == pytest.approx(surprise(1.0, False))
    assert surprise(0.0, True) < 7


def test_outer_mentions_are_further_from_the_words():
    spans = [(0, 5), (0, 2), (3, 5), (4, 6)]
    found = lanes([{"start": start, "end": end, "label": "A"} for start, end in spans])
    assert [[(m["start"], m["end"]) for m in lane] for lane in found] == [[(0, 2), (3, 5)], [(4, 6)], [(0, 5)]]


def test_nothing_found():
    numbers = measure([judged([(0, 1, "A")], [])])
    assert numbers["scores"]["all"]["f"] == 0
    assert numbers["calibration"]["ece"] is None


# ---- errors ----


def fails(*arguments):
    result = run("report", *arguments)
    assert result.exit_code == 1, result.output
    assert "Traceback" not in result.output
    return result.output


def test_no_component_that_writes_mentions(folder, tmp_path):
    nlp = spacy.blank("en")
    nlp.to_disk(tmp_path / "blank")
    text = fails(tmp_path / "blank", folder / "dev.spacy", "-o", tmp_path / "out")
    assert "looked for a component that writes mentions to doc.spans['sc']" in text
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "sentencizer")
    text = fails(tmp_path / "sentencizer", folder / "dev.spacy", "-o", tmp_path / "out")
    assert "such as nested_ner or spancat; the pipeline has sentencizer" in text


def test_another_key(folder, tmp_path):
    text = fails(folder / "model", folder / "dev.spacy", "-o", tmp_path / "out", "-k", "other")
    assert "writes to doc.spans['other']: nested_ner to doc.spans['sc']; see --spans-key" in text


def test_no_gold_under_the_key(folder, tmp_path):
    save_corpus(tmp_path / "dev.spacy", key="other")
    text = fails(folder / "model", tmp_path / "dev.spacy", "-o", tmp_path / "out")
    assert "Error: no mention found in" in text
    assert "doc.spans['sc']" in text


def test_documents_without_gold_are_left_out_and_reported(folder, tmp_path):
    vocab = spacy.blank("en").vocab
    docs = [make_doc(vocab, SENTENCES), make_doc(vocab, SENTENCES, key=None)]
    DocBin(docs=docs).to_disk(tmp_path / "dev.spacy")
    result = run("report", folder / "model", tmp_path / "dev.spacy", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "documents without spans['sc']: 1" in result.output
    assert json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))["documents"] == 1


def test_no_such_model_or_data(folder, tmp_path):
    assert "Error: " in fails(tmp_path / "none", folder / "dev.spacy", "-o", tmp_path / "out")
    text = fails(folder / "model", tmp_path / "none.spacy", "-o", tmp_path / "out")
    assert "none.spacy: no such file or folder" in text


def test_folder_that_cannot_be_written(folder, tmp_path):
    (tmp_path / "file").write_text("here")
    text = fails(folder / "model", folder / "dev.spacy", "-o", tmp_path / "file")
    assert f"cannot write to the folder {tmp_path / 'file'}" in text


def test_help():
    assert "report" in run("--help").output
    text = run("report", "--help").output
    for (
        option
    ) in "MODEL DATA --output --examples --gold-tokens --gpu-id --from --spans-key --misaligned --skip-bad".split():
        assert option in text


def test_the_report_needs_no_matplotlib(tmp_path):
    program = "import sys, spacy_nested_ner.display.page; print('matplotlib' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("False\n", "")
