"""Large constants lie in the graph without a copy, and no write of any kind gets into it."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onemodel as om
from onemodel import nn
from onemodel.tensors.tensor import Tensor
from onemodel.tracing.constants import LEND_FROM
from onemodel.training.clip import clip_grad_value_
from onemodel.training.optim import SGD

SIZE = 96
X = np.linspace(-1, 1, 2 * SIZE, dtype=np.float32).reshape(2, SIZE)
AXES = [{0: "batch"}]

Write = Callable[[Tensor], Any]


def values() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(SIZE, SIZE)).astype(np.float32)


def weight() -> Tensor:
    tensor = om.tensor(values())
    assert tensor.array.nbytes >= LEND_FROM
    return tensor


def initializer(traced: om.TracedModel) -> np.ndarray:
    (array,) = (a for a in traced.graph.initializers.values() if a.nbytes >= LEND_FROM)
    return array


def run(traced: om.TracedModel) -> np.ndarray:
    (result,) = om.Session(traced).run({traced.graph.inputs[0].name: X}).values()
    return np.array(result)


# Writes that the library makes, or that go through it: each raises the version.
def _step(w: Tensor) -> None:
    w.grad = om.ones(SIZE, SIZE)
    SGD([w], lr=0.5).step()


def _load(w: Tensor) -> None:
    module = nn.Module()
    module.w = nn.Buffer(w)
    module.load_state_dict({"w": np.zeros((SIZE, SIZE), np.float32)})


def _renormalise(w: Tensor) -> None:
    om.embedding(om.tensor([0, 1]), w, max_norm=0.1)


def _set_view(w: Tensor) -> None:
    w[1][2:4] = 7


def _mutable_storage(w: Tensor) -> None:
    w.mutable_storage().buffer[0] = 7


WRITES: dict[str, Write] = {
    "add_": lambda w: w.add_(1),
    "mul_ by a tensor": lambda w: w.mul_(om.full((SIZE, SIZE), 2.0)),
    "relu_": lambda w: w.relu_(),
    "+=": lambda w: w.__iadd__(1),
    "fill_": lambda w: w.fill_(3),
    "zero_": lambda w: w.zero_(),
    "set": lambda w: w.set(0, 0, 9.0),
    "copy_": lambda w: w.copy_(np.ones((SIZE, SIZE), np.float32)),
    "item assignment": lambda w: w.__setitem__(0, 5.0),
    "item assignment by a list": lambda w: w.__setitem__(([0, 2],), 5.0),
    "assignment to a view": _set_view,
    "a view": lambda w: w[3:5].add_(1),
    "a transposed view": lambda w: w.T.mul_(2),
    "a reshaped view": lambda w: w.reshape(-1).fill_(2),
    "detach": lambda w: w.detach().add_(1),
    "mutable_data": lambda w: w.mutable_data().__setitem__(0, 9.0),
    "mutable_storage": _mutable_storage,
    "nn.init": lambda w: nn.init.normal_(w),
    "an optimiser": _step,
    "a state dict": _load,
    "embedding(max_norm=)": _renormalise,
    "clip_grad_value_": lambda w: clip_grad_value_(_with_gradient(w), 0.1),
}


def _with_gradient(gradient: Tensor) -> Tensor:
    leaf = om.zeros(SIZE, SIZE)
    leaf.grad = gradient
    return leaf


# Writes through memory that was handed out: nobody is told of them.
def _copyto(w: Tensor) -> None:
    np.copyto(w, 4.0)  # type: ignore[arg-type]


UNNOTICED: dict[str, Write] = {
    "numpy": lambda w: w.numpy().__setitem__(0, 5.0),
    "numpy of a view": lambda w: w[2:4].numpy().fill(5.0),
    "numpy of a detached tensor": lambda w: w.detach().numpy().fill(5.0),
    "numpy.asarray": lambda w: np.asarray(w).__setitem__(0, 5.0),
    "__array__": lambda w: w.__array__().__setitem__(0, 5.0),
    "numpy.copyto": _copyto,
    "numpy.add.at": lambda w: np.add.at(w, 0, 5.0),  # type: ignore[arg-type]
    "a view that NumPy made": lambda w: np.ravel(w).__setitem__(0, 5.0),  # type: ignore[arg-type]
    "a buffer": lambda w: np.asarray(w.__buffer__(0)).__setitem__(0, 5.0),
    "dlpack": lambda w: np.from_dlpack(_Exporter(w)).__setitem__(0, 5.0),
    "a storage": lambda w: w.storage.buffer.__setitem__(0, 5.0),
}


class _Exporter:
    """Asks for memory that may be written, as a consumer of version 1 does."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    def __dlpack__(self, **options: Any) -> Any:
        return self.tensor.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.tensor.__dlpack_device__()


EVERY = WRITES | UNNOTICED
every_write = pytest.mark.parametrize("write", EVERY.values(), ids=EVERY)


@every_write
def test_a_write_after_the_trace_changes_the_tensor_and_not_the_graph(write: Write):
    w, other = weight(), weight()
    traced = om.trace(lambda x: x @ w, X, axes=AXES)
    held, before = initializer(traced), run(traced)
    assert np.shares_memory(held, w.array), "it was copied, and this test shows nothing"
    om.manual_seed(3)
    write(w)
    om.manual_seed(3)
    write(other)
    assert not np.array_equal(w.array, values())
    np.testing.assert_array_equal(w.array, other.array)
    np.testing.assert_array_equal(held, values())
    np.testing.assert_array_equal(run(traced), before)
    write(w)  # and again, now that its memory is its own
    np.testing.assert_array_equal(held, values())


@every_write
def test_a_write_during_the_trace_is_refused(write: Write):
    w = weight()

    def model(x: Tensor) -> Tensor:
        y = x @ w
        write(w)
        return y

    with pytest.raises(om.TraceException) as caught:
        om.trace(model, X, axes=AXES)
    # What enters no_grad, or draws random numbers, is refused for that at once.
    assert caught.value.code in ("OM203", "OM301", "OM603")


@pytest.mark.parametrize("width", [2, SIZE], ids=["copied", "lent"])
@pytest.mark.parametrize("handed", ["before", "inside"])
@pytest.mark.parametrize("axes", [None, AXES], ids=["fixed", "symbolic"])
def test_a_change_that_is_undone_before_the_end_is_refused_where_a_use_saw_it(width, handed, axes):
    w = om.tensor(values()[:, :width])
    outside = w.numpy() if handed == "before" else None

    def model(x: Tensor) -> Tensor:
        y = x @ w
        array = w.numpy() if outside is None else outside
        array += 1
        z = x @ w
        array[...] = values()[:, :width]
        return y - z

    with pytest.raises(om.TraceException) as caught:
        om.trace(model, X, axes=axes)
    assert caught.value.code == "OM203"


def test_an_array_that_is_filled_anew_for_each_use_is_refused():
    buffer = np.zeros(SIZE, np.float32)

    def model(x: Tensor) -> Tensor:
        buffer[...] = 1
        y = x + buffer
        buffer[...] = 2
        z = x * buffer
        buffer[...] = 1
        return y + z

    with pytest.raises(om.TraceException) as caught:
        om.trace(model, X)
    assert caught.value.code == "OM203"


def test_the_refusal_names_the_line_of_the_write_and_that_of_the_capture():
    w = weight()

    def model(x):
        y = x @ w
        w.add_(1)
        return y

    with pytest.raises(om.TraceException) as caught:
        om.trace(model, X, axes=AXES)
    first = model.__code__.co_firstlineno
    assert caught.value.call_site is not None
    assert caught.value.call_site.line == first + 2
    assert f"captured at {__file__}:{first + 1}" in caught.value.message
    assert f"by add_ at {__file__}:{first + 2}" in caught.value.message


@every_write
def test_a_write_by_who_held_the_memory_before_does_not_get_into_the_graph(write: Write):
    w = weight()
    held = w.detach()
    traced = om.trace(lambda x: x @ w, X, axes=AXES)
    write(held)
    np.testing.assert_array_equal(initializer(traced), values())
    np.testing.assert_array_equal(held.array, w.array)


HOLDERS: dict[str, Callable[[Tensor], np.ndarray]] = {
    "the array": lambda w: w.array,
    "a view of the array": lambda w: w.array[1:],
    "numpy()": lambda w: w.numpy(),
    "numpy() of a view": lambda w: w[1:].numpy(),
    "numpy.asarray": lambda w: np.asarray(w),
    "a buffer": lambda w: np.asarray(memoryview(w.numpy())),
}


@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
def test_an_array_held_from_before_is_noticed_in_the_trace_and_harmless_after(hold):
    w = weight()
    array = hold(w)
    traced = om.trace(lambda x: x @ w, X, axes=AXES)
    array[...] = 0
    np.testing.assert_array_equal(initializer(traced), values())

    def model(x: Tensor) -> Tensor:
        y = x @ w
        array[...] = 1
        return y

    with pytest.raises(om.TraceException) as caught:
        om.trace(model, X, axes=AXES)
    assert caught.value.code == "OM203"


def test_an_array_of_the_users_own_is_copied():
    array = values()
    traced = om.trace(lambda x: x @ om.add(array, 0.0) + om.maximum(array[0], -1e9), X, axes=AXES)
    before = run(traced)
    array[...] = 0
    np.testing.assert_array_equal(run(traced), before)


def test_what_the_graph_holds_cannot_be_written_through_the_graph():
    w = weight()
    traced = om.trace(lambda x: x @ w, X, axes=AXES)
    held = initializer(traced)
    with pytest.raises(ValueError, match="read-only"):
        held[0] = 1
    with pytest.raises(ValueError, match="WRITEABLE"):
        held.flags.writeable = True


class Weighted(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(values())


def names_of(traced: om.TracedModel) -> list[str]:
    return sorted(value.name for value in traced.graph.initializers)


def test_a_weight_that_moves_in_the_middle_of_a_trace_stays_one_initializer():
    class Model(Weighted):
        def forward(self, x: Tensor) -> Tensor:
            y = x @ self.weight
            assert self.weight.detach().numpy().shape == (SIZE, SIZE)
            return y @ self.weight + x @ self.weight.T + self.weight[0]

    traced = om.trace(Model(), X, axes=AXES)
    assert names_of(traced) == ["weight", "weight.view_0", "weight.view_1"]


def test_a_weight_that_an_earlier_trace_holds_and_that_moves_keeps_its_name():
    class Model(Weighted):
        def forward(self, x: Tensor) -> Tensor:
            assert self.weight.T.shape == (SIZE, SIZE)
            return x @ self.weight

    model = Model()
    kept = [om.trace(model, X, axes=AXES, verify=False) for _ in range(3)]
    assert [names_of(traced) for traced in kept] == [["weight"]] * 3


def test_large_weights_of_layers_are_not_copied():
    model = nn.Sequential(nn.Linear(SIZE, SIZE), nn.ReLU(), nn.Linear(SIZE, SIZE)).eval()
    traced = om.trace(model, X, axes=AXES)
    for value, array in traced.graph.initializers.items():
        if array.nbytes >= LEND_FROM:
            owner = model.get_parameter(value.name)
            assert np.shares_memory(array, owner.array)
    assert sum(array.nbytes >= LEND_FROM for array in traced.graph.initializers.values()) == 2


def test_memory_comes_back_without_a_copy_when_the_graph_is_gone():
    w = weight()
    traced = om.trace(lambda x: x @ w, X, axes=AXES)
    address = w.array.__array_interface__["data"][0]
    del traced
    gc.collect()
    w.add_(1)
    assert w.array.__array_interface__["data"][0] == address
    assert w.array.flags.writeable


def test_training_goes_on_after_a_trace_as_it_would_have_without_one():
    def train(trace: bool) -> tuple[list[np.ndarray], list[om.TracedModel]]:
        om.manual_seed(0)
        model = nn.Sequential(nn.Linear(SIZE, SIZE), nn.Tanh(), nn.Linear(SIZE, SIZE))
        optimiser, kept = SGD(model.parameters(), lr=0.1, momentum=0.9), []
        for _ in range(4):
            if trace:
                kept.append(om.trace(model, X, axes=AXES))
            optimiser.zero_grad()
            model(om.tensor(X)).square().mean().backward()
            optimiser.step()
        return [p.array.copy() for p in model.parameters()], kept

    (plain, _), (traced, graphs) = train(False), train(True)
    for one, two in zip(plain, traced, strict=True):
        np.testing.assert_array_equal(one, two)
    results = [run(graph) for graph in graphs]
    assert len({np.asarray(r).tobytes() for r in results}) == len(results)


def test_a_gradient_that_saved_lent_memory_notices_the_write_all_the_same():
    w = om.tensor(values(), requires_grad=True)
    loss = (om.tensor(X) @ w).square().sum()
    om.trace(lambda x: x @ w, X, axes=AXES)
    with om.no_grad():
        w.add_(1)
    with pytest.raises(RuntimeError, match="changed in place"):
        loss.backward()


class Twins:
    """The same steps on a weight that traces take in between, and on one that none does."""

    def __init__(self) -> None:
        self.tensors = [[weight()], [weight()]]
        self.arrays: list[list[np.ndarray]] = [[], []]
        self.graphs: list[tuple[np.ndarray, np.ndarray]] = []

    def trace(self, place: int) -> None:
        w = self.tensors[0][place % len(self.tensors[0])]
        matrix = w.reshape(SIZE, SIZE) if w.dim() == 1 else w
        traced = om.trace(lambda x: x @ matrix, X, axes=AXES, verify=False)
        held = initializer(traced)
        self.graphs.append((held, held.copy()))

    def forget(self, place: int) -> None:
        if self.graphs:
            del self.graphs[place % len(self.graphs)]
            gc.collect()

    def derive(self, place: int, how: Callable[[Tensor], Tensor]) -> None:
        for tensors in self.tensors:
            tensors.append(how(tensors[place % len(tensors)]))

    def hand_out(self, place: int, how: Callable[[Tensor], np.ndarray]) -> None:
        for tensors, arrays in zip(self.tensors, self.arrays, strict=True):
            arrays.append(how(tensors[place % len(tensors)]))

    def write(self, place: int, how: Callable[[Tensor], Any]) -> None:
        for tensors in self.tensors:
            how(tensors[place % len(tensors)])

    def write_array(self, place: int, number: int) -> None:
        for arrays in self.arrays:
            if arrays:
                arrays[place % len(arrays)][...] += number

    def drop(self, place: int) -> None:
        for tensors, arrays in zip(self.tensors, self.arrays, strict=True):
            if len(tensors) > 1:
                del tensors[place % len(tensors)]
            if arrays:
                del arrays[place % len(arrays)]

    def check(self) -> None:
        for kind in (self.tensors, self.arrays):
            for one, other in zip(*kind, strict=True):
                np.testing.assert_array_equal(
                    np.array(getattr(one, "array", one)), np.array(getattr(other, "array", other))
                )
        for held, then in self.graphs:
            np.testing.assert_array_equal(held, then)


_DERIVED = st.sampled_from([
    lambda t: t.detach(), lambda t: t.T, lambda t: t.reshape(-1), lambda t: t.reshape(SIZE, SIZE),
    lambda t: t[:], lambda t: t.data, lambda t: om.einsum("...->...", t),
])  # fmt: skip
_HANDED = st.sampled_from([
    lambda t: t.numpy(), lambda t: np.asarray(t), lambda t: t.T.numpy(), lambda t: t[1:].numpy(),
    lambda t: np.ravel(t), lambda t: t.mutable_data(), lambda t: t.storage.buffer,
])  # fmt: skip
_WRITTEN = st.sampled_from([
    lambda t: t.add_(1), lambda t: t.zero_(), lambda t: t.__setitem__(0, 3.0),
    lambda t: t[1:].mul_(2), lambda t: t.copy_(t.to_array() + 1), lambda t: t.relu_(),
])  # fmt: skip
_PLACE = st.integers(0, 5)
_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("trace"), _PLACE),
        st.tuples(st.just("trace"), _PLACE),
        st.tuples(st.just("forget"), _PLACE),
        st.tuples(st.just("drop"), _PLACE),
        st.tuples(st.just("derive"), _PLACE, _DERIVED),
        st.tuples(st.just("hand_out"), _PLACE, _HANDED),
        st.tuples(st.just("write"), _PLACE, _WRITTEN),
        st.tuples(st.just("write_array"), _PLACE, st.integers(1, 3)),
    ),
    min_size=4,
    max_size=14,
)


@given(_STEPS)
@settings(max_examples=60, deadline=None)
def test_whatever_is_done_graphs_stay_and_tensors_are_what_they_are_without_traces(steps):
    twins = Twins()
    for name, *arguments in steps:
        getattr(twins, name)(*arguments)
        twins.check()


def test_a_writer_on_another_thread_never_gets_into_a_finished_graph():
    w, stop, faults = weight(), threading.Event(), []

    def write() -> None:
        try:
            while not stop.is_set():
                w.add_(1)
                w.detach().numpy()[0] += 1
                w.zero_()
        except Exception as error:
            faults.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    finished = []
    try:
        for _ in range(150):
            try:
                traced = om.trace(lambda x: x @ w, X, axes=AXES, verify=False)
            except om.TraceException as error:
                assert error.code == "OM203"
                continue
            finished.append((initializer(traced), initializer(traced).copy()))
    finally:
        stop.set()
        writer.join()
    assert faults == []
    for held, then in finished:
        np.testing.assert_array_equal(held, then)
