"""The page of the report."""

import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from nested_examples import SENTENCES, make_doc, trained

from spacy_nested_ner.corpus import Record
from spacy_nested_ner.decoders import Mention
from spacy_nested_ner.display.confidence_text import calibration_advice
from spacy_nested_ner.display.drawing_style import stylesheet
from spacy_nested_ner.display.page import render_page
from spacy_nested_ner.display.style import STYLE
from spacy_nested_ner.display.tables import percent, score_cells
from spacy_nested_ner.evaluation import Judged, measure, predict

VOID = {"meta", "br"}
SETTINGS = {"decoder": "CubicDecoder()", "max_span_length": 7, "threshold": None, "temperature": 1.0}
FACTS = {
    "model": "en_pipeline 0.0.0",
    "path": "training/model-best",
    "component": "nested_ner",
    "settings": SETTINGS,
    "data": ["dev.spacy"],
    "spans_key": "sc",
}


class Page(HTMLParser):
    """The tables, headings and text of a page, and what it would load. Tags must be closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text, self.loads, self.headings, self.rows = [], [], "", [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.loads += [value for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "h2":
            self.headings.append("")
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        if not self.open or self.open[-1] == "style":
            return
        self.text += data
        if self.open[-1] == "h2":
            self.headings[-1] += data
        elif {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def numbers():
    """Of a pipeline that has not learned enough."""
    nlp = trained(steps=6)
    parts = (SENTENCES[:1], SENTENCES[1:])
    records = [Record(make_doc(nlp.vocab, part), f"dev.spacy, document {n}") for n, part in enumerate(parts, 1)]
    return {**FACTS, **measure(predict(nlp, records))}


def test_the_page_is_one_file_with_all_sections(numbers):
    text = render_page(numbers)
    page = Page(text)
    assert page.loads == []
    assert "script" not in page.tags
    assert page.tags.count("svg") == 5
    assert page.headings == [
        "Scores",
        "Precision and recall over the threshold",
        "Calibration",
        "Errors found by reading the uncertain sentences first",
        "Confusion of labels",
        "Spurious mentions with the highest probability",
        "Sentences with the most surprising errors",
    ]
    assert text.count('class="nested-mentions"') == len(numbers["examples"]) > 0


def test_the_tables_have_the_numbers(numbers):
    page = Page(render_page(numbers))
    for kind in ("by_label", "by_length", "by_depth"):
        for name, row in numbers[kind].items():
            assert [name, f"{row['gold']:,}", f"{row['predicted']:,}", *score_cells(row), ""] in page.rows
    for row in numbers["scores"].values():
        assert f"precision {percent(row['p'])} · recall {percent(row['r'])}" in page.text
    for gold, counts in numbers["confusion"]["counts"].items():
        labels, missed = numbers["confusion"]["labels"], numbers["confusion"]["missed"][gold]
        assert [gold, *(str(counts.get(label, "")) for label in labels), str(missed or "")] in page.rows
    spurious = numbers["spurious"][0]
    row = next(row for row in page.rows if row[-1:] == [spurious["where"]])
    assert row[:2] == [f"{spurious['probability']:.2f}", spurious["label"]]


def test_flat_gold_has_no_curve_of_nested_recall(numbers):
    flat = {**numbers, "scores": {**numbers["scores"], "nested": {**numbers["scores"]["nested"], "gold": 0}}}
    assert "nested recall" in render_page(numbers)
    assert "nested recall" not in render_page(flat)


def judged(words, gold, found, **settings):
    gold, found = {Mention(*m) for m in gold}, {Mention(*m): p for m, p in found}
    return Judged("here", words, [(0, len(words))], gold, found, **settings)


def test_sections_without_numbers_are_left_out():
    unknown = {**FACTS, "component": None, "settings": None}
    page = Page(render_page({**unknown, **measure([judged(["Ada", "sings"], [(0, 1, "PER")], [])])}))
    assert page.headings == ["Scores", "Confusion of labels", "Sentences with the most surprising errors"]
    assert "Component unknown" in page.text
    page = Page(render_page({**FACTS, **measure([judged(["Ada"], [(0, 1, "PER")], [((0, 1, "PER"), 0.9)])])}))
    assert page.headings == ["Scores", "Calibration", "Confusion of labels"]


def test_a_depth_without_gold_has_no_recall():
    """Found inside a mention that is not there: depth 2 has a precision, and nothing to recall."""
    found = [((0, 3, "PER"), 0.9), ((2, 3, "GPE"), 0.9)]
    page = Page(render_page({**FACTS, **measure([judged(["Ada", "of", "Bonn"], [(2, 3, "GPE")], found)])}))
    assert ["2", "0", "1", "100.0", "–", "–", ""] in page.rows


def test_settings_are_shown():
    numbers = measure([judged(["Ada"], [(0, 1, "PER")], [((0, 1, "PER"), 0.9)])])
    text = Page(render_page({**FACTS, **numbers})).text
    assert "Decoder CubicDecoder()" in text
    assert "Longest mention 7 tokens" in text
    assert "Temperature 1 (not calibrated)" in text


def guesses(share_right, n=200, probability=0.95):
    """A document of one-word mentions, each found with the same probability."""
    gold = [(i, i + 1, "PER") for i in range(int(share_right * n))]
    return measure([judged(["Ada"] * n, gold, [((i, i + 1, "PER"), probability) for i in range(n)])])


def test_the_command_that_calibrates_is_shown_if_the_error_is_far_above_chance():
    text = render_page({**FACTS, **guesses(0.7)})
    command = "spacy nested-ner calibrate training/model-best DEV --output training/model-best-calibrated"
    assert f"<pre>{command}</pre>" in text
    assert "nested-ner calibrate" not in render_page({**FACTS, **guesses(0.95)})
    again = render_page({**FACTS, **guesses(0.7), "settings": {**SETTINGS, "temperature": 0.5}, "spans_key": "other"})
    assert "has been calibrated (temperature 0.50)" in again
    assert "model-best-calibrated --spans-key other</pre>" in again
    path = "my models/calibrated/"
    again = render_page({**FACTS, **guesses(0.7), "settings": {**SETTINGS, "temperature": 0.5}, "path": path})
    assert "calibrate &#x27;my models/calibrated&#x27; DEV --output &#x27;my models/calibrated-again&#x27;<" in again
    # Other components have no temperature.
    other = render_page({**FACTS, **guesses(0.7), "settings": None})
    assert "cannot be trusted" in other
    assert "<pre>" not in other


def test_the_command_that_calibrates_can_be_pasted():
    facts = {**FACTS, **guesses(0.7), "path": "my models/best/", "spans_key": "a key"}
    command = "spacy nested-ner calibrate 'my models/best' DEV --output 'my models/best-calibrated' --spans-key 'a key'"
    assert calibration_advice(facts)[1] == command


def test_the_page_has_a_dark_and_a_narrow_style(numbers):
    """Colors are variables with a light and a dark value, in plots too; every table can be scrolled."""
    text = render_page(numbers)
    assert "prefers-color-scheme: dark" in text
    blocks = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
    light, dark = (set(re.findall(r"(--[\w-]+):", block)) for block in blocks)
    assert light == dark
    used = set(re.findall(r"var\((--[\w-]+)", text.replace(stylesheet(), "")))
    assert used <= light | {"--share"}
    body = text[text.index("<body>") :]
    assert not re.search(r"#[0-9a-f]{3,6}\b", body), "a color that is the same in light and dark"
    assert body.count("<table") == len(re.findall(r'<div class="wide"><table', body))


def test_one_sentence_or_one_error_has_no_order():
    found = [((0, 1, "ORG"), 0.9)]
    one = measure([judged(["Ada"], [(0, 1, "PER")], found, segments=[(0, 1, 0.5)])])
    assert one["error_ranking"]["errors"] == 2
    assert "uncertain sentences" not in render_page({**FACTS, **one})
    words = ["Ada", "Bo"]
    right = judged(words, [(0, 1, "PER")], [((0, 1, "PER"), 0.9)], segments=[(0, 1, 0.5), (1, 2, 0.5)])
    wrong = judged(words, [(0, 1, "PER")], [], segments=[(0, 1, 0.5), (1, 2, 0.5)])
    two = measure([right, wrong])
    assert two["error_ranking"]["errors"] == 1
    assert "uncertain sentences" not in render_page({**FACTS, **two})
    assert "Half of the 2 errors" in render_page({**FACTS, **measure([wrong, wrong])})


def test_mentions_that_do_not_align_are_mentioned():
    numbers = measure([judged(["Ada"], [(0, 1, "PER")], [], unaligned=1234)])
    text = Page(render_page({**FACTS, **numbers})).text
    assert "1,234 mentions found with a border inside a token of the gold" in text
    assert "1 mention found with a border" in Page(render_page({**FACTS, **numbers, "unaligned": 1})).text


def test_text_is_escaped():
    words = ["<script>alert(1)</script>", "&", "co", "met", "Ghent"]
    found = [((4, 5, '<b>"x"'), 0.9)]
    numbers = {**FACTS, "data": ["a&b.txt"], **measure([judged(words, [(0, 3, "<i>")], found)])}
    text = render_page({**numbers, "model": "<u>"})
    page = Page(text)
    assert "<script>" not in text
    assert not {"script", "b>"} & set(page.tags)
    for shown in ("<script>alert(1)</script>", '<b>"x"', "<i>", "a&b.txt", "<u>"):
        assert shown in page.text


@pytest.mark.slow
def test_the_report_needs_no_matplotlib(tmp_path):
    program = "import sys, spacy_nested_ner.display.page; print('matplotlib' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("False\n", "")
