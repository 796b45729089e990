"""Which component of a pipeline writes mentions, and the pipeline before and after it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from ..annotation import scores_of
from ..decoders.decoder import check_threshold

# How far above 1 the softmax of other components may be.
_ROUNDING = 1e-5


def component_of(nlp: Language, spans_key: str) -> tuple[str, Any] | None:
    """Name and pipe of the last component that says it writes to this key."""
    found = [(name, pipe) for name, pipe in nlp.pipeline if getattr(pipe, "key", None) == spans_key]
    return found[-1] if found else None


def check_pipeline(nlp: Language, spans_key: str) -> None:
    """An error, before any work, if no component declares or can be expected to write to the key."""
    keys = {name: key for name, pipe in nlp.pipeline if isinstance(key := getattr(pipe, "key", None), str)}
    if spans_key in keys.values():
        return
    if keys:
        others = ", ".join(f"{name} to doc.spans[{key!r}]" for name, key in keys.items())
        raise ValueError(f"no component of the pipeline writes to doc.spans[{spans_key!r}]: {others}; see --spans-key")
    # A component that is a function declares no key; whether it writes to this one shows with the first doc.
    if all(hasattr(pipe, "model") for _, pipe in nlp.pipeline):
        raise _no_scores(nlp.pipe_names, spans_key)


def check_scores(nlp: Language, doc: Doc, spans_key: str) -> None:
    """An error if a doc that has been through the pipeline has no mentions, or not a probability for each."""
    group = doc.spans.get(spans_key)
    scores = None if group is None else scores_of(group)
    if scores is None:
        raise _no_scores(nlp.pipe_names, spans_key)
    for score in scores:
        if not 0 <= score <= 1 + _ROUNDING:
            raise ValueError(
                f'doc.spans[{spans_key!r}].attrs["scores"] has {score:g}; expected probabilities, numbers from 0 to 1'
            )


def set_threshold(nlp: Language, spans_key: str, threshold: float) -> None:
    """Let the component that writes to this key use another threshold; an error if it has none."""
    check_threshold(threshold)
    found = component_of(nlp, spans_key)
    settings: dict[str, Any] = getattr(found[1], "cfg", {}) if found else {}
    if "threshold" not in settings:
        name = found[0] if found else "the component"
        raise ValueError(
            f"{name} that writes to doc.spans[{spans_key!r}] has no threshold; nested_ner and spancat have one"
        )
    settings["threshold"] = threshold


def _no_scores(names: Iterable[str], spans_key: str) -> ValueError:
    pipes = ", ".join(names) or "no components"
    return ValueError(
        f"looked for a component that writes mentions to doc.spans[{spans_key!r}] and their probabilities to its "
        f'attrs["scores"], such as nested_ner or spancat; the pipeline has {pipes}'
    )


@dataclass(frozen=True)
class SplitPipeline:
    """A pipeline, split at the component that writes mentions, so that it can run several times on prepared docs.

    Components that clean docs up are left out: a component that listens to another one still needs the tensor.

    before (Sequence[str]): Names of the components before it; of all, if no component declares the key.
    name (str | None): The name of the component.
    pipe (Any): The component itself.
    after (Sequence[str]): Names of the components after it.
    """

    nlp: Language
    before: Sequence[str]
    name: str | None
    pipe: Any
    after: Sequence[str]

    @classmethod
    def at(cls, nlp: Language, spans_key: str) -> "SplitPipeline":
        """Split where mentions are written to this key; an error if they are written nowhere."""
        check_pipeline(nlp, spans_key)
        names = [name for name in nlp.pipe_names if nlp.get_pipe_meta(name).factory != "doc_cleaner"]
        found = component_of(nlp, spans_key)
        if found is None:
            return cls(nlp, names, None, None, [])
        place = names.index(found[0])
        return cls(nlp, names[:place], *found, names[place + 1 :])

    def run(self, names: Sequence[str], docs: Sequence[Doc]) -> None:
        """Run some components on docs."""
        with self.nlp.select_pipes(enable=names):
            for _ in self.nlp.pipe(docs):
                pass
