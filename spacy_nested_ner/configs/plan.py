"""A complete training config for a corpus, and why it is as it is."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from spacy.language import Language
from spacy.util import registry
from thinc.api import Config

from ..corpus import Settings
from .contents import Contents, read_contents
from .decisions import (
    Decision,
    decide_decoder,
    decide_dropout,
    decide_encoder,
    decide_evaluation,
    decide_key,
    decide_language,
    decide_reader,
    decide_sentences,
    decide_span_limit,
    decide_tokens,
    decide_vectors,
    decide_weight_decay,
)
from .evidence import Evidence, Part, collect_evidence
from .notes import find_notes
from .template import Changes, fill, read_template

DEFAULT_LANGUAGE = "en"


@dataclass(frozen=True)
class ConfigPlan:
    """A config for a corpus.

    text (str): The config, complete and commented.
    decisions (list[Decision]): The settings that were chosen by looking at the data, each with `subject`, `value` and
        `why`.
    notes (list[str]): What else the data show, and what to do about it.
    spans_key (str): Where the mentions are in `doc.spans`.
    train, dev (Part): The data; None if there is no development data.
    """

    text: str
    decisions: list[Decision]
    notes: list[str]
    spans_key: str
    train: Part
    dev: Part | None


def init_config(
    train: str | Path,
    dev: str | Path | None = None,
    *,
    transformer: str | None = None,
    vectors: str | None = None,
    lang: str | None = None,
    spans_key: str | None = None,
    name: str = "config.cfg",
    progress: bool = False,
) -> ConfigPlan:
    """Look at a corpus, and make a training config that fits it.

    train (str | Path): The training data: a `.spacy` file, or a folder of them.
    dev (str | Path | None): The development data.
    transformer (str | None): The name of a transformer, or the folder of one; None for a tok2vec. It is not loaded.
    vectors (str | None): A pipeline with word vectors, such as one that `spacy nested-ner vectors` has made. Not
        together with a transformer.
    lang (str | None): The language code of the pipeline; None for English.
    spans_key (str | None): Where the mentions are in `doc.spans`; None to find out.
    name (str): What the config will be called, for the command in its first lines.
    progress (bool): Show a progress bar on a terminal.
    RETURNS (ConfigPlan): The config, and why it is as it is.
    """
    if transformer is not None and vectors is not None:
        raise ValueError(
            f"vectors = {vectors!r} together with transformer = {transformer!r}; expected one of them: a transformer "
            f"knows the words by itself"
        )
    nlp = Settings(lang=lang or DEFAULT_LANGUAGE).nlp
    template = "tok2vec" if transformer is None else "transformer"
    contents = read_contents(Path(train), nlp, progress=progress)
    dev_contents = None if dev is None else read_contents(Path(dev), nlp, progress=progress)
    key = contents.choose_key(spans_key)
    if dev_contents is not None:
        dev_contents.choose_key(key)
    pipeline = [decide_key(contents, key), decide_language(nlp, given=lang is not None), decide_encoder(transformer)]
    if transformer is None:
        pipeline.append(decide_vectors(vectors, str(nlp.lang)))
    training = _decide_training(contents, template, key)
    changes = _changes([*pipeline, *training], contents, dev_contents, name)
    config = Config().from_str(fill(read_template(template), changes))
    # Read as training will, by the readers of the config.
    train_part = Part(contents, _collect(config, "train", nlp, progress=progress))
    dev_part = None if dev_contents is None else Part(dev_contents, _collect(config, "dev", nlp, progress=progress))
    decisions = [*pipeline, *_decide_by_mentions(train_part), *training]
    return ConfigPlan(
        fill(read_template(template), _changes(decisions, contents, dev_contents, name)),
        decisions,
        find_notes(train_part, dev_part, key, has_transformer=transformer is not None),
        key,
        train_part,
        dev_part,
    )


def _decide_training(contents: Contents, template: str, key: str) -> list[Decision]:
    reader = decide_reader(contents, template, key)
    by_size = [decide_weight_decay(contents), decide_dropout(contents)] if template == "tok2vec" else []
    return [reader, decide_sentences(reader), *by_size, decide_evaluation(contents)]


def _decide_by_mentions(train: Part) -> list[Decision]:
    contents, evidence = train
    return [decide_tokens(contents, evidence), decide_decoder(evidence), decide_span_limit(evidence)]


def _changes(decisions: Iterable[Decision], train: Contents, dev: Contents | None, name: str) -> Changes:
    """All decisions together, and the paths."""
    values: dict[str, Any] = {"paths.train": train.path.as_posix(), "paths.dev": dev and dev.path.as_posix()}
    sections: dict[str, Any] = {}
    comments: dict[str, str] = {}
    for decision in decisions:
        values |= decision.values
        sections |= decision.sections
        if decision.name:
            comments[decision.name] = f"These data: {decision.why}."
    header = [
        f"Made by `spacy nested-ner init` for {train.path.name}: {train.documents:,} documents, {train.words:,} words.",
        'Comments that begin with "These data" say what was found there.',
        "",
        f"  spacy train {quote(name)} -o training{'' if dev else ' --paths.dev dev.spacy'}",
    ]
    if "vars.transformer" in values:
        header += ["", "Needs: pip install 'spacy-nested-ner[transformers]'"]
    return Changes(header="\n".join(header), values=values, sections=sections, comments=comments)


def _collect(config: Config, corpus: str, nlp: Language, *, progress: bool) -> Evidence:
    """What the component will see of a corpus that a config names."""
    read = registry.resolve({"reader": config["corpora"][corpus]})["reader"]
    settings = config["components"]["nested_ner"]
    return collect_evidence(
        read, nlp, settings["spans_key"], use_sentences=settings["use_sentences"], progress=progress
    )
