"""The factory: found by spaCy, light, and with its defaults."""

import subprocess
import sys

import pytest
import spacy

from spacy_nested_ner.decoders import QuadraticDecoder
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
    assert pipe.decoder == QuadraticDecoder()
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
