"""Configs that fit a corpus."""

import re

import numpy as np
import pytest
import spacy
from small_corpora import CROSSING, DOUBLE, FLAT, NESTED, WIDE, save_docs
from spacy.tokens import Span
from spacy.util import load_model_from_config, registry
from spacy.vectors import Vectors
from thinc.api import Config

from spacy_nested_ner import init_config
from spacy_nested_ner.configs import read_template
from spacy_nested_ner.decoders import CubicDecoder, FlatDecoder, QuadraticDecoder


def config_of(plan):
    return Config().from_str(plan.text)


def why(plan, subject):
    (decision,) = [each for each in plan.decisions if each.subject == subject]
    return decision.value, decision.why


def initialized(plan):
    """The component as `spacy train` would begin with it."""
    config = config_of(plan)
    nlp = load_model_from_config(config, auto_fill=False, validate=True)
    read = registry.resolve({"reader": config["corpora"]["train"]})["reader"]
    nlp.initialize(lambda: read(nlp))
    return nlp.get_pipe("nested_ner")


@pytest.fixture
def train(tmp_path):
    return save_docs(tmp_path / "train.spacy", [NESTED, FLAT], [FLAT], [FLAT])


def test_paths_and_comments(train, tmp_path):
    dev = save_docs(tmp_path / "dev.spacy", [FLAT, FLAT])
    plan = init_config(train, dev, name="my configs/c.cfg")
    config = config_of(plan)
    assert config["paths"]["train"] == config["corpora"]["train"]["path"] == train.as_posix()
    assert config["paths"]["dev"] == config["corpora"]["dev"]["path"] == dev.as_posix()
    assert plan.text.startswith(
        "# Made by `spacy nested-ner init` for train.spacy: 3 documents, 29 words.\n"
        '# Comments that begin with "These data" say what was found there.\n'
        "#\n"
        "#   spacy train 'my configs/c.cfg' -o training\n"
        "\n"
        "[paths]\n"
    )
    rest = read_template("tok2vec").partition("\n\n")[2]
    comments = [line for line in rest.splitlines() if line.startswith("#")]
    assert [line for line in plan.text.splitlines() if line in comments] == comments


def test_the_rest_of_the_config_is_the_template(train):
    config = Config().from_str(init_config(train).text, interpolate=False)
    template = Config().from_str(read_template("tok2vec"), interpolate=False)
    template["paths"]["train"] = train.as_posix()
    template["training"]["eval_frequency"] = 50
    template["training"]["dropout"] = 0.3
    template["training"]["optimizer"]["L2"] = 1.0
    assert config == template


def test_without_development_data(train):
    plan = init_config(train)
    assert (plan.dev, config_of(plan)["paths"]["dev"]) == (None, None)
    assert "-o training --paths.dev dev.spacy\n" in plan.text


@pytest.mark.parametrize(
    "sentences, decoder, shares",
    [
        ([FLAT], FlatDecoder(), "FlatDecoder keeps 100.0 % of the mentions"),
        ([NESTED], QuadraticDecoder(), "QuadraticDecoder keeps 100.0 % of the mentions (flat 66.7 %)"),
        ([WIDE], CubicDecoder(), "CubicDecoder keeps 100.0 % of the mentions (quadratic 66.7 %, flat 66.7 %)"),
        (
            [NESTED, DOUBLE],
            QuadraticDecoder(multi_label=True),
            "QuadraticDecoder with several labels per span keeps 100.0 % of the mentions "
            "(quadratic 80.0 %, flat 60.0 %)",
        ),
    ],
)
def test_the_announced_decoder_is_the_one_that_training_chooses(sentences, decoder, shares, tmp_path):
    plan = init_config(save_docs(tmp_path / "train.spacy", sentences, sentences))
    assert plan.train.evidence.decoder == initialized(plan).decoder == decoder
    assert why(plan, "Decoder") == ("AutoDecoder", shares)
    unwrapped = plan.text.replace("\n# ", " ")
    assert f" These data: {shares}.\n[components.nested_ner.decoder]\n" in unwrapped


def test_span_limit(tmp_path):
    plan = init_config(save_docs(tmp_path / "train.spacy", [WIDE]))
    assert why(plan, "Span limit") == ("auto", "the longest mention has 7 tokens: up to 7 spans per token")
    assert initialized(plan).span_limit == 7


def test_another_spans_key(tmp_path):
    plan = init_config(save_docs(tmp_path / "train.spacy", [NESTED], key="entities"))
    assert plan.spans_key == "entities"
    assert why(plan, "Spans key") == ("entities", "3 spans")
    config = config_of(plan)
    assert config["components"]["nested_ner"]["spans_key"] == "entities"
    assert config["training"]["score_weights"] == {
        "spans_entities_f": 1.0,
        "spans_entities_p": 0.0,
        "spans_entities_r": 0.0,
        "spans_entities_per_type": None,
        "spans_entities_first_level_f": None,
        "spans_entities_nested_f": None,
        "spans_entities_per_depth": None,
        # Otherwise spaCy would add them with their default weights.
        "spans_sc_f": None,
        "spans_sc_p": None,
        "spans_sc_r": None,
        "spans_sc_per_type": None,
        "spans_sc_first_level_f": None,
        "spans_sc_nested_f": None,
        "spans_sc_per_depth": None,
    }
    assert initialized(plan).labels == ("PER", "GPE")  # and no warning about the score weights


def test_several_spans_keys(tmp_path):
    def add(doc):
        doc.spans["chunks"] = [Span(doc, start, start + 1, "NP") for start in range(5)]
        doc.spans["sc_incorrect"] = [Span(doc, 0, 2, "PER")] * 9

    path = save_docs(tmp_path / "train.spacy", [NESTED], change=add)
    assert why(init_config(path), "Spans key") == ("sc", "3 spans; other keys, see --spans-key: 'chunks' 5")
    assert why(init_config(path, spans_key="chunks"), "Spans key") == (
        "chunks",
        "5 spans; other keys, see --spans-key: 'sc' 3",
    )
    path = save_docs(tmp_path / "train.spacy", [NESTED], key="few", change=add)
    assert init_config(path).spans_key == "sc_incorrect"  # incorrect spans of no other key
    with pytest.raises(
        ValueError, match=r"no labeled span in doc.spans\['x'\]; found 'sc_incorrect' \(9 spans\), 'chu"
    ):
        init_config(path, spans_key="x")


def test_language(train):
    assert why(init_config(train), "Language") == ("en", "assumed; --lang for another")
    plan = init_config(train, lang="de")
    assert why(plan, "Language") == ("de", "as given")
    assert initialized(plan).vocab.lang == "de"
    with pytest.raises(ValueError, match="lang is 'klingon'; expected a language code of spaCy"):
        init_config(train, lang="klingon")


def test_a_language_with_its_own_tokenizer(train):
    plan = init_config(train, lang="zh")
    blank = spacy.blank("zh").config
    config = config_of(plan)
    assert config["nlp"]["tokenizer"] == blank["nlp"]["tokenizer"]
    assert config["initialize"]["tokenizer"] == blank["initialize"]["tokenizer"] != {}
    assert initialized(plan).vocab.lang == "zh"


def test_tokens_of_the_pipeline(tmp_path):
    def split_otherwise(doc):
        with doc.retokenize() as retokenizer:
            retokenizer.split(doc[1], ["ma", "yor"], heads=[doc[0], doc[0]])
        doc.spans["sc"] = [
            Span(doc, 0, 5, "PER"),
            Span(doc, 1, 2, "PER"),
            Span(doc, 2, 3, "PER"),
            Span(doc, 4, 5, "GPE"),
        ]

    plan = init_config(save_docs(tmp_path / "train.spacy", [NESTED], spaced=True))
    assert why(plan, "Tokens") == ("of the tokenizer", "of 3 mentions, all begin and end with one")
    assert plan.notes == []
    plan = init_config(save_docs(tmp_path / "train.spacy", [NESTED], spaced=True, change=split_otherwise))
    assert why(plan, "Tokens") == ("of the tokenizer", "of 4 mentions, 2 (50.0 %) begin and end with one")
    (note,) = plan.notes
    assert note.startswith(
        "2 mentions cannot be learned, because they begin or end inside a token: 'ma', 'yor'. Another"
    )


def test_tokens_of_the_data(tmp_path):
    plan = init_config(save_docs(tmp_path / "train.spacy", [NESTED]))
    why_not = "the data have no spacing; the tokenizer would keep {} of the words"
    assert why(plan, "Tokens") == ("of the data", why_not.format("100.0 %"))
    # The tokenizer splits the second word, which is a mention all the same.
    plan = init_config(save_docs(tmp_path / "train.spacy", [("Ada can't sing here", [(0, 1, "PER"), (1, 2, "X")])]))
    assert why(plan, "Tokens") == ("of the data", why_not.format("75.0 %"))
    assert plan.train.evidence.misaligned == []


def test_long_documents_are_cut_between_sentences(tmp_path):
    path = save_docs(tmp_path / "train.spacy", [FLAT] * 200, [FLAT])
    plan = init_config(path)
    assert why(plan, "Documents") == (
        "in pieces",
        "cut between sentences into pieces of up to 1,000 words; the longest has 1,200 words",
    )
    reader = config_of(plan)["corpora"]["train"]
    assert reader["@readers"] == "spacy-nested-ner.Corpus.v1"
    assert (reader["max_length"], reader["gold_tokens"], reader["format"]) == (1000, True, "spacy")
    assert config_of(plan)["corpora"]["dev"]["@readers"] == "spacy.Corpus.v1"
    assert plan.train.evidence.examples == 3
    assert "100.0 % of the words" in why(plan, "Tokens")[1]
    # Training must not see boundaries that the trained pipeline does not set.
    assert config_of(plan)["components"]["nested_ner"]["use_sentences"] is False
    assert [len(mentions) for mentions, _ in plan.train.evidence.segments] == [498, 102, 3]


def test_long_documents_of_running_text(tmp_path):
    plan = init_config(save_docs(tmp_path / "train.spacy", [FLAT] * 200, spaced=True, key="x"))
    reader = config_of(plan)["corpora"]["train"]
    assert (reader["max_length"], reader["gold_tokens"], reader["spans_key"]) == (1000, False, "x")
    assert config_of(plan)["components"]["nested_ner"]["use_sentences"] is True  # there are none
    assert len(plan.train.evidence.segments) == 2


def test_long_documents_without_sentences(tmp_path):
    def join(doc):
        for token in doc:
            token.is_sent_start = None

    plan = init_config(save_docs(tmp_path / "train.spacy", [FLAT] * 200, [FLAT], change=join))
    assert why(plan, "Documents") == ("whole", "the longest has 1,200 words")
    assert config_of(plan)["corpora"]["train"]["@readers"] == "spacy.Corpus.v1"
    assert any(note.startswith("A document of 1,200 words has no sentence boundaries") for note in plan.notes)


def test_mentions_across_pieces(tmp_path):
    def across(doc):
        doc.spans["sc"] = [*doc.spans["sc"], Span(doc, 995, 997, "PER"), Span(doc, 11, 13, "PER")]

    plan = init_config(save_docs(tmp_path / "train.spacy", [FLAT] * 200, change=across))
    assert [note for note in plan.notes if note.startswith("1 mention lost between pieces of a document: begun in")]


def test_a_transformer(tmp_path):
    plan = init_config(save_docs(tmp_path / "train.spacy", [FLAT] * 30, [FLAT]), transformer="models/my bert")
    config = config_of(plan)
    assert config["components"]["transformer"]["model"]["name"] == "models/my bert"
    assert config["training"]["gpu_allocator"] == "pytorch"
    assert config["training"]["optimizer"]["L2"] == 0.01
    assert config["corpora"]["train"]["max_length"] == 120
    assert plan.train.evidence.examples == 3
    assert why(plan, "Encoder")[0] == "models/my bert"
    assert "# Needs: pip install 'spacy-nested-ner[transformers]'\n" in plan.text
    assert {"Weight decay", "Dropout"}.isdisjoint(decision.subject for decision in plan.decisions)


def test_word_vectors(train, tmp_path):
    nlp = spacy.blank("en")
    nlp.vocab.set_vector("Ghent", np.ones(3, dtype="float32"))
    nlp.to_disk(tmp_path / "some")
    data = np.ones((50, 3), dtype="float32")
    nlp.vocab.vectors = Vectors(mode="floret", minn=3, maxn=4, hash_count=2, data=data, strings=nlp.vocab.strings)
    nlp.to_disk(tmp_path / "floret")
    for name, words in (("some", "1 word"), ("floret", "any word")):
        plan = init_config(train, vectors=str(tmp_path / name))
        config = config_of(plan)
        assert config["paths"]["vectors"] == config["initialize"]["vectors"] == str(tmp_path / name)
        assert config["components"]["tok2vec"]["model"]["embed"]["include_static_vectors"] is True
        reason = f"{words}, 3 numbers each; they become part of the trained pipeline"
        assert why(plan, "Word vectors") == (str(tmp_path / name), reason)
    assert why(init_config(train), "Word vectors")[0] == "none"
    assert config_of(init_config(train))["components"]["tok2vec"]["model"]["embed"]["include_static_vectors"] is False


def test_the_rates_of_a_transformer_are_those_of_the_template(train):
    config = config_of(init_config(train, transformer="x"))
    rate = config["training"]["optimizer"]["learn_rate"]["initial_rate"]
    scale = config["components"]["nested_ner"]["learn_rate_scale"]
    assert (rate, rate * scale) == (0.00005, 0.001)
    assert why(init_config(train, transformer="x"), "Encoder")[1] == (
        "fine-tuned at a rate of 0.00005, the rest of the pipeline at 0.001"
    )


def test_a_folder_of_files(tmp_path):
    for name in ("a.spacy", "deeper/b.spacy"):
        save_docs(tmp_path / "data" / name, [NESTED])
    plan = init_config(tmp_path / "data")
    assert plan.train.contents.documents == plan.train.evidence.examples == 2


def test_crossing_mentions(tmp_path):
    path = save_docs(tmp_path / "train.spacy", [CROSSING, FLAT], key="x y")
    (note,) = [note for note in init_config(path).notes if "decoder" in note]
    assert re.fullmatch(
        r"1 mention left out of training by the decoder\. To see why: "
        r"spacy nested-ner coverage \S+ --spans-key 'x y'",
        note,
    )


@pytest.mark.slow
def test_errors_in_the_data(tmp_path):
    def only_entities(doc):
        doc.ents = [Span(doc, 0, 1, "PER"), Span(doc, 3, 4, "GPE")]

    (tmp_path / "train.jsonl").write_text("{}")
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.spacy").write_bytes(b"\x00\x01")
    path = tmp_path / "my data.spacy"
    for make, message in [
        (lambda: tmp_path / "none.spacy", "none.spacy: no such file or folder"),
        (
            lambda: tmp_path / "train.jsonl",
            "train.jsonl: not a .spacy file; convert it first: spacy nested-ner convert ",
        ),
        (
            lambda: tmp_path / "empty",
            "empty: the folder has no .spacy file; convert it first: spacy nested-ner convert ",
        ),
        (lambda: tmp_path / "bad.spacy", "bad.spacy: not a .spacy file"),
        (
            lambda: save_docs(path, [FLAT], [FLAT], key=None, change=only_entities),
            "my data.spacy: no labeled span in doc.spans['sc']; found 4 entities in doc.ents, which cannot nest; "
            f"copy them to doc.spans first: spacy nested-ner convert '{path}' '{tmp_path}/my data_spans.spacy' --ents",
        ),
        (lambda: save_docs(path, [FLAT], key=None), "found no spans under any key and no entities; expected annotated"),
        (lambda: save_docs(path, [("Ada", [(0, 1, "")])]), "found no spans under any key"),
        (lambda: save_docs(path, [("Ada", [(0, 1, ""), (0, 1, "X")])]), "'Ada' (tokens 0 to 1) without a label"),
        (lambda: save_docs(path, [FLAT], key="a=b"), "a config cannot hold spans_a=b_f = 1.0"),
        (lambda: save_docs(tmp_path / "a$b.spacy", [FLAT]), "a config cannot hold train = "),
    ]:
        with pytest.raises(ValueError, match=re.escape(message)):
            init_config(make())


def test_the_command_that_converts_has_the_language(tmp_path):
    (tmp_path / "train.jsonl").write_text("{}")
    with pytest.raises(ValueError, match=r"nested-ner convert \S+train.jsonl \S+train.spacy --lang de$"):
        init_config(tmp_path / "train.jsonl", lang="de")


def test_a_folder_with_the_parts_of_a_corpus(tmp_path):
    for part in ("train", "dev", "test"):
        save_docs(tmp_path / "corpus" / f"{part}.spacy", [FLAT])
    folder = tmp_path / "corpus"
    with pytest.raises(ValueError, match=f"name them: --train {folder}/train.spacy --dev {folder}/dev.spacy"):
        init_config(folder)


def test_development_data_under_another_key(train, tmp_path):
    with pytest.raises(ValueError, match=r"dev.spacy: no labeled span in doc.spans\['sc'\]; found 'x' \(3 spans\)"):
        init_config(train, save_docs(tmp_path / "dev.spacy", [FLAT], key="x"))
