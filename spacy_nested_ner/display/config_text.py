"""Why a config is as it is, as text: the data in numbers, the settings with their reasons, what to do next."""

from shlex import quote
from textwrap import fill

from ..configs.evidence import Part
from ..configs.plan import ConfigPlan
from .tables import percent, render_table

# Characters of a line, and labels that are named.
_WIDTH = 100
_MAX_LABELS = 8


def describe_plan(plan: ConfigPlan) -> str:
    """The data, the settings and the notes."""
    return "\n\n".join(filter(None, [_numbers(plan), _labels(plan.train), _settings(plan), _notes(plan)]))


def describe_next_steps(plan: ConfigPlan, config: str) -> str:
    """The commands to run now.

    config (str): The path of the config.
    """
    key = "" if plan.spans_key == "sc" else f" --spans-key {quote(plan.spans_key)}"
    train = f"spacy train {quote(config)} -o training"
    remarks: list[str] = []
    if plan.dev is None:
        source = quote(str(plan.train.contents.path))
        title = "Next, set some documents aside as development data, which training needs:"
        commands = [
            f"spacy nested-ner convert {source} corpus --split {_shares(len(plan.train.contents.texts))}{key}",
            f"{train} --paths.train corpus/train.spacy --paths.dev corpus/dev.spacy",
        ]
    else:
        dev = plan.dev.contents.path
        test = dev.with_name("test.spacy")
        unseen = test if dev.name == "dev.spacy" and test.exists() else dev
        title = "Next:"
        commands = [
            train,
            f"spacy nested-ner calibrate training/model-best {quote(str(dev))} -o training/calibrated{key}",
            f"spacy nested-ner report training/calibrated {quote(str(unseen))} -o report{key}",
        ]
        if unseen == dev:
            remarks = ["Better make the report with other documents, if you have any: these were used to calibrate."]
    return "\n".join([title, *(f"  {command}" for command in commands), *remarks])


def _shares(documents: int) -> str:
    """For --split. A tenth of a few documents would be none."""
    return "34/33/33" if 3 <= documents < 10 else "80/10/10"


def _numbers(plan: ConfigPlan) -> str:
    parts = {"train": plan.train} | ({"dev": plan.dev} if plan.dev is not None else {})
    columns = [_column(part) for part in parts.values()]
    rows = [(name, *(column[name] for column in columns)) for name in columns[0]]
    return render_table(rows, ["", *parts])


def _column(part: Part) -> dict[str, str]:
    contents, evidence = part
    return {
        "Documents": f"{contents.documents:,}",
        "Words": f"{contents.words:,}",
        "  in the longest document": f"{contents.longest:,}",
        "Mentions": f"{evidence.mentions:,}",
        "  inside another, %": percent(evidence.nested / max(1, evidence.mentions)),
        "  words in the longest": f"{evidence.longest:,}",
        "Labels": f"{len(evidence.labels):,}",
    }


def _labels(train: Part) -> str:
    labels = train.evidence.labels.most_common()
    shown = [f"{label} {n:,}" for label, n in labels[:_MAX_LABELS]]
    more = len(labels) - len(shown)
    return "Labels: " + ", ".join(shown) + (f" and {more:,} more" if more else "")


def _settings(plan: ConfigPlan) -> str:
    subjects = max(len(each.subject) for each in plan.decisions)
    values = max(len(each.value) for each in plan.decisions)
    return "\n".join(
        _wrap(f"{each.subject:{subjects}}   {each.value:{values}}   ", each.why) for each in plan.decisions
    )


def _notes(plan: ConfigPlan) -> str:
    return "\n".join(_wrap("Note: ", note) for note in plan.notes)


def _wrap(start: str, text: str) -> str:
    """A text that continues below its own beginning. Words are not broken: commands and paths stay whole."""
    width = max(_WIDTH, len(start) + 40)
    return fill(
        text,
        width,
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_long_words=False,
        break_on_hyphens=False,
    )
