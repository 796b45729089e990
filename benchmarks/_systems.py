"""The pipelines that benchmarks/pipeline.py compares, and the data they run on.

All are the configs of this repository with a few settings changed, on the same encoder and the same training.
"""

import warnings
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import spacy
from _measure import ROOT
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from spacy.training.batchers import minibatch_by_words
from spacy.util import filter_spans
from thinc.api import Optimizer, set_dropout_rate

DROPOUT = 0.1
WORDS_PER_BATCH = 1000
_LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": 96, "upstream": "*"}
_NGRAMS = "components.spancat.suggester.max_size"
_DECODER = "components.nested_ner.decoder"
_QUADRATIC = {"@misc": "spacy-nested-ner.QuadraticDecoder.v1"}
_NER = {
    "factory": "ner",
    "model": {
        "@architectures": "spacy.TransitionBasedParser.v2",
        "state_type": "ner",
        "extra_state_tokens": False,
        "hidden_width": 64,
        "maxout_pieces": 2,
        "use_upper": True,
        "nO": None,
        "tok2vec": _LISTENER,
    },
}
_SPAN_FINDER = {
    "factory": "span_finder",
    "spans_key": "sc",
    "threshold": 0.5,
    "max_length": 25,
    "min_length": None,
    "model": {
        "@architectures": "spacy.SpanFinder.v1",
        "scorer": {"@layers": "spacy.LinearLogistic.v1", "nO": 2},
        "tok2vec": _LISTENER,
    },
}


@dataclass(frozen=True)
class System:
    """A pipeline.

    config (str): The name of a config in configs/.
    changes (dict[str, Any]): Settings of the config to change, by their full names.
    pipeline (tuple[str, ...]): Its components; the config's own if there are none.
    added (dict[str, dict]): Components that the config does not have.
    annotates (tuple[str, ...]): Components whose predictions others need in training.
    """

    config: str
    changes: dict[str, Any] = field(default_factory=dict)
    pipeline: tuple[str, ...] = ()
    added: dict[str, dict] = field(default_factory=dict)
    annotates: tuple[str, ...] = ()

    def build(self, **changes: Any) -> Language:
        """The pipeline, before it is initialized. It multiplies with BLIS."""
        path = ROOT / "configs" / f"{self.config}.cfg"
        config = spacy.util.load_config(path, {"nlp.after_pipeline_creation": None, **self.changes, **changes})
        config["components"].update(self.added)
        if self.pipeline:
            config["nlp"]["pipeline"] = list(self.pipeline)
            config["components"] = {name: config["components"][name] for name in self.pipeline}
        return spacy.util.load_model_from_config(config, auto_fill=True)

    def update(self, nlp: Language, batch: list[Example], optimizer: Optimizer) -> None:
        """One step of training."""
        if len(nlp.pipe_names) > 1:
            nlp.update(batch, sgd=optimizer, drop=DROPOUT, annotates=list(self.annotates))
            return
        if nlp.pipe_names == ["transformer"]:
            return  # its weights are those of the pretrained model
        # A tok2vec alone has no loss. A gradient of its output makes it do all of its work.
        (encoder,) = (component for _, component in nlp.pipeline)
        set_dropout_rate(encoder.model, DROPOUT)
        vectors, backprop = encoder.model.begin_update([example.x.copy() for example in batch])
        backprop([1e-3 * vector for vector in vectors])
        encoder.finish_update(optimizer)


SYSTEMS = {
    "tok2vec alone": System("tok2vec", pipeline=("tok2vec",)),
    "ner": System("tok2vec", pipeline=("tok2vec", "ner"), added={"ner": _NER}),
    "nested_ner": System("tok2vec"),
    "spancat, 1–3-grams": System("spancat", {_NGRAMS: 3}),
    "spancat, 1–10-grams": System("spancat"),
    "spancat, span_finder": System(
        "spancat",
        {"components.spancat.suggester": {"@misc": "spacy.preset_spans_suggester.v1", "spans_key": "sc"}},
        pipeline=("tok2vec", "span_finder", "spancat"),
        added={"span_finder": _SPAN_FINDER},
        annotates=("span_finder",),
    ),
}
# nested_ner with other search spaces than AutoDecoder chooses.
DECODERS = {
    "flat": System("tok2vec", {_DECODER: {"@misc": "spacy-nested-ner.FlatDecoder.v1"}}),
    "c = 1": System("tok2vec", {_DECODER: _QUADRATIC}),
    "c = 2": System("tok2vec", {_DECODER: {**_QUADRATIC, "max_short_child": 2}}),
    "c = 3": System("tok2vec", {_DECODER: {**_QUADRATIC, "max_short_child": 3}}),
    "c = 1, multi_label": System("tok2vec", {_DECODER: {**_QUADRATIC, "multi_label": True}}),
    "cubic": System("tok2vec", {_DECODER: {"@misc": "spacy-nested-ner.CubicDecoder.v1"}}),
}
# Without the schedule of the configs, which refers to another section of them.
_RATE = {"training.optimizer.learn_rate": 5e-5}
TRANSFORMERS = {
    "transformer alone": System("transformer", _RATE, pipeline=("transformer",)),
    "transformer, nested_ner": System("transformer", _RATE),
    "transformer, spancat": System("spancat_transformer", _RATE),
}
ALL_SYSTEMS = {**SYSTEMS, **DECODERS, **TRANSFORMERS}


def read_examples(path: str, nlp: Language) -> list[Example]:
    """Documents as spaCy's own reader gives them: predicted docs have no sentence boundaries."""
    from spacy.training import Corpus

    return list(Corpus(path)(nlp))


def batches_of(examples: list[Example], number: int) -> list[list[Example]]:
    """Batches for training, from the beginning again when the data end."""
    batches = list(minibatch_by_words(examples, size=WORDS_PER_BATCH, tolerance=0.2))
    return [batches[index % len(batches)] for index in range(number)]


def prepare(source: Path, target: Path, *, words: int, label: Callable[[Span], str] | None = None) -> int:
    """Write the first documents of a corpus, with their outermost mentions as entities for `ner`.

    words (int): End after the document with this word.
    label (Callable[[Span], str] | None): The new label of a mention.
    RETURNS (int): How many words were written.
    """
    vocab = spacy.blank("en").vocab
    kept = DocBin(store_user_data=True)
    count = 0
    for doc in DocBin().from_disk(source).get_docs(vocab):
        mentions = list(doc.spans.get("sc", ()))
        if label:
            doc.spans["sc"] = [Span(doc, mention.start, mention.end, label=label(mention)) for mention in mentions]
        doc.set_ents(filter_spans(list(doc.spans.get("sc", ()))))
        kept.add(doc)
        count += len(doc)
        if count >= words:
            break
    kept.to_disk(target)
    return count


def spread_labels(number: int) -> Callable[[Span], str]:
    """Labels by the last word of a mention, so that they can be learned."""
    return lambda mention: f"L{zlib.crc32(mention[-1].lower_.encode()) % number}"


def joined(docs: Iterable[Doc], length: int) -> Doc:
    """One doc of so many tokens, without sentence boundaries; from the beginning again when the docs end."""
    docs = list(docs)
    words = [token.text for doc in docs for token in doc]
    words *= length // len(words) + 1
    return Doc(docs[0].vocab, words=words[:length])


def quiet() -> None:
    """A benchmark trains too little for warnings about training to say anything."""
    warnings.simplefilter("ignore")
