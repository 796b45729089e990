"""Embedding tables of which the optimizer touches only the rows that had a gradient."""

import numpy as np
import pytest
from thinc.api import Adam, Model

from spacy_nested_ner.model.row_gradients import RowGradients

ROWS, WIDTH = 6, 3


def make(seed=0):
    table = np.random.default_rng(seed).normal(size=(ROWS, WIDTH)).astype("float32")
    return Model("table", lambda model, X, is_train: (X, lambda dY: dY), params={"E": table}, shims=[RowGradients()])


def gradients(model):
    (shim,) = model.shims
    return shim


def add(model, rows, seed=1):
    gradient = np.random.default_rng(seed).normal(size=(len(rows), WIDTH)).astype("float32")
    gradients(model).add(model, "E", np.array(rows, dtype="int32"), gradient)
    whole = np.zeros((ROWS, WIDTH), dtype="float32")
    np.add.at(whole, rows, gradient)
    return whole


def look_at(model, averages):
    """As before every evaluation."""
    table = model.get_param("E")
    with model.use_params(averages):
        if (model.id, "E") in averages:
            assert model.get_param("E") is averages[model.id, "E"]
    assert model.get_param("E") is table


def test_gradients_of_rows_add_up():
    model = make()
    expected = add(model, [4, 1, 4]) + add(model, [0, 1], seed=2)
    np.testing.assert_allclose(gradients(model).gradient(model, "E"), expected, rtol=1e-6)


@pytest.mark.parametrize("settings", [{}, {"L2": 0.1}, {"grad_clip": 0.5}, {"L2": 0.1, "L2_is_weight_decay": False}])
def test_rows_change_as_in_a_table_of_their_own(settings):
    """Adam on a table that has only these rows does the same."""
    model, rows = make(), [1, 4]
    alone = model.get_param("E")[rows].copy()
    before = model.get_param("E").copy()
    ours, theirs = (Adam(0.1, use_averages=False, **settings) for _ in range(2))
    for step in range(4):
        whole = add(model, [4, 1, 4], seed=step)
        model.finish_update(ours)
        alone, _ = theirs(("other", "E"), alone, whole[rows])
    np.testing.assert_allclose(model.get_param("E")[rows], alone, rtol=1e-5)
    others = [row for row in range(ROWS) if row not in rows]
    np.testing.assert_array_equal(model.get_param("E")[others], before[others])
    assert not np.allclose(alone, before[rows])


def test_rows_keep_their_momentum_while_others_change():
    model, optimizer = make(), Adam(0.1, use_averages=False)
    for rows in ([0, 1], [2], [0, 1]):
        add(model, rows)
        model.finish_update(optimizer)
    momentum = optimizer.mom1[model.id, "E"].reshape(ROWS, WIDTH)
    assert momentum[:3].all()
    assert not momentum[3:].any()
    assert momentum.shape == model.get_param("E").shape


def test_averages_are_those_of_the_weights_at_every_step():
    """Those that Thinc makes of the whole table, though most rows are only looked at in the end."""
    model, optimizer = make(), Adam(0.1)
    key, expected = (model.id, "E"), np.zeros((ROWS, WIDTH), dtype="float32")
    for step, rows in enumerate([[0, 1], [2], [0], [5], [1], [0, 5]], start=1):
        add(model, rows, seed=step)
        model.finish_update(optimizer)
        model.ops.update_averages(expected, model.get_param("E"), step)
        if step in (3, 6):
            look_at(model, optimizer.averages)
            np.testing.assert_allclose(optimizer.averages[key], expected, rtol=1e-5, atol=1e-6)


def test_averages_of_another_optimizer_begin_anew():
    model = make()
    for seed in range(2):
        optimizer = Adam(0.1)
        add(model, [1, 2], seed=seed)
        model.finish_update(optimizer)
        expected = np.zeros((ROWS, WIDTH), dtype="float32")
        model.ops.update_averages(expected, model.get_param("E"), 1)
        look_at(model, optimizer.averages)
        np.testing.assert_allclose(optimizer.averages[model.id, "E"], expected, rtol=1e-5)
    look_at(model, {})


def test_two_batches_before_one_update():
    """As with accumulate_gradient."""
    model, other = make(), make()
    ours, theirs = (Adam(0.1, use_averages=False) for _ in range(2))
    other.inc_grad("E", add(model, [4, 1]) + add(model, [0, 1], seed=2))
    model.finish_update(ours)
    other.finish_update(theirs)
    np.testing.assert_allclose(model.get_param("E")[[0, 1, 4]], other.get_param("E")[[0, 1, 4]], rtol=1e-5)
    assert not gradients(model).gradient(model, "E").any()


def test_models_from_before_there_wererow_gradients_load():
    model = make()
    plain = Model("table", lambda model, X, is_train: (X, lambda dY: dY), params={"E": make(seed=3).get_param("E")})
    model.from_bytes(plain.to_bytes())
    np.testing.assert_array_equal(model.get_param("E"), plain.get_param("E"))
    assert make().from_bytes(model.to_bytes()).get_param("E").tolist() == plain.get_param("E").tolist()


def test_two_optimizers_take_turns():
    model = make()
    optimizers, key = [Adam(0.1), Adam(0.1)], (model.id, "E")
    expected = [np.zeros((ROWS, WIDTH), dtype="float32") for _ in optimizers]
    for step, rows in enumerate([[0, 1], [2], [0], [5], [1], [0, 5]]):
        add(model, rows, seed=step)
        model.finish_update(optimizers[step % 2])
        model.ops.update_averages(expected[step % 2], model.get_param("E"), 1 + step // 2)
    look_at(model, optimizers[1].averages)
    np.testing.assert_allclose(optimizers[1].averages[key], expected[1], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(optimizers[0].averages[key], expected[0], rtol=1e-5, atol=1e-6)


def test_a_copy_of_a_layer_leaves_the_optimizer_of_the_other_alone():
    model, optimizer = make(), Adam(0.1)
    add(model, [1, 2])
    model.finish_update(optimizer)
    add(model, [1, 2])
    average = optimizer.averages[model.id, "E"].copy()
    copied = model.copy()
    copied.finish_update(optimizer)
    assert optimizer.nr_update[model.id, "E"] == 1
    np.testing.assert_array_equal(optimizer.averages[model.id, "E"], average)
    add(copied, [3])
    copied.finish_update(optimizer)
    assert not np.array_equal(copied.get_param("E")[3], model.get_param("E")[3])
    model.finish_update(optimizer)
    assert optimizer.nr_update[model.id, "E"] == 2
