"""The plan can be built, and the data of its runs can be made."""

import shutil

import pytest
from spacy.util import load_config

from spacy_nested_ner.corpus import read_docs


def test_every_run_of_the_plan_changes_what_its_config_has(scripts):
    runs = scripts.plan.read_plan()
    assert len({(run.group, run.key) for run in runs}) == len({run.model for run in runs}) == len(runs)
    for run in {(run.group, run.name): run for run in runs}.values():
        # spaCy refuses to override what is not there.
        config = load_config(run.config, overrides=run.set)
        assert all(update % run.eval_frequency == 0 for update in run.updates), run.title
        assert config["training"]["eval_frequency"]


def test_groups_are_checked(scripts, tmp_path):
    path = tmp_path / "plan.yml"
    path.write_text("corpora: {a: b}\ngroups: {one: {seeds: [0], corpora: [a], updates: [1], runs: {}, tpyo: 1}}\n")
    with pytest.raises(ValueError, match=r"the group 'one' of the plan has \['tpyo'\]; expected only"):
        scripts.plan.read_plan(path)


def test_a_run_for_every_number_of_sentences(scripts, tmp_path):
    path = tmp_path / "plan.yml"
    group = "seeds: [0, 1], corpora: [a, b], sentences: [20, 2000], updates: [9], patience: 4, runs: {x: {config: c}}"
    path.write_text(f"corpora: {{a: f, b: f}}\ngroups: {{one: {{{group}}}}}\n")
    runs = scripts.plan.read_plan(path)
    assert [run.key for run in runs[:3]] == ["a/x, 20 sentences/0", "b/x, 20 sentences/0", "a/x, 2,000 sentences/0"]
    assert [run.sentences for run in runs] == [20, 20, 2000, 2000] * 2
    assert {run.patience for run in runs} == {4}


def test_every_document_is_tested_in_one_fold(scripts, sample, tmp_path):
    for part in scripts.folds.PARTS:
        shutil.copy(sample / f"{part}.spacy", tmp_path)
    every = sorted(doc.text for part in scripts.folds.PARTS for doc in read_docs(sample / f"{part}.spacy"))
    folders = scripts.folds.write_folds(tmp_path, 5)
    parts = [{name: list(read_docs(folder / f"{name}.spacy")) for name in scripts.folds.PARTS} for folder in folders]
    assert sorted(doc.text for fold in parts for doc in fold["test"]) == every
    for fold in parts:
        assert sorted(doc.text for docs in fold.values() for doc in docs) == every
        assert len(fold["train"]) > len(fold["test"]) >= len(fold["dev"]) > 0
        assert any(doc.spans["sc"] for doc in fold["train"])
    again = scripts.folds.write_folds(tmp_path, 5)
    assert [doc.text for doc in read_docs(again[2] / "test.spacy")] == [doc.text for doc in parts[2]["test"]]
    with pytest.raises(ValueError, match="2 folds of 3 documents; expected at least 3"):
        scripts.folds.divide(parts[0]["test"][:3], 2, seed=0)


def test_a_subset_has_whole_documents_and_begins_a_larger_one(scripts, sample, tmp_path):
    def documents(sentences, seed):
        path = tmp_path / "part.spacy"
        n_sentences = scripts.subset.write_subset(sample / "train.spacy", path, sentences, seed)
        docs = list(read_docs(path))
        assert n_sentences == sum(len(list(doc.sents)) for doc in docs)
        assert all(doc.spans["sc"] for doc in docs if doc.text in mentioned)
        return n_sentences, [doc.text for doc in docs]

    every = list(read_docs(sample / "train.spacy"))
    mentioned = {doc.text for doc in every if doc.spans["sc"]}
    n_small, small = documents(20, 0)
    n_large, large = documents(60, 0)
    assert 20 <= n_small < 60 <= n_large
    assert large[: len(small)] == small
    assert documents(20, 0) == (n_small, small)
    assert documents(20, 1)[1] != small
    assert sorted(documents(10**6, 0)[1]) == sorted(doc.text for doc in every)
