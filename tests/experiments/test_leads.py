"""How far one system is ahead of another."""

import math

import pytest


def result_with(documents, p=0.7, nested_r=0.4, curve=((0.6, 0.8), (0.5, 0.3))):
    """A run with these documents: gold mentions, mentions found, and those of them that are right; with its precision
    and the recall of nested mentions, and both over thresholds."""
    point = {
        "tuned": {"test": {"documents": documents, "p": p, "nested_r": nested_r}},
        "curve": dict(zip(("p", "nested_r"), curve)),
    }
    return {"updates": [9], "seed": 0, "last": {"points": {"9": point}}}


HALF, BETTER = [(10, 10, 5)] * 40, [(10, 10, 6)] * 20 + [(10, 10, 7)] * 20


def test_leads_have_intervals_over_documents(scripts):
    def lead(*corpora):
        pairs = [[([result_with(runs) for runs in system]) for system in corpus] for corpus in corpora]
        return scripts.leads.lead([[scripts.leads.Pair(*pair)] for pair in pairs])

    one = lead(([HALF, HALF], [BETTER, BETTER]))
    assert one.mean == pytest.approx(0.15)
    assert 0.13 < one.low < 0.15 < one.high < 0.17
    # Documents are drawn for both systems together: what is the same in all of them has no interval.
    assert lead(([HALF], [[(10, 10, 7)] * 40])) == pytest.approx((0.2, 0.2, 0.2))
    # Seeds differ, documents do not.
    assert lead(([HALF, BETTER], [BETTER, HALF])) == pytest.approx((0, 0, 0))
    both = lead(([HALF], [BETTER]), ([HALF], [HALF]))
    assert both.mean == pytest.approx(0.075)
    assert scripts.leads.show_lead(both).startswith("+7.5 (+")


def test_the_documents_of_all_folds_count_as_one_corpus(scripts):
    def pair(before, after):
        return scripts.leads.Pair([result_with(before)], [result_with(after)])

    folds = [pair(HALF[:10], BETTER[:10]), pair(HALF[10:], BETTER[10:])]
    whole = [pair(HALF, BETTER)]
    assert scripts.leads.lead([folds]) == scripts.leads.lead([whole])
    *_, of_folds, of_whole, mean = scripts.leads.lead_table({"A": folds, "B": whole}, "old", "new").splitlines()
    assert of_folds.startswith("| A | 2 | 1 | 50.0 | 65.0 | +15.0 (+1")
    assert of_whole.startswith("| B | 1 | 1 | 50.0 | 65.0 | +15.0 (+1")
    assert of_whole.endswith(" | 40.0 | 40.0 |")
    assert mean.startswith("| mean |  |  | 50.0 | 65.0 | +15.0 (+1")


def test_nested_recall_is_compared_at_equal_precision(scripts):
    def nested(*curve):
        before, after = result_with(HALF, p=0.7, nested_r=0.4), result_with(HALF, curve=curve)
        return scripts.leads.nested_recalls(scripts.leads.Pair([before], [after]))

    # Precision need not rise with the threshold.
    assert nested((0.6, 0.9, 0.8), (0.7, 0.1, 0.3)) == pytest.approx((0.4, 0.5))
    assert math.isnan(nested((0.8, 0.9), (0.3, 0.1))[1])


def test_systems_are_compared_on_the_seeds_that_both_have(scripts):
    def runs(*seeds):
        return [{"seed": seed, "f": seed} for seed in seeds]

    before, after = scripts.leads.pair_of(runs(2, 0, 1), runs(1, 2, 3))
    assert [run["seed"] for run in before] == [run["seed"] for run in after] == [1, 2]
