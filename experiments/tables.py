"""Tables from the results.

    python experiments/tables.py

Merges the results of finished runs, writes experiments/tables.md, fills in the tables of docs/experiments.md, and
draws the plots shown there (needs the extra `plots`).
"""

from accuracy import (
    Summaries,
    accuracy_table,
    averaging,
    best_on_dev,
    dev_table,
    not_run,
    results_of,
    short_table,
    summarize,
)
from confidence import FOLDS as LITBANK_FOLDS
from confidence import GROUP, both, read_confidence
from confidence_tables import (
    calibration_table,
    dominance_table,
    ranking_table,
    short_calibration_table,
    thresholds_table,
)
from leads import Folds, Pair, lead_table, pair_of, short_lead_table
from markup import fill
from plan import ROOT, read_plan, runs_by_group, titles
from results import FOLDER, RESULTS, collect
from sizes import AFTER, BEFORE, pairs_of, short_size_table, size_table

TABLES = FOLDER / "tables.md"
PAGE = ROOT / "docs" / "experiments.md"
FOLDS = {name: f"LitBank, fold {number}" for number, name in enumerate(LITBANK_FOLDS)}
CORPORA = {"genia": "GENIA", "litbank": "LitBank", "sample": "Sample corpus", **FOLDS}
PAIR_TITLES = {
    "genia": "GENIA",
    "litbank": "LitBank",
    "litbank-tuned": "LitBank, tuned",
    "genia-transformer": "GENIA, transformer",
    "litbank-transformer": "LitBank folds, transformer",
}
# The group and corpus where both systems were tried with all settings, so that the best of each can be compared.
TUNED = ("settings", "litbank")
INTRODUCTION = """\
# Tables of the experiments

Made by `python experiments/tables.py` from [the results](results); do not edit.
[docs/experiments.md](../docs/experiments.md) says how they were measured and what they mean.

Each row is the mean over the runs that *seeds* counts, and *±* is the standard deviation of test F (divided by their
number, not by one less). Thresholds are those that are best on dev. *Nested R* is the recall of mentions inside others,
*lowest label* the label with the lowest test F."""
# The group that has runs with several numbers of sentences.
SIZES = "sizes"
# The groups of the small transformer that are compared, one for each corpus.
MINILM = ("minilm_genia", "minilm_folds")
# Rows of docs/experiments.md: group, corpus and name.
EXCERPTS = {
    "overview": {
        f"{title}, {updates} updates: {name}": f"{group}/{corpus}/{name}"
        for corpus, title in (("genia", "GENIA"), ("litbank", "LitBank"))
        for group, updates in (("words", "1,000"), ("long", "4,000"))
        for name in (BEFORE, AFTER)
    },
}

# By group and corpus.
Every = dict[str, dict[str, Summaries]]


def summarize_all() -> Every:
    return {
        group: {
            corpus: {name: summarize(found) for name, found in names.items()}
            for corpus, names in results_of(runs).items()
        }
        for group, runs in runs_by_group().items()
    }


def all_tables(every: Every) -> str:
    """The text of experiments/tables.md. Groups that have not been run yet are left out."""
    parts = [INTRODUCTION]
    runs = runs_by_group()
    for group, about in titles().items():
        if not every[group]:
            continue
        parts.append(f"## {about}\n\nThe group `{group}` of [the plan](plan.yml).")
        for corpus, summaries in every[group].items():
            parts += [f"{CORPORA[corpus]}:", accuracy_table(summaries), not_run(runs[group], corpus)]
            if (group, corpus) == TUNED:
                parts += ["The best settings of each system on dev:", accuracy_table(best_on_dev(summaries))]
        if group == SIZES:
            parts += ["Both systems on the same seeds:", size_table(_sizes())]
        if group == MINILM[-1]:
            parts += ["Both systems on the same seeds, all folds together:", lead_table(_minilm(), BEFORE, AFTER)]
    parts += ["## Averaged weights", averaging(read_plan()), *_confidence()]
    return "\n\n".join(filter(None, parts)) + "\n"


def _sizes() -> dict[str, dict[int, Pair]]:
    """By the title of the corpus, then by number of sentences."""
    results = results_of(runs_by_group()[SIZES])
    return {CORPORA[corpus]: pairs_of(found) for corpus, found in results.items()}


def _minilm() -> dict[str, Folds]:
    """What both systems have, by the title of the corpus."""
    corpora: dict[str, Folds] = {}
    for group in MINILM:
        for corpus, names in results_of(runs_by_group()[group]).items():
            pair = pair_of(names.get(BEFORE, []), names.get(AFTER, []))
            if pair.before:
                corpora.setdefault(CORPORA[corpus].partition(",")[0], []).append(pair)
    return corpora


def _vectors(system: str) -> dict[str, Folds]:
    """A system without and with word vectors, by corpus and size."""
    groups = {"vectors_small": (", 500 sentences", ", 500 sentences"), "vectors": ("", ", all")}
    pairs: dict[str, Folds] = {}
    for group, (suffix, size) in groups.items():
        for corpus, names in results_of(runs_by_group()[group]).items():
            pair = pair_of(names.get(f"{system}, no vectors", []), names.get(f"{system}{suffix}", []))
            if pair.before:
                pairs[f"{CORPORA[corpus]}{size}"] = [pair]
    return dict(sorted(pairs.items()))


def _confidence() -> list[str]:
    every = read_confidence()
    results = both(every)
    return [
        "## Confidence",
        "The default, spancat, and the pair tuned on LitBank, after 4,000 updates, and both with a small transformer "
        "after 1,000 updates, on test data. Expected calibration error (ECE, ten bins) of the mentions found, its "
        "highest value over runs (seeds or folds), and what exact probabilities have by chance:",
        calibration_table(results),
        "Precision, recall and F over thresholds, for the runs where nested recall was measured. The one spancat "
        "pipeline of GENIA is a repetition of the one in the other tables:",
        thresholds_table(every),
        "For how many runs the curve of precision over recall lies on or above every point of spancat's:",
        dominance_table(results),
        "The share of sentences and of words that holds half of all errors if sentences are read in this order, and "
        "the area under the curve of errors found (0.5 for a random order):",
        ranking_table(results),
    ]


def fill_page(page: str, every: Every) -> str:
    """docs/experiments.md with its tables. What has not been run yet is left out."""
    for table, rows in EXCERPTS.items():
        chosen = {title: path.split("/", 2) for title, path in rows.items()}
        summaries = {
            title: every[group][corpus][name]
            for title, (group, corpus, name) in chosen.items()
            if name in every[group].get(corpus, {})
        }
        page = fill(page, table, short_table(summaries))
    recipe = {CORPORA[corpus]: summaries for corpus, summaries in every["recipe"].items()}
    page = fill(page, "recipe", dev_table(recipe))
    page = fill(page, "averaging", averaging(read_plan()))
    page = fill(page, "sizes", short_size_table(_sizes()))
    page = fill(page, "vectors", short_lead_table(_vectors(AFTER), "without", "with vectors"))
    page = fill(page, "leads", lead_table(_minilm(), BEFORE, AFTER))
    pairs = {PAIR_TITLES[pair]: seeds for pair, seeds in both(read_confidence()).items()}
    return fill(page, "calibration", short_calibration_table(pairs))


def plot_all() -> None:
    """The plots that docs/experiments.md shows."""
    from plots import plot_confidence, plot_curves, plot_sizes

    results = results_of(runs_by_group()["long"])
    for corpus, found in results.items():
        plot_curves(found, f"The default on {CORPORA[corpus]}", RESULTS / f"default-{corpus}.png")
    if sizes := _sizes():
        plot_sizes(sizes, RESULTS / "sizes.png")
    for systems in list(both(read_confidence()).get("genia", {}).values())[:1]:
        plot_confidence(systems, CORPORA["genia"], RESULTS / "confidence-genia.png")


def main() -> None:
    for group in (*titles(), GROUP):
        collect(group)
    every = summarize_all()
    TABLES.write_text(all_tables(every), encoding="utf-8")
    PAGE.write_text(fill_page(PAGE.read_text(encoding="utf-8"), every), encoding="utf-8")
    plot_all()


if __name__ == "__main__":
    main()
