"""Why a config is as it is, as people read it."""

import pytest
from commands import run
from small_corpora import DOUBLE, FLAT, NESTED, save_docs

from spacy_nested_ner import init_config
from spacy_nested_ner.display.config_text import describe_next_steps, describe_plan


@pytest.fixture
def paths(tmp_path):
    train = save_docs(tmp_path / "train.spacy", [NESTED, DOUBLE], [FLAT])
    return train, save_docs(tmp_path / "my dev.spacy", [NESTED], [FLAT])


def test_everything(paths):
    assert (
        describe_plan(init_config(*paths))
        == """\
                            train    dev
-------------------------   -----   ----
Documents                       2      2
Words                          21     17
  in the longest document      15     11
Mentions                        8      6
  inside another, %          12.5   16.7
  words in the longest          5      5
Labels                          3      2

Labels: PER 4, GPE 3, ORG 1

Spans key      sc               8 spans
Language       en               assumed; --lang for another
Encoder        tok2vec          trains on a CPU; --transformer NAME is slower and often better
Word vectors   none             they help most on small corpora: make some with `spacy nested-ner
                                vectors`, then --vectors NAME
Tokens         of the data      the data have no spacing; the tokenizer would keep 100.0 % of the
                                words
Decoder        AutoDecoder      QuadraticDecoder with several labels per span keeps 100.0 % of the
                                mentions (quadratic 87.5 %, flat 75.0 %)
Span limit     auto             the longest mention has 5 tokens: up to 5 spans per token
Documents      whole            the longest has 15 words
Sentences      not used         the pipeline sets no boundaries, so each text is decoded as a whole
Weight decay   1.0              fewer than 200,000 words; 0.3 is for more
Dropout        0.3              fewer than 60,000 words; 0.1 is for more
Evaluation     every 50 steps   one pass over the data is about 1 step

Note: 1 of 2 development texts are also in the training data, so scores will be too high; keep them
      apart."""
    )


def test_next_steps(paths, tmp_path):
    plan = init_config(*paths)
    steps = describe_next_steps(plan, "my config.cfg").replace(f"{tmp_path}/", "")
    assert (
        steps
        == """\
Next:
  spacy train 'my config.cfg' -o training
  spacy nested-ner calibrate training/model-best 'my dev.spacy' -o training/calibrated
  spacy nested-ner report training/calibrated 'my dev.spacy' -o report
Better make the report with other documents, if you have any: these were used to calibrate."""
    )


def test_the_report_is_about_test_data_if_there_are_any(tmp_path):
    train, dev = (save_docs(tmp_path / f"{part}.spacy", [NESTED]) for part in ("train", "dev"))
    plan = init_config(train, dev)
    assert f"training/calibrated {tmp_path}/dev.spacy -o report\n" in describe_next_steps(plan, "c.cfg")
    save_docs(tmp_path / "test.spacy", [FLAT])
    assert describe_next_steps(plan, "c.cfg").endswith(f"training/calibrated {tmp_path}/test.spacy -o report")


def test_the_split_of_a_few_documents_gives_all_parts(tmp_path):
    documents = [[(f"Ada met Bo {number}", [(0, 1, "PER")])] for number in range(10)]
    for n, shares in [(3, "34/33/33"), (9, "34/33/33"), (10, "80/10/10")]:
        train = save_docs(tmp_path / "train.spacy", *documents[:n])
        assert f"corpus --split {shares}\n" in describe_next_steps(init_config(train), "c.cfg")
        assert run("convert", train, tmp_path / f"corpus{n}", "--split", shares).exit_code == 0


def test_next_steps_without_development_data(tmp_path):
    plan = init_config(save_docs(tmp_path / "train.spacy", [NESTED], key="a b"))
    assert (
        describe_next_steps(plan, "c.cfg").replace(f"{tmp_path}/", "")
        == """\
Next, set some documents aside as development data, which training needs:
  spacy nested-ner convert train.spacy corpus --split 80/10/10 --spans-key 'a b'
  spacy train c.cfg -o training --paths.train corpus/train.spacy --paths.dev corpus/dev.spacy"""
    )
    plan = init_config(tmp_path / "train.spacy", tmp_path / "train.spacy")
    assert describe_next_steps(plan, "c.cfg").count(" --spans-key 'a b'") == 2


def test_many_labels(tmp_path):
    sentence = (" ".join(["word"] * 20), [(n, n + 1, f"L{n:02}") for n in range(20)])
    text = describe_plan(init_config(save_docs(tmp_path / "train.spacy", [sentence])))
    assert "\nLabels: L00 1, L01 1, L02 1, L03 1, L04 1, L05 1, L06 1, L07 1 and 12 more\n" in text


def test_long_names_and_long_words_stay_whole(tmp_path):
    path = save_docs(tmp_path / ("long-name " * 9 + ".spacy"), [("a b c", [(0, 2, "X"), (1, 3, "X")])])
    plan = init_config(path, transformer="folder/" * 20)
    text = describe_plan(plan)
    assert "folder/" * 20 in text
    assert str(path).split()[0] in text
