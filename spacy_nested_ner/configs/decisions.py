"""What fits a corpus, one decision at a time: a value, the reason for it, and what it changes in a template.

Where nothing was measured, the value of the template stays.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from spacy.language import Language
from spacy.util import load_model
from thinc.api import Config

from ..corpus.conversion_report import counted
from ..decoders import Decoder, FlatDecoder, QuadraticDecoder
from .contents import Contents
from .evidence import Evidence
from .template import read_template

# The longest pieces of documents in training, in words, as in our experiments.
PIECES = {"tok2vec": 1000, "transformer": 120}
# Up to this many words, a corpus is soon learned by heart, and more weight decay helps (measured on 170,000 words).
SMALL_CORPUS = 200_000
SMALL_CORPUS_L2 = 1.0
# Up to this many words, more dropout helps (measured on 6,000 to 54,000 words).
TINY_CORPUS = 60_000
TINY_CORPUS_DROPOUT = 0.3
# Words in a batch, in all templates.
BATCH = 1000
# Steps between evaluations: at least and at most.
EVALUATION = (50, 200)
# What the chosen decoder is compared with.
_CHEAPER: dict[str, Decoder] = {"quadratic": QuadraticDecoder(), "flat": FlatDecoder()}


@dataclass(frozen=True)
class Decision:
    """A setting, its value, and why.

    values, sections (Mapping): What it changes in a template, see `Changes`.
    name (str): The full name of the setting or section that gets the reason as a comment; empty for none.
    """

    subject: str
    value: str
    why: str
    values: Mapping[str, Any] = field(default_factory=dict)
    sections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    name: str = ""


def decide_key(contents: Contents, key: str) -> Decision:
    """Where the mentions are. The scores of training are named after it."""
    others = ", ".join(f"{other!r} {n:,}" for other, n in contents.spans.most_common() if other != key)
    why = counted(contents.spans[key], "span") + (f"; other keys, see --spans-key: {others}" if others else "")
    setting = "components.nested_ner.spans_key"
    if key == "sc":
        return Decision("Spans key", key, why, name=setting)
    weights = Config().from_str(read_template("tok2vec"), interpolate=False)["training"]["score_weights"]
    renamed = {name.replace("spans_sc_", f"spans_{key}_"): weight for name, weight in weights.items()}
    # Named as null, because spaCy adds the scores of the default key to those it finds.
    sections = {"training.score_weights": {**renamed, **dict.fromkeys(weights)}}
    return Decision("Spans key", key, why, {setting: key}, sections, setting)


def decide_language(nlp: Language, *, given: bool) -> Decision:
    """The language, with its tokenizer, which for some is not the usual one."""
    why = "as given" if given else "assumed; --lang for another"
    values = {"nlp.lang": nlp.lang, "nlp.tokenizer": nlp.config["nlp"]["tokenizer"]}
    return Decision(
        "Language", str(nlp.lang), why, values, {"initialize.tokenizer": nlp.config["initialize"]["tokenizer"]}
    )


def decide_encoder(transformer: str | None) -> Decision:
    """What turns words into vectors."""
    if transformer is None:
        return Decision("Encoder", "tok2vec", "trains on a CPU; --transformer NAME is slower and often better")
    why = "fine-tuned at a rate of 0.00005, the rest of the pipeline at 0.001"
    return Decision("Encoder", transformer, why, {"vars.transformer": transformer})


def decide_vectors(vectors: str | None, lang: str) -> Decision:
    """Whether words have vectors from elsewhere. For tok2vec only."""
    subject, name = "Word vectors", "paths.vectors"
    if vectors is None:
        why = "they help most on small corpora: make some with `spacy nested-ner vectors`, then --vectors NAME"
        return Decision(subject, "none", why)
    nlp = _load(vectors)
    if nlp.lang != lang:
        raise ValueError(
            f"the vectors {vectors!r} are of a pipeline with lang = {nlp.lang!r}, and lang is {lang!r}; expected the "
            f"same, which spaCy demands"
        )
    table = nlp.vocab.vectors
    if not all(table.shape):
        raise ValueError(f"the pipeline {vectors!r} has no word vectors; make some with `spacy nested-ner vectors`")
    words = counted(len(set(table.key2row.values())), "word") if table.mode == "default" else "any word"
    why = f"{words}, {table.shape[1]} numbers each; they become part of the trained pipeline"
    values = {
        name: vectors,
        "nlp.vectors": nlp.config["nlp"]["vectors"],
        "components.tok2vec.model.embed.include_static_vectors": True,
    }
    return Decision(subject, vectors, why, values, name=name)


def _load(vectors: str) -> Language:
    try:
        return load_model(vectors)
    except OSError as error:
        raise ValueError(
            f"no pipeline {vectors!r}; expected a folder with a pipeline that has word vectors, or the name of an "
            f"installed package: {error}"
        ) from None


def decide_reader(contents: Contents, template: str, key: str) -> Decision:
    """Whole documents, or pieces of long ones."""
    limit = PIECES[template]
    why = f"the longest has {contents.longest:,} words"
    if contents.longest <= limit or not contents.with_sentences:
        return Decision("Documents", "whole", why)
    reader = {
        "@readers": "spacy-nested-ner.Corpus.v1",
        "path": "${paths.train}",
        "format": "spacy",
        "spans_key": key,
        "gold_tokens": contents.has_no_spacing,  # as spacy.Corpus.v1 does
        "limit": 0,
        "max_length": limit,
        "misaligned": "error",
        "line_sentences": True,
        "tag_names": [],
        "layer": None,
        "structure": [],
    }
    why = f"cut between sentences into pieces of up to {limit:,} words; {why}"
    return Decision("Documents", "in pieces", why, sections={"corpora.train": reader}, name="corpora.train")


def decide_sentences(reader: Decision) -> Decision:
    """Whether sentences are decoded one by one. Training must not see boundaries that `nlp(text)` does not set."""
    why = "the pipeline sets no boundaries, so each text is decoded as a whole"
    name = "components.nested_ner.use_sentences"
    has_boundaries = any(section.get("gold_tokens") for section in reader.sections.values())
    return Decision("Sentences", "not used", why, {name: False} if has_boundaries else {}, name=name)


def decide_weight_decay(contents: Contents) -> Decision:
    """For tok2vec only: with a transformer, nothing else was measured."""
    return _decide_by_size(contents, "Weight decay", "training.optimizer.L2", SMALL_CORPUS, SMALL_CORPUS_L2, 0.3)


def decide_dropout(contents: Contents) -> Decision:
    """For tok2vec only, too."""
    return _decide_by_size(contents, "Dropout", "training.dropout", TINY_CORPUS, TINY_CORPUS_DROPOUT, 0.1)


def _decide_by_size(
    contents: Contents, subject: str, name: str, limit: int, below: float, of_template: float
) -> Decision:
    """One value for corpora with fewer words, and that of the template for the others."""
    if contents.words >= limit:
        return Decision(subject, str(of_template), f"{limit:,} words or more; {below} is for fewer", name=name)
    why = f"fewer than {limit:,} words; {of_template} is for more"
    return Decision(subject, str(below), why, {name: below}, name=name)


def decide_evaluation(contents: Contents) -> Decision:
    """About once per pass over the data, so that the first score comes soon."""
    steps = ceil(contents.words / BATCH)
    frequency = min(max(steps, EVALUATION[0]), EVALUATION[1])
    why = f"one pass over the data is about {counted(steps, 'step')}"
    name = "training.eval_frequency"
    return Decision("Evaluation", f"every {frequency} steps", why, {name: frequency}, name=name)


def decide_tokens(contents: Contents, evidence: Evidence) -> Decision:
    """What tokens training has, and how many mentions begin and end with one."""
    name = "nlp.tokenizer"
    if contents.has_no_spacing:
        share = _percent(contents.tokens_too / contents.words)
        why = f"the data have no spacing; the tokenizer would keep {share} of the words"
        return Decision("Tokens", "of the data", why, name=name)
    total = evidence.mentions
    fit = total - len(evidence.misaligned)
    share = "all" if fit == total else f"{fit:,} ({_percent(fit / total)})"
    why = f"of {counted(total, 'mention')}, {share} begin and end with one"
    return Decision("Tokens", "of the tokenizer", why, name=name)


def decide_decoder(evidence: Evidence) -> Decision:
    """AutoDecoder stays in the config, and chooses again when training starts."""
    total = max(1, evidence.placed)
    kept = evidence.kept_by(evidence.decoder)
    others = {name: evidence.kept_by(other) for name, other in _CHEAPER.items()}
    less = ", ".join(f"{name} {_percent(n / total)}" for name, n in others.items() if n < kept)
    why = f"{_describe(evidence.decoder)} keeps {_percent(kept / total)} of the mentions"
    why += f" ({less})" if less else ""
    return Decision("Decoder", "AutoDecoder", why, name="components.nested_ner.decoder")


def _describe(decoder: Decoder) -> str:
    """A decoder with the settings that matter."""
    settings = decoder.settings()
    short = f"max_short_child = {settings['max_short_child']}" if settings.get("max_short_child", 1) > 1 else ""
    several = "several labels per span" if settings["multi_label"] else ""
    details = " and ".join(filter(None, (short, several)))
    return f"{settings['decoder']} with {details}" if details else str(settings["decoder"])


def decide_span_limit(evidence: Evidence) -> Decision:
    """What the component will choose when training starts."""
    limit, choice = evidence.span_limit, evidence.limit
    why = "there is no mention to choose by"
    if choice is not None and choice.kept == choice.mentions:
        why = f"the longest mention has {counted(limit, 'token')}"
    elif choice is not None:
        kept = _percent(choice.coverage)
        why = f"{kept} of the mentions have at most {counted(limit, 'token')}, the longest has {choice.longest:,}"
    why += f": up to {counted(limit, 'span')} per token"
    return Decision("Span limit", "auto", why, name="components.nested_ner.max_span_length")


def _percent(share: float) -> str:
    """Rounded, but 100 % means all."""
    return f"{100.0 if share == 1 else min(99.9, 100 * share):.1f} %"
