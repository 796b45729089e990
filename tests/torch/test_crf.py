"""The layer: its numbers are those of the decoders, and its gradients are those of its numbers."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
from helpers import SPACES, random_scores

from spacy_nested_ner import decoders
from spacy_nested_ner.decoders import AutoDecoder, CubicDecoder, FlatDecoder, Mention, QuadraticDecoder

pytest.importorskip("torch.nn")  # tests/torch would do for "torch"
import torch
from torch.autograd import gradcheck, gradgradcheck

import spacy_nested_ner.torch
from spacy_nested_ner.torch import NestedCRF, _autograd, _transfer, functions

LENGTHS = [4, 0, 2]
GOLD = [[(0, 3, 1), (1, 2, 0)], [], [(0, 1, 1)]]


@pytest.fixture(params=list(SPACES))
def crf(request):
    name, settings = SPACES[request.param]
    return NestedCRF(getattr(decoders, name)(**settings))


def padded_scores(dtype=torch.float64, forbidden=0.2):
    """A batch of three sentences. Padding and cells below the diagonal are NaN."""
    scores = torch.full((3, 4, 4, 2), torch.nan, dtype=dtype)
    for number, n in enumerate(LENGTHS):
        some = torch.from_numpy(random_scores(n, 2, seed=number, forbidden=forbidden)).to(dtype)
        scores[number, :n, :n] = some
    for number, mentions in enumerate(GOLD):
        for start, end, label in mentions:
            scores[number, start, end - 1, label] = 0.5
    return scores


def clean_scores():
    """The same for numeric derivatives, which change every number."""
    return torch.nan_to_num(padded_scores(forbidden=0.0), nan=0.1).requires_grad_()


def parts(scores):
    return [scores[number, :n, :n] for number, n in enumerate(LENGTHS)]


def arrays(scores):
    return [part.detach().numpy() for part in parts(scores)]


# What every function of the layer gives: one number per sentence.
NUMBERS = {
    "log_partition": lambda crf, scores, lengths, gold: crf.log_partition(scores, lengths),
    "entropy": lambda crf, scores, lengths, gold: crf.entropy(scores, lengths),
    "expected_score": lambda crf, scores, lengths, gold: crf.expected_score(scores, lengths),
    "log_prob": lambda crf, scores, lengths, gold: crf.log_prob(scores, gold, lengths),
    "loss": lambda crf, scores, lengths, gold: crf.loss(scores, gold, lengths, reduction="none"),
}
TWICE = ("log_partition", "log_prob", "loss")


def inside(crf):
    return [crf.decoder.project(mentions, n) for mentions, n in zip(GOLD, LENGTHS)]


def expected_numbers(crf, name, scores):
    decoder, every = crf.decoder, arrays(scores)
    if name == "expected_score":
        return [p[p > 0] @ s[p > 0] for p, s in zip(decoder.marginals(every), every)]
    if name in ("log_prob", "loss"):
        sign = -1 if name == "loss" else 1
        return [sign * number for number in decoder.log_prob(every, inside(crf))]
    return getattr(decoder, name)(every)


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_those_of_the_decoder(crf, name):
    """In all forms of scores. What is not read may be NaN, and gets no gradient."""
    function, gold = NUMBERS[name], inside(crf)
    scores = padded_scores().requires_grad_()
    expected = torch.tensor(expected_numbers(crf, name, scores), dtype=torch.float64)
    mask = torch.arange(4) < torch.tensor(LENGTHS)[:, None]
    for lengths in (LENGTHS, torch.tensor(LENGTHS), mask, mask.long()):
        torch.testing.assert_close(function(crf, scores, lengths, gold), expected)
    torch.testing.assert_close(function(crf, parts(scores), None, gold), expected)
    torch.testing.assert_close(function(crf, scores[2, :2, :2], None, gold[2]), expected[2])
    (gradient,) = torch.autograd.grad(function(crf, scores, LENGTHS, gold).sum(), scores)
    (of_list,) = torch.autograd.grad(function(crf, parts(scores), None, gold).sum(), scores)
    torch.testing.assert_close(gradient, of_list)
    assert not gradient[padded_scores().isnan()].any()
    assert gradient.isfinite().all()


@pytest.mark.parametrize("name", NUMBERS)
def test_gradients(crf, name):
    gold = inside(crf)
    assert gradcheck(lambda scores: NUMBERS[name](crf, scores, LENGTHS, gold), clean_scores())
    if name in TWICE:
        assert gradgradcheck(lambda scores: NUMBERS[name](crf, scores, LENGTHS, gold), clean_scores())


def test_gradients_of_marginals(crf):
    assert gradcheck(lambda scores: crf.marginals(scores, LENGTHS), clean_scores())
    assert gradcheck(lambda scores: tuple(crf.marginals(parts(scores))), clean_scores())


@pytest.mark.parametrize("settings", [{"multi_label": True}, {"max_span_length": 2}], ids=str)
@pytest.mark.parametrize("kind", [FlatDecoder, QuadraticDecoder, CubicDecoder])
def test_gradients_with_other_settings(kind, settings):
    crf = NestedCRF(kind(**settings))
    for name in ("entropy", "expected_score", "loss"):
        assert gradcheck(lambda scores, name=name: NUMBERS[name](crf, scores, LENGTHS, inside(crf)), clean_scores())


def test_marginals_have_the_form_of_the_scores(crf):
    scores = padded_scores()
    expected = crf.decoder.marginals(arrays(scores))
    padded = crf.marginals(scores, LENGTHS)
    assert padded.shape == scores.shape
    assert not padded[scores.isnan()].any()
    in_list = crf.marginals(parts(scores))
    assert type(in_list) is list
    for number, n in enumerate(LENGTHS):
        np.testing.assert_array_equal(padded[number, :n, :n].numpy(), expected[number])
        np.testing.assert_array_equal(in_list[number].numpy(), expected[number])
    np.testing.assert_array_equal(crf.marginals(scores[0]).numpy(), expected[0])


def test_expected_values_and_their_gradient(crf):
    scores, values = clean_scores(), torch.rand(3, 4, 4, 2, dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda s, v: crf.expected_score(s, LENGTHS, values=v), (scores, values))
    ones = crf.expected_score(scores, LENGTHS, values=torch.ones_like(scores))
    torch.testing.assert_close(ones, crf.marginals(scores, LENGTHS).sum((1, 2, 3)))
    with pytest.raises(ValueError, match="values have another shape than the scores"):
        crf.expected_score(scores, LENGTHS, values=values[:, :, :, :1])


def test_analyses_are_those_of_the_decoder(crf):
    scores, decoder = padded_scores(), crf.decoder
    every = arrays(scores)
    for given, lengths in ((scores, LENGTHS), (parts(scores), None)):
        assert crf.decode(given, lengths) == decoder.decode(every)
        assert crf.k_best(given, 3, lengths) == decoder.k_best(every, 3)
        assert crf.sample(given, lengths, n_samples=4, seed=5) == decoder.sample(every, 4, 5)
    assert crf.decode(scores[0]) == decoder.decode(every[0])
    assert crf.k_best(scores[0]) == decoder.k_best(every[0])
    assert isinstance(crf.decode(scores[0].requires_grad_())[0], Mention)


def test_samples_follow_the_seed_of_torch():
    crf, scores = NestedCRF(QuadraticDecoder()), torch.zeros(1, 6, 6, 2)
    torch.manual_seed(1)
    first, second = crf.sample(scores), crf.sample(scores)
    torch.manual_seed(1)
    assert crf.sample(scores) == first != second


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_computed_in_single(dtype):
    crf = NestedCRF(QuadraticDecoder())
    scores = clean_scores().detach().to(dtype).requires_grad_()
    loss = crf(scores, GOLD, LENGTHS)
    assert loss.dtype == torch.float32
    assert loss == crf(scores.float(), GOLD, LENGTHS)
    assert crf.marginals(scores, LENGTHS).dtype == torch.float32
    loss.backward()
    assert scores.grad.dtype == dtype
    single = scores.detach().float().requires_grad_()
    crf(single, GOLD, LENGTHS).backward()
    torch.testing.assert_close(scores.grad, single.grad.to(dtype))


def test_memory_in_any_order(crf):
    """Scores of many models have their labels first."""
    scores = clean_scores()
    turned = scores.detach().permute(3, 0, 2, 1).contiguous().permute(1, 3, 2, 0).requires_grad_()
    assert not turned.is_contiguous()
    for one in (scores, turned):
        crf(one, inside(crf), LENGTHS).backward()
    torch.testing.assert_close(turned.grad, scores.grad)


def test_reductions():
    crf, scores = NestedCRF(QuadraticDecoder()), clean_scores()
    losses = crf(scores, GOLD, LENGTHS, reduction="none")
    assert losses.shape == (3,)
    torch.testing.assert_close(crf(scores, GOLD, LENGTHS), losses.mean())
    torch.testing.assert_close(crf.loss(scores, GOLD, LENGTHS, reduction="sum"), losses.sum())
    assert crf(scores[0], GOLD[0], reduction="none").shape == ()
    with pytest.raises(ValueError, match="reduction is 'average'; expected 'mean', 'sum' or 'none'"):
        crf(scores, GOLD, LENGTHS, reduction="average")


def test_an_empty_batch():
    crf = NestedCRF(CubicDecoder())
    for scores in ([], torch.zeros(0, 3, 3, 2), torch.zeros(2, 0, 0, 2), torch.zeros(2, 3, 3, 0)):
        n = len(scores)
        assert crf(scores, [[]] * n) == 0
        assert crf.entropy(scores).tolist() == crf.log_partition(scores).tolist() == [0.0] * n
        assert crf.expected_score(scores).tolist() == [0.0] * n
        assert crf.decode(scores) == [[]] * n


def test_mentions_as_a_tensor(crf):
    scores = clean_scores()
    events = torch.zeros(scores.shape)
    for number, mentions in enumerate(inside(crf)):
        for start, end, label in mentions:
            events[number, start, end - 1, label] = 1
    torch.testing.assert_close(crf(scores, events, LENGTHS), crf(scores, inside(crf), LENGTHS))
    torch.testing.assert_close(crf.log_prob(scores[0], events[0]), crf.log_prob(scores[0], inside(crf)[0]))
    with pytest.raises(ValueError, match=r"tensor of shape \(3, 4, 4\); expected that of the scores, \(3, 4, 4, 2\)"):
        crf(scores, events[..., 0], LENGTHS)
    with pytest.raises(ValueError, match="expected a list, as scores are"):
        crf(list(scores), events)


def test_an_impossible_analysis_has_no_probability_and_no_loss(crf):
    scores, crossing = clean_scores(), [[(0, 2, 0), (1, 3, 0)], [], [(0, 1, 1)]]
    found = crf.log_prob(scores, crossing, LENGTHS)
    assert found[0] == -torch.inf
    assert found[2].isfinite()
    (gradient,) = torch.autograd.grad(found[1:].sum() + found[0], scores)
    assert gradient[2].any()
    assert not gradient[0].any()
    with pytest.raises(ValueError, match=r"mentions of sentence 0 are outside .* cross; use `decoder.project\(m.*4\)"):
        crf(scores, crossing, LENGTHS)


def test_derivatives_that_do_not_exist_are_refused():
    """They are not silently 0."""
    crf, scores = NestedCRF(QuadraticDecoder()), clean_scores()
    for result in (crf.entropy(scores, LENGTHS), crf.expected_score(scores, LENGTHS), crf.marginals(scores, LENGTHS)):
        (gradient,) = torch.autograd.grad(result.sum(), scores, create_graph=True)
        with pytest.raises(RuntimeError, match="differentiated twice; marginals, expected_score and entropy once"):
            (gradient * gradient + scores).sum().backward()


def test_gradients_of_a_graph_that_is_kept():
    """Nothing that was saved is written to."""
    crf, scores = NestedCRF(QuadraticDecoder()), clean_scores()
    loss = crf(scores, GOLD, LENGTHS)
    (first,) = torch.autograd.grad(loss, scores, retain_graph=True)
    first = first.clone()
    (second,) = torch.autograd.grad(2 * loss, scores)
    torch.testing.assert_close(second, 2 * first)


def test_the_layer_has_nothing_to_learn_and_can_be_copied():
    crf = NestedCRF(QuadraticDecoder(max_short_child=2))
    assert not crf.state_dict()
    assert not list(crf.parameters())
    assert repr(crf) == "NestedCRF(QuadraticDecoder(max_short_child=2, multi_label=False, max_span_length=None))"
    assert copy.deepcopy(crf).decoder == pickle.loads(pickle.dumps(crf)).decoder == crf.decoder


@pytest.mark.parametrize(
    "scores, lengths, error, message",
    [
        (np.zeros((2, 2, 1)), None, TypeError, "scores is a ndarray; expected a tensor"),
        ([torch.zeros(2, 2, 1), 3], None, TypeError, r"scores\[1\] is a int; expected a tensor"),
        (torch.zeros(2, 2, 1, dtype=torch.int64), None, TypeError, "dtype torch.int64; expected float32, float64, bfl"),
        (torch.zeros(2, 3, 1), None, ValueError, r"shape \(2, 3, 1\); expected \(n, n, labels\), or \(sentences, n, n"),
        (torch.zeros(2, 2), None, ValueError, r"scores has shape \(2, 2\)"),
        ([torch.zeros(1, 2, 2, 1)], None, ValueError, r"\[0\] has shape \(1, 2, 2, 1\); expected \(n, n, labels\)$"),
        ([torch.zeros(2, 2, 1), torch.zeros(2, 2, 3)], None, ValueError, r"\[1\] has 3 labels .* expected the same"),
        (torch.zeros(2, 2, 1), [2], ValueError, "lengths are given, but scores is not padded; leave them out"),
        (torch.zeros(2, 3, 3, 1), [3], ValueError, r"lengths have shape \(1,\); expected 2 numbers of tokens, or"),
        (torch.zeros(2, 3, 3, 1), [3, 4], ValueError, "sentence 1 has length 4; expected 0 to 3, the padded length"),
        (torch.zeros(2, 3, 3, 1), [3, -1], ValueError, "sentence 1 has length -1; expected 0 to 3"),
        (torch.zeros(2, 3, 3, 1), [3.0, 1.0], TypeError, "lengths have dtype float64; expected whole numbers"),
        (torch.zeros(2, 3, 3, 1), [[1, 1, 0], [0, 1, 1]], ValueError, "mask of sentence 1 is not 1 for its first"),
        (torch.zeros(2, 2, 1, device="meta"), None, ValueError, "on the device meta, which holds no values"),
        (torch.full((2, 2, 1), torch.nan), None, ValueError, r"scores\[0\]\[0, 0, 0\] is nan; weights must be finite"),
    ],
)
def test_scores_and_lengths_that_cannot_be_used(scores, lengths, error, message):
    crf = NestedCRF(QuadraticDecoder())
    for method in (crf.log_partition, crf.decode, crf.entropy):
        with pytest.raises(error, match=message):
            method(scores, lengths)


def test_mentions_that_cannot_be_used():
    crf, scores = NestedCRF(QuadraticDecoder()), torch.zeros(2, 3, 3, 2)
    for label in (2, -1):
        with pytest.raises(ValueError, match=f"mention of sentence 1 has the label {label}; expected 0 to 1"):
            crf(scores, [[], [(0, 1, label)]])
    for label in ("PER", True, 1.5):
        with pytest.raises(TypeError, match=r"has the label .*; expected the number of a label"):
            crf(scores, [[], [(0, 3, label)]])
    with pytest.raises(ValueError, match="not a span of 2 tokens"):
        crf(scores, [[], [(1, 3, 0)]], [3, 2])
    with pytest.raises(ValueError, match="there are 1 analyses for 2 sentences"):
        crf(scores, [[]])
    with pytest.raises(TypeError, match="mentions is a NoneType; expected a list with one analysis per sentence"):
        crf(scores, None)
    expected = crf(scores, [[(0, 1, 1)], []])
    for mentions in ([(np.int64(0), 1, np.int64(1))], [[0, 1, 1]], {(0, 1, 1)}, iter([(0, 1, 1), (0, 1, 1)])):
        assert crf(scores, [mentions, []]) == expected


def test_decoders_that_are_none():
    for decoder in (AutoDecoder(), "quadratic", None):
        with pytest.raises(TypeError, match=r"decoder is a \w+; expected a decoder such as QuadraticDecoder\(\)"):
            NestedCRF(decoder)
        with pytest.raises(TypeError, match="expected a decoder such as"):
            functions.decode(decoder, torch.zeros(2, 2, 1))


def test_every_function_is_a_method_too():
    for name in spacy_nested_ner.torch.__all__:
        assert name == "NestedCRF" or callable(getattr(NestedCRF, name)), name


# ---- devices: tensors without values, and objects that pretend ----


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_everything_but_the_copies_stays_on_the_device(monkeypatch, dtype):
    """There, and on the way back."""

    def to_host(tensor):
        assert tensor.device.type == "meta"
        return np.zeros(tuple(tensor.shape), "float32")

    def to_device(array, device):
        assert device.type == "meta"
        return torch.from_numpy(array).to(device)

    for module in (_autograd, functions):
        monkeypatch.setattr(module, "to_host", to_host)
        monkeypatch.setattr(module, "to_device", to_device)
    crf, gold = NestedCRF(QuadraticDecoder()), [[(0, 1, 1)], [], [(0, 1, 0)]]
    scores = torch.zeros(3, 4, 4, 2, device="meta", dtype=dtype, requires_grad=True)
    for given, lengths in ((scores, LENGTHS), (parts(scores), None)):
        for function in NUMBERS.values():
            result = function(crf, given, lengths, gold)
            assert (result.device.type, result.dtype, result.shape) == ("meta", torch.float32, (3,))
            (gradient,) = torch.autograd.grad(result.sum(), scores)
            assert (gradient.device.type, gradient.dtype, gradient.shape) == ("meta", dtype, scores.shape)
        marginals = crf.marginals(given, lengths)
        assert all(part.device.type == "meta" for part in marginals)
        assert torch.autograd.grad(sum(part.sum() for part in marginals), scores)[0].device.type == "meta"
        assert [len(found) for found in crf.decode(given, lengths)] == [0, 0, 0]


class Pretended:
    """A tensor that says that it is on a CUDA device."""

    def __init__(self, tensor, log):
        self.tensor, self.log = tensor, log
        self.device, self.shape, self.dtype = torch.device("cuda", 1), tensor.shape, tensor.dtype

    def detach(self):
        return self


def test_copies_from_cuda_are_pinned_and_wait_for_the_stream(monkeypatch):
    log = []

    class Pinned:
        def copy_(self, tensor, non_blocking):
            self.tensor = tensor.tensor.clone()
            log.append(("copy", non_blocking))

        def numpy(self):
            return self.tensor.numpy()

    class Stream:
        def synchronize(self):
            log.append("wait")

    def empty(shape, dtype, pin_memory):
        log.append(("pinned", tuple(shape), dtype, pin_memory))
        return Pinned()

    monkeypatch.setattr(_transfer.torch, "empty", empty)
    monkeypatch.setattr(_transfer.torch.cuda, "current_stream", lambda device: log.append(device) or Stream())
    values = torch.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(_transfer.to_host(Pretended(values, log)), values.numpy())
    assert log == [
        ("pinned", (2, 3), torch.float32, True),
        ("copy", True),
        torch.device("cuda", 1),
        "wait",
    ]


def test_on_the_cpu_nothing_is_copied():
    values = torch.rand(3, 4)
    assert np.shares_memory(_transfer.to_host(values), values.numpy())
    array = np.zeros(3)
    assert np.shares_memory(_transfer.to_device(array, torch.device("cpu")).numpy(), array)


# ---- the extra ----


def test_without_pytorch_the_error_says_what_to_install(tmp_path):
    program = "import sys; sys.modules['torch'] = None\nimport spacy_nested_ner.decoders\nimport spacy_nested_ner.torch"
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    last = run.stderr.splitlines()[-1]
    assert last.startswith("ImportError: spacy_nested_ner.torch needs PyTorch (")
    assert last.endswith("pip install 'spacy-nested-ner[torch]'")
