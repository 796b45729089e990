"""What is behind the page: texts are scored once and decoded as often as needed, exactly."""

import contextlib
import io
from itertools import product
from math import exp

import numpy as np
import pytest
import spacy
from nested_examples import make_doc
from spacy.tokens import DocBin
from spacy.training import Example

from spacy_nested_ner import load_sample
from spacy_nested_ner.corpus import Record, read_docs, read_records
from spacy_nested_ner.decoders import Mention
from spacy_nested_ner.display.explorer.comparison import compare
from spacy_nested_ner.display.explorer.corrections import Judgment, Mark, corrected_docs, file_content
from spacy_nested_ner.display.explorer.exports import Part, as_brackets, as_python
from spacy_nested_ner.display.explorer.scoring import RefusedError, Scorer
from spacy_nested_ner.display.explorer.sentences import Corpus, Filter
from spacy_nested_ner.display.explorer.settings import ViewSettings
from spacy_nested_ner.display.explorer.view import View
from spacy_nested_ner.evaluation.error_types import classify_errors

TEXT = "A lawyer for the wife of the president of France arrived at the airport of Lima."
UNSURE = "The owner of the ferry and the harbor called the police."


def view_of(scorer, text=TEXT, **settings):
    return View.of(scorer, scorer.text(text), ViewSettings(**{**scorer.settings.as_dict(), **settings}))


# ---- scores and settings ----


def test_a_view_with_the_settings_of_the_pipeline_is_what_the_pipeline_finds(scorer):
    doc = scorer.nlp(TEXT)
    view = view_of(scorer)
    found = [(span.start, span.end, span.label_) for span in doc.spans["sc"]]
    assert list(view.mentions) == found
    assert list(view.mentions.values()) == pytest.approx(doc.spans["sc"].attrs["scores"].tolist())
    assert view.prediction.log_probability == pytest.approx(doc.spans["sc"].attrs["log_probability"])
    assert view.doc.spans["sc"].attrs["entropy"] == pytest.approx(doc.spans["sc"].attrs["entropy"])
    assert "sc" not in scorer.text(TEXT).doc.spans, "the text itself is not changed"


def test_the_network_runs_once_per_text(scorer):
    text = "Nobody has seen this text before."
    before = scorer.runs
    for decoder, threshold, temperature in product(("flat", "quadratic", "cubic"), (None, 0.3), (0.5, 2.0)):
        view = view_of(scorer, text, decoder=decoder, threshold=threshold, temperature=temperature)
        view.heat_map(0, 3)
        view.competitors(0, 3, n_samples=10)
    assert scorer.runs == before + 1


def test_scores_that_were_not_asked_for_lately_are_dropped(monkeypatch):
    monkeypatch.setattr("spacy_nested_ner.display.explorer.scoring.KEPT_TEXTS", 2)
    scorer = Scorer(load_sample())
    for text in ("One.", "Two.", "One.", "Three.", "One."):
        scorer.text(text)
    assert scorer.runs == 3
    scorer.text("Two.")
    assert scorer.runs == 4


def test_texts_with_too_many_spans_are_refused():
    scorer = Scorer(load_sample(), most_scores=1000)
    assert scorer.text("Short.")
    with pytest.raises(RefusedError, match=r"The text has 100 tokens and 12,103 possible mentions; expected at most"):
        scorer.text("word " * 100)


def test_pipelines_without_the_component_are_refused():
    with pytest.raises(ValueError, match="has no component nested_ner, but no components; train one"):
        Scorer(spacy.blank("en"))
    with pytest.raises(ValueError, match=r"no nested_ner writes to doc.spans\['other'\]: nested_ner writes to 'sc'"):
        Scorer(load_sample(), "other")


@pytest.mark.parametrize("text", ["", " ", "\n"])
def test_texts_without_words(scorer, text):
    view = view_of(scorer, text)
    assert len(view.mentions) == len(scorer.nlp(text).spans["sc"])
    assert view.doc.text == text
    assert compare(view).differing == set()


# ---- looking into it ----


def test_the_heat_map_has_all_probable_spans(scorer):
    view = view_of(scorer, UNSURE)
    n = len(view.doc)
    cells = {(cell.start, cell.end): cell.probabilities for cell in view.heat_map(0, n)}
    (dense,) = view.distribution.marginals.unpack(0.0)
    for i, j in zip(*np.triu_indices(n)):
        expected = {view.labels[k]: p for k, p in enumerate(dense[i, j]) if p >= 0.001}
        assert cells.get((i, j + 1), {}) == pytest.approx(expected)
    first = next(iter(cells.values()))
    assert list(first.values()) == sorted(first.values(), reverse=True)


def test_alternatives_overlap_and_are_sorted(scorer):
    view = view_of(scorer, UNSURE)
    police = next(m for m in view.mentions if view.doc[m.start : m.end].text == "the police")
    others = view.alternatives(police.start, police.end)
    assert {(o.mention.label, o.relation) for o in others} >= {("ORG", "same span")}
    assert [o.probability for o in others] == sorted((o.probability for o in others), reverse=True)
    assert all(o.mention.start < police.end and police.start < o.mention.end for o in others)
    assert [o.found for o in others] == [o.mention in view.mentions for o in others]
    whole = view.alternatives(0, 8)
    assert {"same span", "inside"} <= {o.relation for o in whole}


@pytest.mark.parametrize("decoder", ["flat", "quadratic", "cubic"])
def test_competing_analyses_have_exact_probabilities(scorer, decoder):
    view = view_of(scorer, UNSURE, decoder=decoder, temperature=1.5)
    found = view.competitors(0, len(view.doc), n_samples=4000, most=6)
    assert found[0].mentions == list(view.mentions)
    assert found[0].probability == pytest.approx(exp(view.prediction.log_probability))
    rest = [other.probability for other in found[1:]]
    assert rest == sorted(rest, reverse=True)
    for other in found:
        assert other.share == pytest.approx(other.probability, abs=0.04), "samples are drawn with these probabilities"


def test_a_stretch_is_taken_on_its_own(scorer):
    """Given that no mention crosses its borders, it does not depend on the rest."""
    view = view_of(scorer, f"{UNSURE} {TEXT}", temperature=1.0)
    n = len(scorer.text(UNSURE).doc)
    everything = view.competitors(0, n, n_samples=2000, most=1000)
    assert sum(other.probability for other in everything) == pytest.approx(1, abs=0.1)
    assert all(m.end <= n for other in everything for m in other.mentions)


def test_long_texts_are_cut_outside_mentions(scorer):
    view = view_of(scorer, " ".join([UNSURE, TEXT] * 12))
    stretches = view.stretches
    assert [start for start, _ in stretches[1:]] == [end for _, end in stretches[:-1]]
    assert (stretches[0][0], stretches[-1][1]) == (0, len(view.doc))
    assert all(end - start <= 120 for start, end in stretches)
    assert all(view.doc[end - 1].text == "." for _, end in stretches)
    assert not [m for m in view.mentions for start, _ in stretches if m.start < start < m.end]


def test_places_outside_the_text_are_refused(scorer):
    view = view_of(scorer)
    for start, end in ((-1, 2), (3, 3), (0, 99)):
        with pytest.raises(RefusedError, match=rf"The span is {start}:{end}; expected 0 <= start < end <= 17"):
            view.heat_map(start, end)
    with pytest.raises(RefusedError, match="The stretch has 130 tokens; expected at most 120"):
        view_of(scorer, "word " * 130).competitors(0, 130)


def test_decoders_are_compared_where_they_differ(scorer):
    view = view_of(scorer, f"Nobody left. {TEXT}")
    views, differing, stretches = compare(view)
    assert [each.settings.decoder for each in views] == ["flat", "quadratic", "cubic"]
    flat, _, cubic = (set(each.mentions) for each in views)
    assert cubic - flat <= differing
    assert not differing & flat & cubic & set(views[1].mentions)
    assert stretches == [(0, len(view.doc))], "short enough to be one"
    long = view_of(scorer, " ".join(["Nobody left."] * 30) + f" {TEXT}")
    assert compare(long).stretches == long.stretches[-1:]


# ---- gold ----


def test_errors_are_of_four_kinds_and_counted_once():
    gold = [Mention(0, 3, "PER"), Mention(2, 3, "GPE"), Mention(5, 7, "ORG"), Mention(9, 10, "LOC")]
    found = [Mention(0, 3, "ORG"), Mention(2, 3, "GPE"), Mention(5, 8, "ORG"), Mention(4, 6, "ORG"), Mention(8, 9, "X")]
    assert [(error.kind, error.gold, error.predicted) for error in classify_errors(gold, found)] == [
        ("label", (0, 3, "PER"), (0, 3, "ORG")),
        ("spurious", None, (4, 6, "ORG")),
        ("boundary", (5, 7, "ORG"), (5, 8, "ORG")),
        ("spurious", None, (8, 9, "X")),
        ("missed", (9, 10, "LOC"), None),
    ]
    assert classify_errors(gold, gold) == []


def test_sentences_of_a_corpus_can_be_filtered(corpus):
    assert corpus.scored == len(corpus) == 16
    assert len(corpus.sentences) == 73
    assert [sentence.number for sentence in corpus.find(Filter())] == list(range(73))
    wrong = corpus.find(Filter(error="any"))
    assert 0 < len(wrong) < 73
    assert set(wrong) == set().union(
        *(corpus.find(Filter(error=kind)) for kind in ("missed", "spurious", "label", "boundary"))
    )
    weapons = corpus.find(Filter(label="WEA", entropy=0.5, order="entropy"))
    assert weapons
    assert all("WEA" in sentence.labels and sentence.entropy >= 0.5 for sentence in weapons)
    assert [s.entropy for s in weapons] == sorted((s.entropy for s in weapons), reverse=True)
    assert corpus.find(Filter(order="errors"))[0].errors.total() == max(s.errors.total() for s in corpus.sentences)


def test_a_sentence_is_what_the_pipeline_finds_in_its_document(scorer, corpus):
    doc = scorer.nlp(corpus.document(2).copy())
    for sentence in (s for s in corpus.sentences if s.document == 2):
        view = View.of(scorer, corpus.scored_sentence(sentence.number), scorer.settings)
        start, end = [(sent.start, sent.end) for sent in doc.sents][sentence.segment]
        expected = [(s.start - start, s.end - start, s.label_) for s in doc.spans["sc"] if start <= s.start < end]
        assert list(view.mentions) == expected
        assert len(view.errors) == sentence.errors.total()
        assert [(s.start, s.end, s.label_) for s in view.gold_doc.spans["sc"]] == view.scored.gold


def test_a_failing_component_is_reported(scorer, monkeypatch):
    corpus = Corpus(scorer, read_records("assets/sample/dev.txt"))
    monkeypatch.setattr(scorer, "documents", lambda docs: 1 / 0)
    corpus.start()
    corpus.wait()
    assert corpus.failure == "The corpus could not be scored any further: division by zero"


def test_corpora_with_other_words_have_other_fingerprints(scorer):
    records = list(read_records("assets/sample/dev.txt"))
    same, other = (Corpus(scorer, some).fingerprint for some in (records, records[1:]))
    assert Corpus(scorer, records).fingerprint == same != other


def test_numbers_without_a_sentence_are_refused(scorer, corpus):
    with pytest.raises(RefusedError, match="There is no sentence 73 yet; expected 0 to 72"):
        corpus.sentence(73)
    with pytest.raises(RefusedError, match="There is no document -1; expected 0 to 15"):
        corpus.document(-1)
    with pytest.raises(RefusedError, match="none is ready"):
        Corpus(scorer, []).sentence(0)
    with pytest.raises(RefusedError, match="without --data"):
        corrected_docs(scorer, None, [Judgment(0, [])])


# ---- taking it away ----


def marks(*triples):
    return [Mark(Mention(start, end, label), verdict) for start, end, label, verdict in triples]


def test_corrections_train_as_incomplete_annotation(scorer, corpus, tmp_path):
    judgments = [
        Judgment(TEXT, marks((0, 9, "PER", "right"), (13, 16, "FAC", "wrong"), (12, 13, "FAC", "missing"))),
        Judgment("Ada sings.", marks((0, 1, "PER", "right")), complete=True),
        Judgment(5, marks((0, 1, "PER", "wrong"), (1, 2, "", "wrong"))),
    ]
    docs = corrected_docs(scorer, corpus, judgments)
    for format in ("spacy", "jsonl"):
        (tmp_path / f"c.{format}").write_bytes(file_content(docs, format, "sc"))
        first, second, third = read_docs(tmp_path / f"c.{format}")
        assert [(s.start, s.end, s.label_) for s in first.spans["sc"]] == [(0, 9, "PER"), (12, 13, "FAC")]
        assert first.spans["sc"].attrs["incomplete"] is True
        assert [(s.start, s.end, s.label_) for s in first.spans["sc_incorrect"]] == [(13, 16, "FAC")]
        assert "incomplete" not in second.spans["sc"].attrs
        sentence = corpus.sentence(5)
        start = corpus.scored_document(sentence.document).segments[sentence.segment][0]
        assert [(s.start, s.end, s.label_) for s in third.spans["sc_incorrect"]] == [
            (start, start + 1, "PER"),
            (start + 1, start + 2, ""),
        ]
        assert [token.text for token in third] == [token.text for token in corpus.document(sentence.document)]


def test_what_was_corrected_is_found_after_training(tmp_path):
    """From looking to a better model: the file as it is downloaded, into `nlp.update`."""
    nlp = load_sample()
    scorer = Scorer(nlp)
    text = "The captain of the lugger waited."
    wrong = Mention(3, 5, "VEH")
    view = view_of(scorer, text)
    mention = next(m for m in view.mentions if m.start == 3)
    other = "ORG" if mention.label != "ORG" else "LOC"
    docs = corrected_docs(
        scorer, None, [Judgment(text, marks((3, 5, mention.label, "wrong"), (3, 5, other, "missing")))]
    )
    (tmp_path / "corrections.spacy").write_bytes(file_content(docs, "spacy", "sc"))
    (reference,) = DocBin().from_disk(tmp_path / "corrections.spacy").get_docs(nlp.vocab)
    before = view.probability(wrong._replace(label=other))
    optimizer = nlp.resume_training()
    for _ in range(10):
        nlp.update([Example(nlp.make_doc(text), reference)], sgd=optimizer)
    after = view_of(Scorer(nlp), text)
    assert after.probability(wrong._replace(label=other)) > max(0.5, before)
    assert (3, 5, other) in after.mentions
    assert (3, 5, mention.label) not in after.mentions


@pytest.mark.parametrize(
    "given, message",
    [
        ((0, 99, "PER", "right"), "The mark on 0:99 is not a span of a text of 3 tokens"),
        ((0, 1, "", "right"), "The mention 0:1 has no label"),
        ((1, 2, "PER", "right"), "PER 'sings' is marked as right and as wrong"),
    ],
)
def test_marks_that_make_no_sense_are_refused(scorer, given, message):
    with pytest.raises(RefusedError, match=message):
        corrected_docs(scorer, None, [Judgment("Ada sings.", marks((1, 2, "", "wrong"), given))])


def test_a_document_is_complete_if_all_its_sentences_are(scorer):
    sentences = [("Ada sings .", []), ("Bob , too .", [])]
    corpus = Corpus(scorer, [Record(make_doc(scorer.nlp.vocab, sentences), "two, document 1")])
    corpus.start()
    corpus.wait()
    assert [s.where for s in corpus.sentences] == ["document 1, sentence 1", "document 1, sentence 2"]
    for n in (1, 2):
        judgments = [Judgment(number, marks((0, 1, "PER", "right")), complete=True) for number in range(n)]
        (doc,) = corrected_docs(scorer, corpus, judgments)
        assert doc.spans["sc"].attrs == ({"incomplete": True} if n == 1 else {})
        assert [span.start for span in doc.spans["sc"]] == [0, 3][:n]


def test_brackets(scorer):
    assert (
        as_brackets(view_of(scorer, "The mayor of Saltmere left [ .")) == r"[PER The mayor of [GPE Saltmere]] left \[ ."
    )


def output_of(program):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(program, {})
    return printed.getvalue().splitlines()


@pytest.mark.parametrize("settings", [{}, {"decoder": "flat", "threshold": 0.3, "temperature": 0.7}])
def test_the_python_code_makes_the_view(scorer, settings):
    view = view_of(scorer, TEXT, **settings)
    program = as_python(scorer, view.settings, model="sample", source=TEXT)
    printed = output_of(program)
    assert [line.split()[1] for line in printed] == [m.label for m in view.mentions]
    assert [float(line.split("%")[0]) for line in printed] == [round(100 * p) for p in view.mentions.values()]
    assert ("FlatDecoder" in program) == bool(settings)


def test_the_python_code_of_a_sentence_runs_its_document(scorer, corpus, tmp_path):
    sentence = next(s for s in corpus.sentences if s.segment == 1)
    scored = corpus.scored_document(sentence.document)
    part = Part(scored.doc, *scored.segments[1])
    view = View.of(scorer, corpus.scored_sentence(sentence.number), scorer.settings)
    scorer.nlp.to_disk(tmp_path / "model")
    printed = output_of(as_python(scorer, scorer.settings, model=str(tmp_path / "model"), source=part))
    assert [line.split()[1] for line in printed] == [m.label for m in view.mentions]
    assert [float(line.split("%")[0]) for line in printed] == [round(100 * p) for p in view.mentions.values()]
