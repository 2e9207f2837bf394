"""A dropped trace is gone at once: its weights and arrays do not wait for the garbage collector."""

import contextlib
import gc
import pickle
import weakref

import numpy as np
import pytest

import onemodel as om
from onemodel.errors import TraceException


@pytest.fixture(autouse=True)
def no_collector():
    """Only reference counts free anything here."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


class Net(om.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = om.nn.Linear(64, 128)
        self.second = om.nn.Linear(128, 3)

    def forward(self, x):
        return self.second(self.first(x).relu()) * 2.0


def refs(traced):
    """Weak references to every array of a traced model."""
    arrays = [*traced.graph.initializers.values(), *traced.constants.values()]
    arrays += [traced.values[name] for name in traced.values]
    return [weakref.ref(array) for array in arrays]


def product_with(weight):
    return lambda x: (x @ weight).relu().exp() + 1.5


def refused(model, example, **options):
    """Traces what is refused; pytest's own ``raises`` would keep the exception."""
    try:
        om.trace(model, example, axes={"x": {0: "n"}}, **options)
    except TraceException as error:
        assert error.partial is not None
        assert pickle.loads(pickle.dumps(error)).message == error.message
        return
    pytest.fail("not refused")


def alive(references):
    return [ref().shape for ref in references if ref() is not None]


@pytest.fixture
def example():
    return np.random.default_rng(0).standard_normal((4, 64)).astype(np.float32)


@pytest.mark.parametrize("verify", [False, True])
def test_everything_dies_with_a_traced_function(example, verify):
    model = product_with(om.tensor(example.T.copy()))
    traced = om.trace(model, example, axes={"x": {0: "n"}}, verify=verify)
    found = refs(traced)
    del traced, model
    assert alive(found) == []


@pytest.mark.parametrize("verify", [False, True])
def test_everything_dies_with_a_traced_module(example, verify):
    net = Net()
    traced = om.trace(net, example.copy(), axes={"x": {0: "n"}}, verify=verify)
    found = refs(traced)
    del traced, net
    assert alive(found) == []


def test_everything_dies_after_it_was_written_again_compared_and_run(example):
    net = Net()
    traced = om.trace(net, example.copy(), axes={"x": {0: "n"}})
    traced.to_bytes(13)
    traced.to_bytes()
    om.compare(traced)
    om.Session(traced).run({"x": example})
    found = refs(traced)
    del traced, net
    assert alive(found) == []


def test_a_low_level_trace_dies_with_its_tracer(example):
    weight = om.tensor(example.T.copy())
    with om.Tracer.begin() as tracer:
        x = tracer.input("x", example.copy(), {0: "n"})
        y = (x @ weight).relu()
        traced = tracer.finish({"y": y})
    found = refs(traced)
    del traced, tracer, weight, x, y
    assert alive(found) == []


def test_a_tensor_that_is_kept_keeps_its_own_array_alone(example):
    kept = []

    def model(x):
        h = x.exp() @ om.tensor(np.ones((64, 64), np.float32))
        kept.append(h)
        kept.append(h.shape)
        return h.relu().exp()

    traced = om.trace(model, example.copy(), axes={"x": {0: "n"}}, verify=False)
    found = refs(traced)
    del traced
    assert alive(found) == [(4, 64)]
    expected = np.exp(example).sum(1, keepdims=True) * np.ones((1, 64), np.float32)
    np.testing.assert_allclose(kept[0].numpy(), expected, rtol=1e-5, atol=1e-5)
    assert int(kept[1][0]) == 4
    kept.clear()
    assert alive(found) == []


def fails_at_other_sizes(x):
    return x.reshape(4, 64).exp() + om.tensor(np.ones((4, 64), np.float32))


def decides(x):
    h = x.exp()
    return h if h.sum() > 0 else x


def writes(x):
    h = x.exp()
    h.numpy()[0] = 0
    return h


def swallows(x):
    h = x.exp()
    with contextlib.suppress(TraceException):
        float(h.sum())
    return h


def cannot_be_written(x):
    return x.exp().gelu()


def captures_blocked(x):
    return x.exp() + om.tensor(np.ones((1, 8, 4, 64), np.float32)).to_blocked(8)


def mixes_axes(x):
    return x.exp() + om.tensor(np.ones((4, 64), np.float32)) + x.permute(1, 0).reshape(4, 64)


def unrolls(x):
    h = x.exp()
    for row in x:
        h = h + row
    return h


def branches_on_size(x):
    h = x.exp()
    return h * 2 if x.shape[0] > 3 else h


def fails_itself_at_other_sizes(x):
    h = x.exp()
    if h._array.shape[0] != 4:
        raise ValueError("four rows")
    return h


@pytest.mark.parametrize(
    "model",
    [
        fails_itself_at_other_sizes,
        decides,
        writes,
        swallows,
        cannot_be_written,
        unrolls,
        branches_on_size,
        fails_at_other_sizes,
        captures_blocked,
        mixes_axes,
    ],
)
def test_a_refused_trace_dies_with_its_exception(example, model, monkeypatch):
    made = []
    on_record = om.Tracer.on_record

    def watched(self, record, results):
        made.extend([weakref.ref(self), *(weakref.ref(t._array) for t in results)])
        on_record(self, record, results)

    monkeypatch.setattr(om.Tracer, "on_record", watched)
    refused(model, example, opset=8)
    assert made
    assert [ref() for ref in made if ref() is not None] == []


@pytest.mark.parametrize("traced_alone", [False, True])
def test_a_model_that_fails_at_some_sizes_leaves_nothing_of_its_failure(example, traced_alone):
    references = []

    def model(x):
        h = x.exp()
        references.append(weakref.ref(h._array))
        if h._array.shape[0] > 4:
            if traced_alone and h._mark.live:
                h.numpy()
            raise ValueError("too many rows")
        return h

    traced = om.trace(model, example, axes={"x": {0: "n"}})
    assert "n=3" in traced.verification
    assert "n=5" not in traced.verification
    found = refs(traced)
    del traced
    assert alive(references) == []
    assert alive(found) == []


def test_strict_sizes_are_refused_and_gone(example):
    references = []

    def model(x):
        h = x.exp()
        references.append(weakref.ref(h._array))
        return h * int(x.shape[0])

    refused(model, example, strict_sizes=True)
    assert alive(references) == []


def test_a_list_of_refusals_keeps_no_array(example):
    references = []

    def model(x):
        h = x.exp()
        references.append(weakref.ref(h._array))
        float(h.sum())
        h.numpy()
        return cannot_be_written(h)

    found = om.refusals(model, example, axes={"x": {0: "n"}}, opset=8)
    assert len(found) == 3
    assert found[0].provenance
    assert alive(references) == []


def test_a_tensor_of_a_dropped_trace_is_refused_in_the_next_one_as_ever(example):
    kept = []

    def model(x):
        kept.append(x.exp())
        return kept[-1] + 1

    om.trace(model, example, axes={"x": {0: "n"}}, verify=False)
    with pytest.raises(TraceException) as caught:
        om.trace(lambda x: x + kept[0], example, verify=False)
    assert caught.value.code == "OM502"
    assert "[n, 64] %exp of another trace" in str(caught.value)
