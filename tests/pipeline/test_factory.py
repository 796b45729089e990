"""The factory: found by spaCy, light, and with its defaults."""

import subprocess
import sys

import pytest
import spacy
from nested_examples import TINY
from spacy.util import load_config_from_str, load_model_from_config

from spacy_nested_ner.decoders import AutoDecoder, CubicDecoder, FlatDecoder, QuadraticDecoder
from spacy_nested_ner.pipeline.factory import DEFAULT_CONFIG


@pytest.mark.slow
def test_found_through_entry_points_in_a_fresh_process(tmp_path):
    program = (
        "import spacy; nlp = spacy.blank('en'); nlp.add_pipe('nested_ner'); "
        "from spacy import registry; "
        "[registry.architectures.get(f'spacy-nested-ner.{n}.v1') for n in "
        "('SpanScorer', 'BiaffineSpanScorer', 'BiLSTMEncoder')]; "
        "[registry.misc.get(f'spacy-nested-ner.{n}Decoder.v1') for n in ('Flat', 'Quadratic', 'Cubic', 'Auto')]; "
        "registry.readers.get('spacy-nested-ner.Corpus.v1'); "
        "registry.scorers.get('spacy-nested-ner.nested_ner_scorer.v1'); print('found')"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "found"


@pytest.mark.slow
def test_works_where_there_is_no_torch(tmp_path):
    """Everything of ours but the BiLSTM, in a process that cannot import torch."""
    program = (
        "import sys; sys.modules['torch'] = None\n"
        "from spacy.vocab import Vocab\n"
        "from spacy.tokens import Doc\n"
        "from spacy.ml.models.tok2vec import build_hash_embed_cnn_tok2vec\n"
        "from spacy_nested_ner.pipeline.component import NestedNER\n"
        "from spacy_nested_ner.model.architectures import build_bilstm_encoder, build_span_scorer\n"
        "from spacy_nested_ner.pipeline.registry import make_quadratic_decoder\n"
        "tok2vec = build_hash_embed_cnn_tok2vec(width=8, depth=1, embed_size=50, window_size=1, maxout_pieces=2,\n"
        "                                       subword_features=False, pretrained_vectors=False)\n"
        "pipe = NestedNER(Vocab(), build_span_scorer(tok2vec, 8), make_quadratic_decoder())\n"
        "pipe.add_label('PER')\n"
        "pipe.model.set_dim('nO', 1)\n"
        "pipe.model.get_ref('scorer').set_dim('nO', 1)\n"
        "pipe.model.initialize()\n"
        "print(len(pipe(Doc(pipe.vocab, words=['a', 'b'])).spans['sc']))\n"
        "try:\n"
        "    build_bilstm_encoder(tok2vec)\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[0] == "0"
    assert "BiLSTMEncoder.v1 needs PyTorch: pip install" in run.stdout


@pytest.mark.slow
def test_importing_adds_little_to_spacy_and_no_torch(tmp_path):
    program = (
        "import sys, spacy; before = set(sys.modules); import spacy_nested_ner.pipeline.component; "
        "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert [name for name in run.stdout.split() if not name.startswith("_cython")] == ["spacy_nested_ner"]


def test_defaults():
    pipe = spacy.blank("en").add_pipe("nested_ner")
    assert pipe.auto_decoder == AutoDecoder()
    settings = {
        "spans_key": "sc",
        "incorrect_spans_key": None,
        "threshold": None,
        "label_smoothing": 0.0,
        "missing_rate": 0.5,
        "max_span_length": "auto",
        "use_sentences": True,
    }
    assert {name: pipe.cfg[name] for name in settings} == settings
    assert "SpanScorer.v1" in DEFAULT_CONFIG


@pytest.mark.parametrize(
    "given, decoder",
    [
        ("AutoDecoder", AutoDecoder()),
        ("FlatDecoder", FlatDecoder()),
        ("QuadraticDecoder", QuadraticDecoder()),
        ("CubicDecoder", CubicDecoder()),
        ({"@misc": "spacy-nested-ner.CubicDecoder.v1", "multi_label": True}, CubicDecoder(multi_label=True)),
        ({"@misc": "spacy-nested-ner.AutoDecoder.v1"}, AutoDecoder()),
        ({"min_coverage": 0.9}, AutoDecoder(min_coverage=0.9)),
        # What used to be merged with the default block of QuadraticDecoder.
        ({"max_short_child": 2}, QuadraticDecoder(max_short_child=2)),
        ({"multi_label": True}, QuadraticDecoder(multi_label=True)),
    ],
    ids=str,
)
def test_a_decoder_by_name_block_or_settings_survives_config_and_disk(given, decoder, tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("nested_ner", config={**TINY, "decoder": given})
    nlp.to_disk(tmp_path)
    text = nlp.config.to_str()
    for other in (nlp, load_model_from_config(load_config_from_str(text), auto_fill=True), spacy.load(tmp_path)):
        pipe = other.get_pipe("nested_ner")
        assert (pipe.auto_decoder or pipe.decoder) == decoder


@pytest.mark.parametrize(
    "given, message",
    [
        (
            "CubikDecoder",
            r"decoder is 'CubikDecoder'; expected one of AutoDecoder, FlatDecoder, .*mean 'CubicDecoder'\?",
        ),
        ("best", r"decoder is 'best'; expected one of AutoDecoder, FlatDecoder, QuadraticDecoder, CubicDecoder$"),
        ({"max_short_childs": 2}, r"decoder has the setting 'max_short_childs'; .*did you mean 'max_short_child'\?"),
        ({"min_coverage": 1, "multi_label": True}, r"decoder has the settings min_coverage, multi_label; expected"),
        # spaCy's own errors: they name the setting, and newer versions list the valid ones.
        (
            {"@misc": "spacy-nested-ner.CubicDecoder.v1", "multi": 1},
            r"unexpected argument: 'multi'(.|\n)*'multi_label'|decoder -> multi\s+extra fields not permitted",
        ),
        (7, r"nested_ner -> decoder\s+.*7 is not|decoder is '7'; expected one of AutoDecoder"),
    ],
    ids=str,
)
def test_decoders_that_do_not_exist(given, message):
    with pytest.raises(ValueError, match=message):
        spacy.blank("en").add_pipe("nested_ner", config={"decoder": given})


def test_misspelled_settings_are_named():
    """By spaCy, which checks settings before the factory is called."""
    expected = (
        r"nested_ner -> treshold\s+(unexpected argument: 'treshold'(.|\n)*'threshold'|extra fields not permitted)"
    )
    with pytest.raises(ValueError, match=expected):
        spacy.blank("en").add_pipe("nested_ner", config={"treshold": 0.3})
