"""Every command of spaCy that a user meets, in real processes, on a small corpus and without network."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from commands import run_spacy
from nested_examples import save_corpus

pytestmark = pytest.mark.slow

CONFIGS = Path(__file__).parents[2] / "configs"
# Every config of the folder is tested: a new one cannot be forgotten.
CONFIG_NAMES = sorted(path.stem for path in CONFIGS.glob("*.cfg"))
SMALL = [
    *("--components.tok2vec.model.encode.width", "32", "--components.tok2vec.model.encode.depth", "1"),
    *("--components.tok2vec.model.embed.rows", "[200,100,100,100]"),
]
QUICK = ["--training.max_steps", "60", "--training.eval_frequency", "30", "--training.optimizer.learn_rate", "0.01"]

TRANSFORMER = """
import sys
from pathlib import Path
from transformers import BertConfig, BertModel, BertTokenizerFast

folder = Path(sys.argv[1])
folder.mkdir()
letters = [chr(code) for code in range(33, 127)]
words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *("##" + letter for letter in letters)]
(folder / "vocab.txt").write_text("\\n".join(words), encoding="utf-8")
BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=False).save_pretrained(folder)
config = BertConfig(vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                    intermediate_size=16, max_position_embeddings=200)
BertModel(config).save_pretrained(folder)
"""


def run(*command, cwd, fails=False):
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONWARNINGS": "ignore", "COLUMNS": "200"}
    arguments = [sys.executable, *map(str, command)]
    result = subprocess.run(arguments, cwd=cwd, capture_output=True, text=True, env=environment)
    assert (result.returncode != 0) == fails, result.stdout[-3000:] + result.stderr[-3000:]
    return result.stdout + result.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("commands")
    save_corpus(path / "train.spacy", times=40)
    save_corpus(path / "dev.spacy")
    return path


@pytest.fixture(scope="module")
def paths(folder):
    return ["--paths.train", folder / "train.spacy", "--paths.dev", folder / "dev.spacy"]


@pytest.fixture(scope="module")
def trained(folder, paths):
    output = run(
        "-m", "spacy", "train", CONFIGS / "tok2vec.cfg", "-o", folder / "out", *paths, *SMALL, *QUICK, cwd=folder
    )
    rows = [line.split() for line in output.splitlines() if re.match(r"\s*\d+\s+\d+\s", line)]
    assert "SPANS_SC_F" in output
    # The first evaluation does not flood the docs with spans; the last one has learned them.
    assert float(rows[0][4]) == 0
    assert float(rows[-1][4]) > 90
    return folder / "out" / "model-best"


def test_train_and_load(trained):
    nlp = spacy.load(trained)
    assert nlp.meta["performance"]["spans_sc_nested_f"] > 0.8
    assert set(nlp.meta["performance"]["spans_sc_per_depth"]) >= {"1", "2"}


@pytest.mark.parametrize("config", CONFIG_NAMES)
def test_configs_are_complete(config, folder, paths):
    """Inside this process: others show that the commands run by themselves."""
    filled = folder / f"{config}.filled.cfg"
    for command in (
        ("debug", "config", CONFIGS / f"{config}.cfg", *paths),
        ("init", "fill-config", CONFIGS / f"{config}.cfg", filled),
    ):
        result = run_spacy(*command)
        assert result.exit_code == 0, result.output
    complete = spacy.util.load_config(CONFIGS / f"{config}.cfg", interpolate=False)
    assert spacy.util.load_config(filled, interpolate=False) == complete


def test_a_minimal_config_is_filled(folder):
    (folder / "base.cfg").write_text(
        '[nlp]\nlang = "en"\npipeline = ["nested_ner"]\n[components]\n[components.nested_ner]\nfactory = "nested_ner"\n'
    )
    run("-m", "spacy", "init", "fill-config", "base.cfg", "filled.cfg", cwd=folder)
    filled = spacy.util.load_config(folder / "filled.cfg")
    assert filled["components"]["nested_ner"]["decoder"] == "AutoDecoder"


def test_debug_data_and_model(folder, paths):
    output = run("-m", "spacy", "debug", "data", CONFIGS / "tok2vec.cfg", *paths, *SMALL, cwd=folder)
    assert "Corpus is loadable" in output
    output = run("-m", "spacy", "debug", "model", CONFIGS / "tok2vec.cfg", "nested_ner", *paths, *SMALL, cwd=folder)
    assert "Successfully ended analysis" in output


def test_init_labels(folder, paths):
    run("-m", "spacy", "init", "labels", CONFIGS / "tok2vec.cfg", folder / "labels", *paths, *SMALL, cwd=folder)
    assert json.loads((folder / "labels" / "nested_ner.json").read_text()) == ["PER", "GPE", "ORG", "FAC"]


def test_evaluate(trained, folder):
    run("-m", "spacy", "evaluate", trained, folder / "dev.spacy", "-o", folder / "scores.json", cwd=folder)
    scores = json.loads((folder / "scores.json").read_text())
    assert scores["spans_sc_f"] > 0.9
    assert scores["spans_sc_nested_f"] > 0.8
    assert set(scores["spans_sc_per_type"]) == {"PER", "GPE", "ORG", "FAC"}
    assert scores["spans_sc_per_depth"]["1"]["f"] > 0.8


def test_apply(trained, folder):
    (folder / "texts").mkdir(exist_ok=True)
    (folder / "texts" / "one.txt").write_text("I am Fabian from Bonn , Germany .")
    run("-m", "spacy", "apply", trained, folder / "texts", folder / "applied.spacy", cwd=folder)
    nlp = spacy.load(trained)
    (doc,) = spacy.tokens.DocBin().from_disk(folder / "applied.spacy").get_docs(nlp.vocab)
    assert len(doc.spans["sc"]) == len(doc.spans["sc"].attrs["scores"]) > 2


def test_benchmark_speed(trained, folder):
    assert "words/s" in run(
        "-m", "spacy", "benchmark", "speed", trained, folder / "dev.spacy", "--batches", "30", cwd=folder
    )


def test_find_threshold(trained, folder):
    command = (
        "find-threshold",
        trained,
        folder / "dev.spacy",
        "nested_ner",
        "threshold",
        "spans_sc_f",
        "--n_trials",
        "5",
    )
    assert "Best threshold" in run("-m", "spacy", *command, cwd=folder)


def test_package_and_install(trained, folder):
    run(
        "-m",
        "spacy",
        "package",
        trained,
        folder,
        "--name",
        "tiny",
        "--version",
        "1.0.0",
        "--build",
        "wheel",
        cwd=folder,
    )
    wheel = next(folder.glob("**/*.whl"))
    site = folder / "site"
    run("-m", "pip", "install", "--quiet", "--no-deps", "--target", site, wheel, cwd=folder)
    program = (
        f"import sys; sys.path.insert(0, {str(site)!r}); import en_tiny; nlp = en_tiny.load(); "
        "doc = nlp('I am Fabian from Bonn , Germany .'); print(len(doc.spans['sc']))"
    )
    assert int(run("-c", program, cwd=folder).split()[-1]) > 2


def test_another_spans_key_does_not_show_zero_silently(folder):
    """The warning of the component names what is missing, before a long training is wasted."""
    save_corpus(folder / "mentions.spacy", key="mentions")
    command = ["train", CONFIGS / "tok2vec.cfg", *SMALL, "--training.max_steps", "1"]
    command += ["--paths.train", folder / "mentions.spacy", "--paths.dev", folder / "mentions.spacy"]
    command += ["--components.nested_ner.spans_key", "mentions"]
    environment = {**os.environ, "COLUMNS": "200"}
    arguments = [sys.executable, "-m", "spacy", *map(str, command)]
    result = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, env=environment)
    assert "does not name spans_mentions_f" in result.stdout + result.stderr


@pytest.fixture(scope="module")
def transformer(folder):
    run("-c", TRANSFORMER, folder / "transformer", cwd=folder)
    return folder / "transformer"


def in_small(config, transformer):
    """Settings with which a config trains in seconds."""
    settings = ["--training.max_steps", "20", "--training.max_epochs", "0", "--training.eval_frequency", "10"]
    if "vars" not in config:
        return settings + SMALL
    settings += ["--vars.transformer", transformer]
    if "transformer_width" in config["vars"]:
        settings += ["--vars.transformer_width", "16", "--components.nested_ner.model.tok2vec.width", "16"]
        settings += ["--components.nested_ner.model.projection_width", "16"]
    return settings


# The fixture `trained` trains tok2vec.cfg, to the end.
@pytest.mark.parametrize("name", [name for name in CONFIG_NAMES if name != "tok2vec"])
def test_configs_train(name, folder, paths, transformer):
    config = spacy.util.load_config(CONFIGS / f"{name}.cfg", interpolate=False)
    settings = [*paths, *in_small(config, transformer)]
    output = run("-m", "spacy", "train", CONFIGS / f"{name}.cfg", "-o", folder / name, *settings, cwd=folder)
    assert "Saved pipeline" in output
    losses = [float(line.split()[3]) for line in output.splitlines() if re.match(r"\s*\d+\s+\d+\s", line)]
    # Rows at steps 0, 10 and 20; the last two are sums over ten updates each.
    assert losses[2] < losses[1]
    program = (
        f"import spacy; nlp = spacy.load({str(folder / name / 'model-last')!r}); "
        "doc = nlp('I am Fabian from Bonn , Germany .'); group = doc.spans['sc']; "
        "print(nlp.pipe_names, len(group) == len(group.attrs['scores']), group.attrs.get('entropy', 0) > 0)"
    )
    pipeline = config["nlp"]["pipeline"]
    # spancat knows no distribution over analyses.
    expected = f"{pipeline} True {'nested_ner' in pipeline}"
    assert run("-c", program, cwd=folder).splitlines()[-1] == expected
