"""The pipe in a pipeline: everything a component of spaCy's own does."""

import pickle
import threading

import numpy as np
import pytest
import spacy
from nested_examples import SENTENCES, TINY, expected, found, make_doc, make_examples, plain, train, trained
from spacy.training import Example
from spacy.util import fix_random_seed, load_config_from_str, load_model_from_config
from thinc.api import SGD, Adam, Model, RAdam

from spacy_nested_ner import load_sample
from spacy_nested_ner.pipeline import component
from spacy_nested_ner.pipeline.component import NestedNER


def test_learns_nested_mentions(nlp):
    for k in range(0, len(SENTENCES), 2):
        group = SENTENCES[k : k + 2]
        assert found(nlp.get_pipe("nested_ner")(plain(nlp, group))) == expected(group)
    scores = nlp.evaluate(make_examples(nlp))
    assert scores["spans_sc_f"] == 1
    assert scores["spans_sc_nested_f"] == 1


def test_training_knows_no_temperature(nlp):
    pipe = nlp.get_pipe("nested_ner")
    examples = make_examples(nlp)
    docs = [example.predicted for example in examples]
    losses = []
    try:
        for temperature in (1.0, 3.0):
            pipe.cfg["temperature"] = temperature
            losses.append(pipe.get_loss(examples, pipe.scores(docs))[0])
    finally:
        pipe.cfg["temperature"] = 1.0
    assert losses[0] == losses[1]


@pytest.mark.parametrize("optimizer", [Adam(0.01), RAdam(0.01), SGD(0.01)])
def test_a_learning_rate_of_its_own(optimizer):
    pipe = spacy.blank("en").add_pipe("nested_ner", config=TINY)
    moved = []
    for scale in (20.0, 1.0):
        pipe.cfg["learn_rate_scale"] = scale
        pipe.model = Model("weights", lambda *_: None, params={"W": np.zeros((1, 3), "f")})
        pipe.model.set_grad("W", np.ones((1, 3), "f"))
        pipe.finish_update(optimizer)
        moved.append(pipe.model.get_param("W"))
        assert optimizer.learn_rate == 0.01
    assert moved[1].all()
    np.testing.assert_allclose(moved[0], 20 * moved[1], rtol=1e-5)


def test_labels_can_be_added_to_a_trained_model():
    nlp = trained()
    pipe = nlp.get_pipe("nested_ner")
    before = found(pipe(plain(nlp, SENTENCES)))
    assert pipe.add_label("PER") == 0
    assert pipe.add_label("WEA") == 1
    assert pipe.model.get_dim("nO") == 5
    assert found(pipe(plain(nlp, SENTENCES))) == before
    sentence = ("They found a sword .", [(2, 4, "WEA")])
    example = Example(plain(nlp, [sentence]), make_doc(nlp.vocab, [sentence]))
    optimizer = nlp.resume_training()
    optimizer.learn_rate = 0.01
    for _ in range(60):
        nlp.update([example, *make_examples(nlp)], sgd=optimizer)
    assert found(pipe(plain(nlp, [sentence]))) == [(2, 4, "WEA")]
    with pytest.raises(ValueError, match="E187"):
        pipe.add_label(3)


def test_dropout_changes_the_loss_of_a_batch_and_nothing_that_is_predicted():
    nlp = trained(steps=2)
    pipe = nlp.get_pipe("nested_ner")
    examples = make_examples(nlp)
    before = pipe.scores([plain(nlp, SENTENCES)]).packed().values

    def loss(drop):
        fix_random_seed(0)
        return pipe.update(examples, drop=drop)["nested_ner"]

    assert loss(0.0) == loss(0.0) != loss(0.5) == loss(0.5)
    np.testing.assert_array_equal(pipe.scores([plain(nlp, SENTENCES)]).packed().values, before)


@pytest.mark.parametrize("labels", [[], ["PER"]])
@pytest.mark.parametrize("decoder", ["AutoDecoder", "CubicDecoder"])
def test_a_component_that_was_not_initialized_says_so(decoder, labels):
    """As spaCy's own components do: E109 from `nlp(text)`; for spancat, `update` is a KeyError."""
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("nested_ner", config={**TINY, "decoder": decoder})
    for label in labels:
        pipe.add_label(label)
    example = make_examples(nlp)[0]
    for run in (
        lambda: nlp("Nobody spoke ."),
        lambda: list(nlp.pipe(["Nobody spoke ."])),
        lambda: pipe.scores([example.predicted]),
        lambda: nlp.update([example]),
        lambda: nlp.evaluate([example]),
    ):
        with pytest.raises(
            ValueError, match=r"\[E109\] Component 'nested_ner' could not be run. Did you forget to call"
        ):
            run()
    assert len(nlp("").spans["sc"]) == 0


def test_rehearsing_leaves_a_component_that_cannot_rehearse_alone():
    nlp = trained(steps=2)
    weights = nlp.get_pipe("nested_ner").model.to_bytes()
    optimizer = nlp.resume_training()
    assert nlp.rehearse(make_examples(nlp), sgd=optimizer) == {}
    assert nlp.get_pipe("nested_ner").model.to_bytes() == weights


def test_an_update_segments_every_doc_once(monkeypatch):
    nlp = trained(steps=2)
    pipe = nlp.get_pipe("nested_ner")
    segmented = []
    segments = NestedNER.segments
    monkeypatch.setattr(NestedNER, "segments", lambda self, doc: segmented.append(doc) or segments(self, doc))
    examples = make_examples(nlp)
    pipe.update(examples)
    assert len(segmented) == len(examples)


@pytest.mark.parametrize("name", ["Flat", "Quadratic", "Cubic"])
def test_every_decoder_trains(name):
    decoder = {"@misc": f"spacy-nested-ner.{name}Decoder.v1"}
    if name == "Flat":
        with pytest.warns(
            UserWarning, match=r"are outside the search space of FlatDecoder .*: QuadraticDecoder keeps 7 more"
        ):
            nlp = trained({"decoder": decoder})
    else:
        nlp = trained({"decoder": decoder})
    assert nlp.evaluate(make_examples(nlp))["spans_sc_p"] == 1


def test_several_labels_on_a_span():
    sentence = ("Brussels agreed .", [(0, 1, "GPE"), (0, 1, "ORG")])
    decoder = {"@misc": "spacy-nested-ner.QuadraticDecoder.v1", "multi_label": True}
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("nested_ner", config={**TINY, "decoder": decoder})
    examples = [Example(plain(nlp, [sentence]), make_doc(nlp.vocab, [sentence])), *make_examples(nlp)]
    train(nlp, examples)
    assert found(pipe(plain(nlp, [sentence]))) == [(0, 1, "GPE"), (0, 1, "ORG")]


def same(nlp, other):
    docs = [plain(nlp, SENTENCES[:4]), plain(nlp, SENTENCES)]
    others = [plain(other, SENTENCES[:4]), plain(other, SENTENCES)]
    return [found(nlp.get_pipe("nested_ner")(d)) for d in docs] == [
        found(other.get_pipe("nested_ner")(d)) for d in others
    ]


@pytest.mark.slow
def test_to_and_from_disk_bytes_and_pickle(nlp, tmp_path):
    nlp.to_disk(tmp_path / "pipeline")
    loaded = spacy.load(tmp_path / "pipeline")
    pipe = loaded.get_pipe("nested_ner")
    assert isinstance(pipe, NestedNER)
    assert pipe.span_limit == nlp.get_pipe("nested_ner").span_limit == 6
    assert same(nlp, loaded)
    fresh = load_model_from_config(nlp.config, auto_fill=True)
    assert same(nlp, fresh.from_bytes(nlp.to_bytes()))
    assert same(nlp, pickle.loads(pickle.dumps(nlp)))


def test_damaged_or_mismatching_files(nlp, tmp_path):
    nlp.to_disk(tmp_path / "pipeline")
    model = tmp_path / "pipeline" / "nested_ner" / "model"
    whole = model.read_bytes()
    model.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"cannot load the component 'nested_ner' from .*damaged"):
        spacy.load(tmp_path / "pipeline")
    model.write_bytes(whole)
    cfg = tmp_path / "pipeline" / "nested_ner" / "cfg"
    cfg.write_text(cfg.read_text().replace('"FAC"', '"FAC","WEA"', 1))
    with pytest.raises(ValueError, match="has 5 labels in its cfg, but a model for 4"):
        spacy.load(tmp_path / "pipeline")


@pytest.mark.slow
def test_processes_and_threads(nlp):
    docs = [plain(nlp, SENTENCES[k % 5 : k % 5 + 2]) for k in range(24)]
    expect = [found(nlp.get_pipe("nested_ner")(plain(nlp, SENTENCES[k % 5 : k % 5 + 2]))) for k in range(24)]
    assert [found(doc) for doc in nlp.pipe(docs, n_process=2, batch_size=4)] == expect
    results: list = [None] * 4

    def work(k):
        fresh = [plain(nlp, SENTENCES[j % 5 : j % 5 + 2]) for j in range(24)]
        results[k] = [found(doc) for doc in nlp.pipe(fresh)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expect] * 4


SHARED = """
[nlp]
lang = "en"
pipeline = ["tok2vec", "sentencizer", "nested_ner"]

[components]

[components.sentencizer]
factory = "sentencizer"

[components.tok2vec]
factory = "tok2vec"

[components.tok2vec.model]
@architectures = "spacy.HashEmbedCNN.v2"
pretrained_vectors = null
width = 32
depth = 1
embed_size = 200
window_size = 1
maxout_pieces = 2
subword_features = true

[components.nested_ner]
factory = "nested_ner"

[components.nested_ner.model]
@architectures = "spacy-nested-ner.SpanScorer.v1"

[components.nested_ner.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 32
"""


@pytest.mark.slow
def test_shared_tok2vec_frozen_annotating_and_replaced_listeners():
    nlp = load_model_from_config(load_config_from_str(SHARED), auto_fill=True)
    examples = make_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    for _ in range(80):
        nlp.update(examples, sgd=optimizer, annotates=["sentencizer"])
    assert nlp.evaluate(examples)["spans_sc_f"] > 0.9
    before = [found(nlp(plain(nlp, SENTENCES)))]
    nlp.replace_listeners("tok2vec", "nested_ner", ["model.tok2vec"])
    assert [found(nlp(plain(nlp, SENTENCES)))] == before
    weights = nlp.get_pipe("nested_ner").model.get_ref("scorer").get_param("W").copy()
    nlp.update(examples, sgd=optimizer, exclude=["nested_ner"])
    np.testing.assert_array_equal(weights, nlp.get_pipe("nested_ner").model.get_ref("scorer").get_param("W"))


def test_averages_are_up_to_date_when_they_are_used():
    """The optimizer touches only rows that had a gradient; their averages follow when somebody asks for them."""
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("nested_ner", config={"model": {"hidden_width": 16, "subword_rows": 50}})
    examples = make_examples(nlp)
    nlp.initialize(lambda: examples)
    optimizer = Adam(0.001, use_averages=True)
    (words,) = (node for node in pipe.model.walk() if node.name == "with_words")
    expected = np.zeros_like(words.get_param("E"))
    for step in range(1, 4):
        nlp.update(examples[step - 1 : step], sgd=optimizer)
        words.ops.update_averages(expected, words.get_param("E"), step)
    before = words.get_param("E").copy()
    with nlp.use_params(optimizer.averages):
        np.testing.assert_allclose(words.get_param("E"), expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(words.get_param("E"), before)


def test_docs_that_are_scored_one_by_one_have_the_same_mentions(monkeypatch):
    nlp = load_sample()
    pipe = nlp.get_pipe("nested_ner")
    texts = ["The mayor of Saltmere met the owner of the ferry.", "", "A lawyer for the wife of the mayor left.", "No."]
    docs = list(nlp.pipe(texts))
    together = pipe.predict(docs)
    monkeypatch.setattr(component, "_SCORES_TOGETHER", 1)
    assert [len(some) for some in pipe._in_parts(docs)] == [1, 1, 1, 1]
    one_by_one = pipe.predict(docs)
    assert [found.mentions for found in one_by_one] == [found.mentions for found in together]
    assert [found.entropy for found in one_by_one] == pytest.approx([found.entropy for found in together], rel=1e-4)
