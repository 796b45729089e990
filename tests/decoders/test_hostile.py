"""Whatever Python code does to decoders, layouts and arrays: an error or the right result, never a crash.

Each case runs in a process of its own, so that a crash is a failed test and not the end of all tests.
"""

import subprocess
import sys

import numpy as np
import pytest

from spacy_nested_ner.decoders import CubicDecoder, FlatDecoder, PackedScores, QuadraticDecoder, SearchSpace, SpanLayout
from spacy_nested_ner.decoders._kernels import engine
from spacy_nested_ner.decoders._kernels.batch import Batch

PROGRAM = """
import copy, threading
import numpy as np
from numpy.lib.stride_tricks import as_strided
from spacy_nested_ner.decoders import *
from spacy_nested_ner.decoders._kernels import engine
from spacy_nested_ner.decoders._kernels.batch import Batch

force = object.__setattr__
x = np.random.default_rng(0).normal(size=(6, 6, 2)).astype("float32")
d = QuadraticDecoder()
p = PackedScores.pack([x, x[:3, :3]])

def analyze_strictly(decoder, scores):
    return decoder.analyze(scores, threshold=0.5, temperature=2.0)

def three_best(decoder, scores):
    return decoder.k_best(scores, 3)

def vary(decoder, scores):
    return decoder.covariances(scores, scores)

def every(decoder, scores):
    packed = [type(decoder).analyze, analyze_strictly] if isinstance(scores, PackedScores) else []
    for name in ["decode", "log_partition", "marginals", "sample", three_best, *packed, vary, "entropy"]:
        try:
            name(decoder, scores) if callable(name) else getattr(decoder, name)(scores)
            print("fine")
        except (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError) as error:
            print(type(error).__name__)

"""

REFUSED = {
    "short child below zero": "force(d.space, 'max_short_child', -100000); every(d, x)",
    "short child in the dictionary": "d.space.__dict__['max_short_child'] = -2; every(d, p)",
    "short child is text": "force(d.space, 'max_short_child', 'all'); every(d, x)",
    "a space of another kind": "d.__dict__['space'] = 17; every(d, x)",
    "no space at all": "del d.__dict__['space']; every(d, x)",
    "span length below zero": "force(d.space, 'max_span_length', -5); every(d, x)",
    "a subclass with settings of its own": """
class Liar(QuadraticDecoder):
    space = property(lambda self: type('S', (), {'for_kernels': lambda self: (-9, False, -9)})(), lambda self, v: None)
Liar.max_span_length = None
every(Liar(), x)
""",
    "lengths that are too large": "force(p.layout, 'lengths', (10**9, 0)); every(d, p)",
    "lengths that overflow": "force(p.layout, 'lengths', (2**62, 2**62)); every(d, p)",
    "lengths beyond any integer": "force(p.layout, 'lengths', (10**30, 3)); every(d, p)",
    "lengths below zero": "force(p.layout, 'lengths', (-6, 3)); every(d, p)",
    "lengths that only add up": "force(p.layout, 'lengths', (3, 6, -1, 0)); every(d, p)",
    "lengths that are fractions": "force(p.layout, 'lengths', (6.0, 3.0)); every(d, p)",
    "too few lengths": "force(p.layout, 'lengths', (6,)); every(d, p)",
    "stored span length below zero": "force(p.layout, 'max_span_length', -1); every(d, p)",
    "stored span length of one": "force(p.layout, 'max_span_length', 1); every(d, p)",
    "values that shrank": "p.values.resize((1, 1), refcheck=False); every(d, p)",
    "values of other shape": "force(p, 'values', np.zeros((2, 5), 'float32')); every(d, p)",
    "values with one axis": "force(p, 'values', np.zeros(27, 'float32')); every(d, p)",
    "values in Fortran order": "force(p, 'values', np.asfortranarray(p.values)); every(d, p)",
    "values in the other byte order": "force(p, 'values', p.values.astype('>f4')); every(d, p)",
    "values of half precision": "force(p, 'values', p.values.astype('float16')); every(d, p)",
    "values that are objects": "force(p, 'values', p.values.astype(object)); every(d, p)",
    "values that are complex": "force(p, 'values', p.values.astype('complex64')); every(d, p)",
    "values that are text": "force(p, 'values', 'values'); every(d, p)",
    "values that are not aligned": """
force(p, 'values', np.zeros(27 * 8 + 1, 'u1')[1:].view('f4').reshape(2, 27))
every(d, p)
""",
    "a layout that is none": "force(p, 'layout', None); every(d, p)",
    "a masked array": "every(d, np.ma.masked_array(x, x > 0))",
    "objects": "every(d, x.astype(object))",
    "half precision": "every(d, x.astype('float16'))",
    "four axes": "every(d, x[None])",
    "more columns than rows": "every(d, x[:5])",
    "a structured array": "every(d, np.zeros((2, 2, 1), dtype=[('w', 'f4')]))",
    "billions of tokens": "every(d, as_strided(x, (2**30, 2**30, 1), (0, 0, 4)))",
    "hundreds of thousands of tokens": "every(d, as_strided(x, (2**19, 2**19, 1), (0, 0, 4)))",
    "a subclass whose shape lies": """
class Liar(np.ndarray):
    shape = property(lambda self: (900, 900, 2))
every(d, [np.zeros((6, 5, 2), 'float32').view(Liar)])
""",
}

FINE = {
    "offsets are not believed": "p.layout.__dict__['offsets'] = np.array([10**9, 0, 27]); d.decode(p); print('fine')",
    "limits beyond any integer": "every(QuadraticDecoder(max_short_child=10**30, max_span_length=10**30), x)",
    "a short child beyond the segment": "every(QuadraticDecoder(max_short_child=2**62), [x, x[:1, :1], x[:0, :0]])",
    "no tokens": "every(d, x[:0, :0])",
    "no labels": "every(d, x[:, :, :0])",
    "packed without labels": "every(d, PackedScores(np.zeros((0, 21), 'float32'), SpanLayout([6])))",
    "packed without segments": "every(d, PackedScores(np.zeros((3, 0), 'float32'), SpanLayout([])))",
    "packed without tokens": "every(d, PackedScores(np.zeros((3, 0), 'float32'), SpanLayout([0, 0])))",
    "memory that is backwards": "every(d, x[::-1, ::-1, ::-1])",
    "memory that is a single number": "every(d, as_strided(x, (300, 300, 4), (0, 0, 0)))",
    "other byte order": "every(d, x.astype('>f4'))",
    "a subclass whose type lies": """
class Liar(np.ndarray):
    dtype = property(lambda self: np.dtype('float64'))
every(d, x.view(Liar))
""",
    "resized from another thread": """
arrays = [np.zeros((40, 40, 3), 'float32') for _ in range(50)]
def shrink():
    for a in arrays:
        try:
            a.resize((1, 1, 1), refcheck=True)
        except ValueError:
            pass
thread = threading.Thread(target=shrink)
thread.start()
d.decode([a for a in arrays])
thread.join()
print('fine')
""",
    "a list that an array empties": """
class Evil:
    def __array__(self, *args, **kwargs):
        arrays.clear()
        return np.zeros((1, 1, 1), "float32")
arrays = [Evil()] + [np.zeros((1, 1, 1), "float32")] * 5000
assert engine.decode(Batch.of_arrays(arrays, True, False, 0), 1, False)[3].shape == (5002,)
print("fine")
""",
    "an array that another one shrinks": """
class Evil:
    def __array__(self, *args, **kwargs):
        first.resize((1, 1, 1), refcheck=False)
        return np.zeros((1, 1, 1), "float32")
first = np.zeros((1000, 1000, 8))
assert [len(found) for found in d.decode([first, Evil()])] == [0, 0]
assert d.log_partition([first, Evil()])[0] == np.log(2)
print("fine")
""",
    "lengths that one of them empties": """
import gc
class Length:
    def __index__(self):
        for other in gc.get_referrers(self):
            if type(other) is list:
                other.clear()
        return 1
Batch.of_packed(np.zeros((1, 5000)), [Length()] + [1] * 4999, 0, False, 0)
print("fine")
""",
    "outputs that an array empties": """
import gc
class Evil:
    def __array__(self, *args, **kwargs):
        for other in gc.get_objects():
            if type(other) is Batch and other.outputs is not None:
                other.outputs.clear()
        return np.zeros((1, 1, 1), "float32")
assert len(FlatDecoder().marginals([np.zeros((1, 1, 1), "float32")] * 5000 + [Evil()])) == 5001
print("fine")
""",
    "a module whose names are replaced": """
from spacy_nested_ner.decoders._kernels import batch
batch.zeros = lambda *arguments: np.zeros((0, 0, 0), "float32")
assert FlatDecoder().marginals(np.zeros((1500, 1500, 8), "float32")).shape == (1500, 1500, 8)
print("fine")
""",
}

READ_AS_A_COPY = {"values in Fortran order", "values in the other byte order", "values that are not aligned"}


def run(body):
    done = subprocess.run([sys.executable, "-c", PROGRAM + body], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"ended with {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_right_is_refused(case):
    *others, covariances, entropy = run(REFUSED[case])
    assert "fine" not in others
    # These make arrays of their own, and may read what the others refuse.
    assert "fine" not in (covariances, entropy) or case in READ_AS_A_COPY


@pytest.mark.slow
@pytest.mark.parametrize("case", FINE)
def test_what_can_be_right_is(case):
    assert set(run(FINE[case])) == {"fine"}


@pytest.mark.parametrize("decoder", [FlatDecoder(), QuadraticDecoder(max_short_child=2), CubicDecoder()], ids=repr)
def test_nothing_of_a_decoder_can_be_set(decoder):
    for name in ("space", "multi_label", "max_span_length", "max_short_child", "name", "anything"):
        with pytest.raises(AttributeError, match=f"{name} of .*Decoder.* cannot be set: decoders are immutable"):
            setattr(decoder, name, -100000)
    with pytest.raises(AttributeError, match=r"space of .* cannot be deleted"):
        del decoder.space
    assert decoder.decode(np.ones((2, 2, 1)))


def test_nothing_of_a_search_space_can_be_set():
    space = SearchSpace(2, True, 5)
    for name in ("max_short_child", "multi_label", "max_span_length"):
        with pytest.raises(AttributeError):
            setattr(space, name, 1)
    assert {space: 1}[SearchSpace(2, True, 5)] == 1


def test_the_kernels_check_for_themselves():
    """What the classes above them do not let through."""
    values = np.zeros((2, 6), dtype="float32")
    batch = Batch.of_packed(values, [3], 0, False, 0)
    for short in (-2, -(2**40)):
        with pytest.raises(ValueError, match=f"max_short_child is {short}; expected 0 or more, or -1 for no limit"):
            engine.decode(batch, short, False)
    with pytest.raises(ValueError, match="6 columns; their segments do not have as many spans"):
        Batch.of_packed(values, [2], 0, False, 0)
    with pytest.raises(ValueError, match="a segment has -3 tokens; expected 0 or more"):
        Batch.of_packed(values, [-3], 0, False, 0)
    with pytest.raises(ValueError, match="max_span_length is -1; expected 1 or more"):
        Batch.of_packed(values, [3], -1, False, 0)
    with pytest.raises(ValueError, match="max_span_length is -1; expected 1 or more"):
        Batch.of_arrays([np.zeros((2, 2, 1))], False, False, -1)
    with pytest.raises(ValueError, match="not aligned and in C order"):
        Batch.of_packed(values[:, ::-1], [3], 0, False, 0)
    with pytest.raises(TypeError, match="scores have type '>f'; expected native float32 or float64"):
        Batch.of_packed(values.astype(">f4"), [3], 0, False, 0)
    with pytest.raises(ValueError, match="has 1 axes; expected 2"):
        Batch.of_packed(values[0], [3], 0, False, 0)
    with pytest.raises(ValueError, match="a batch of -1 segments"):
        Batch(-1)
    with pytest.raises(ValueError, match="268435456 labels; expected fewer than 268435456"):
        Batch.of_arrays([np.broadcast_to(np.float32(0), (1, 1, 2**28))], False, False, 0)
    with pytest.raises(TypeError):
        engine.decode(None, 1, False)
    with pytest.raises(TypeError):
        engine.analyze(None, 1, False, None, 1.0)
    with pytest.raises(TypeError):
        engine.analyze(batch, 1, False, "0.5", 1.0)
    with pytest.raises(ValueError, match="max_short_child is -2; expected 0 or more, or -1 for no limit"):
        engine.analyze(batch, -2, False, None, 1.0)
    with pytest.raises(ValueError, match="dense scores cannot be analyzed; expected packed ones"):
        engine.analyze(Batch.of_arrays([np.zeros((2, 2, 1))], False, False, 0), 1, False, None, 1.0)
    for temperature in (0.0, np.nan):
        with pytest.raises(engine.BadWeightError):
            engine.analyze(batch, 1, False, None, temperature)
    # Outputs that nobody asked for are left alone.
    with_outputs = Batch.of_packed(values, [3], 0, True, 0)
    engine.analyze(with_outputs, 1, False, 0.5, 2.0)
    assert not with_outputs.outputs[0].any()


def test_masked_scores_are_refused():
    masked = np.ma.masked_array(np.zeros((2, 2, 1)), True)
    with pytest.raises(TypeError, match=r"scores is a masked array; use scores\.filled\(-numpy\.inf\)"):
        FlatDecoder().decode(masked)
    with pytest.raises(TypeError, match=r"values is a masked array; use values\.filled\(-numpy\.inf\)"):
        PackedScores(masked[0], SpanLayout([1]))
    with pytest.raises(TypeError, match=r"scores\[1\] is a masked array; use scores\[1\]\.filled\(-numpy\.inf\)"):
        PackedScores.pack([np.zeros((2, 2, 1)), masked])
