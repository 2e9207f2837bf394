"""Registration, inheritance, overrides and argument parsing of symbolic functions."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest

import onemodel as om
from onemodel.symbolic.context import EmissionError
from onemodel.symbolic.registry import Overrides, SymbolicRegistry, onnx_symbolic
from onemodel.tracing.finishing import UnusedOverrideWarning


def named(number):
    def function(g, input):
        return number

    return function


@pytest.fixture
def registry() -> SymbolicRegistry:
    made = SymbolicRegistry()
    made.declare("om::thing", ("input",))
    return made


def found(registry: SymbolicRegistry, opset: int) -> int | None:
    registration = registry.find("om::thing", opset)
    return None if registration is None else registration.function(None, None)


def test_a_target_takes_the_newest_registration_not_above_it(registry):
    for opset in (9, 13, 18):
        registry.register("om::thing", opset, named(opset))
    assert [found(registry, n) for n in (9, 12, 13, 17, 18, 28)] == [9, 9, 13, 13, 18, 18]


def test_targets_below_the_base_take_their_own_or_the_base(registry):
    registry.register("om::thing", 9, named(9))
    assert (found(registry, 7), found(registry, 8)) == (9, 9)
    registry.register("om::thing", 8, named(8))
    assert (found(registry, 7), found(registry, 8)) == (9, 8)


def test_what_begins_above_the_base_is_not_offered_below_it(registry):
    registry.register("om::thing", 11, named(11))
    assert [found(registry, n) for n in (7, 9, 10, 11)] == [None, None, None, 11]
    assert registry.lowest("om::thing") == 11


@pytest.mark.parametrize("name", ["thing", "::thing", "om::", "om::a::b", "om: :thing", "", 3])
def test_a_name_is_domain_and_operator(name):
    with pytest.raises(ValueError, match="domain::operator"):
        onnx_symbolic(name, opset=9, registry=SymbolicRegistry())


@pytest.mark.parametrize("opset", [-5, 6, "18", True, 9.0, [], [9, "x"]])
def test_an_opset_is_an_integer_from_seven_on(opset):
    with pytest.raises(ValueError, match="opset"):
        onnx_symbolic("om::thing", opset=opset, registry=SymbolicRegistry())


def test_parameters_are_the_operators_own(registry):
    with pytest.raises(ValueError, match="takes x, which"):
        registry.register("om::thing", 9, lambda g, x: x)
    with pytest.raises(ValueError, match="does not take input"):
        registry.register("om::thing", 9, lambda g: None)
    registry.register("om::thing", 9, lambda g, self: self)


def test_registration_returns_the_function_and_decorates_only_what_is_registered(registry):
    calls = []

    def note(tag):
        def decorator(function):
            def inner(g, input):
                calls.append(tag)
                return function(g, input)

            return inner

        return decorator

    @onnx_symbolic("om::thing", opset=(9, 11), decorate=[note("a"), note("b")], registry=registry)
    def plain(g, input):
        return input

    assert plain(None, 5) == 5 and not calls
    assert registry.find("om::thing", 11).function(None, 5) == 5
    assert calls == ["b", "a"]
    assert registry.versions("om::thing") == [9, 11]


# --- overrides ------------------------------------------------------------------------------


def example() -> np.ndarray:
    return np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)


def ops(traced) -> list[str]:
    return [node.op_type for node in traced.graph.nodes]


def test_an_override_holds_for_the_opsets_it_names_and_leaves_nothing_behind():
    overrides = Overrides()

    @overrides.onnx_symbolic("om::relu", opset=range(9, 15))
    def relu(g, input):
        return g.op("Max", input, g.like(0, input))

    assert ops(om.trace(om.relu, example(), opset=14, overrides=overrides)) == ["Max"]
    assert ops(om.trace(om.relu, example(), opset=14)) == ["Relu"]
    with pytest.warns(UnusedOverrideWarning, match="for opset 9, 10, 11, 12, 13, 14"):
        assert ops(om.trace(om.relu, example(), opset=15, overrides=overrides)) == ["Relu"]
    fresh = Overrides()
    fresh.onnx_symbolic("om::relu", opset=20)(relu)
    with pytest.warns(UnusedOverrideWarning, match="does not call it"):
        om.trace(om.tanh, example(), overrides=fresh)


def test_composites_see_overrides():
    overrides = Overrides()

    @overrides.onnx_symbolic("om::sigmoid", opset=20)
    def sigmoid(g, input):
        one = g.like(1, input)
        return g.op("Div", one, g.op("Add", one, g.op("Exp", g.op("Neg", input))))

    @overrides.onnx_symbolic("om::silu", opset=20)
    def silu(g, input):
        return g.op("Mul", input, g.call("om::sigmoid", input))

    traced = om.trace(om.silu, example(), overrides=overrides)
    assert ops(traced) == ["Neg", "Exp", "Add", "Div", "Mul"]


def test_an_override_must_fit_its_operator():
    overrides = Overrides()
    overrides.onnx_symbolic("om::relu", opset=20)(lambda g, x, slope: x)
    with pytest.raises(ValueError, match="slope"):
        om.trace(om.relu, example(), overrides=overrides)
    unknown = Overrides()
    unknown.onnx_symbolic("om::no_such", opset=20)(lambda g, input: input)
    with pytest.raises(ValueError, match="no operator om::no_such"):
        om.trace(om.relu, example(), overrides=unknown)


@pytest.mark.parametrize(
    "write, message",
    [
        (lambda g, input: g.op("NoSuchNode", input), "NoSuchNode, which ONNX does not have"),
        (lambda g, input: g.op("Relu", input, zzz_i=3), "attribute zzz"),
        (lambda g, input: g.op("Relu", input, input), "2 inputs"),
        (lambda g, input: g.op("Relu", input, outputs=2), "2 outputs"),
        (lambda g, input: g.op("Softmax", input, axis="last"), "axis as str"),
        (lambda g, input: g.op("Not", input), "does not take float32"),
        (lambda g, input: g.op("Cast", input, to=7), "int64 where eager gives float32"),
        (lambda g, input: 5, "returned 1 values"),
        (lambda g, input: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_a_wrong_node_is_named_with_its_function_and_the_users_call(write, message):
    overrides = Overrides()
    overrides.onnx_symbolic("om::relu", opset=20)(write)

    def model(x):
        return om.relu(x * 2) + 1

    with pytest.raises(om.TraceException, match=message) as caught:
        om.trace(model, example(), overrides=overrides)
    error = caught.value
    assert error.call_site.expression == "om.relu(x * 2)"
    assert error.code in ("OM608", "OM600")


def test_a_node_newer_than_the_target_names_the_opset_that_has_it():
    overrides = Overrides()
    overrides.onnx_symbolic("om::gelu", opset=range(9, 29))(
        lambda g, input, approximate: g.op("Gelu", input, approximate=approximate)
    )
    with pytest.raises(om.TraceException, match="Gelu exists from opset 20") as caught:
        om.trace(om.gelu, example(), opset=18, overrides=overrides)
    assert caught.value.code == "OM600"
    assert any("opset=20" in rewrite.code for rewrite in caught.value.suggestions)


def test_suffixed_and_plain_attributes_are_the_same():
    for attributes in ({"axis_i": 0}, {"axis": 0}):
        overrides = Overrides()

        @overrides.onnx_symbolic("om::softmax", opset=20)
        def softmax(g, input, dim, attributes=attributes):
            return g.op("Softmax", input, **attributes)

        (node,) = om.trace(lambda x: x.softmax(0), example(), overrides=overrides).graph.nodes
        assert node.attributes == {"axis": 0}


# --- functions written for PyTorch's exporter -------------------------------------------------


def hardshrink(g, self, lambd):
    upper = g.op("Greater", self, g.op("Constant", value_t=np.array(lambd, np.float32)))
    lower = g.op("Less", self, g.op("Constant", value_t=np.array(-lambd, np.float32)))
    zero = g.op("Constant", value_t=np.array(0, np.float32))
    return g.op("Where", g.op("Or", upper, lower), self, zero)


@om.parse_args("v", "f")
def leaky_relu(g, data, slope):
    return g.op("LeakyRelu", data, alpha_f=slope)


@om.parse_args("v", "i")
def log_softmax(g, self, dim):
    return g.op("Log", g.call("om::softmax", self, dim=dim))


@pytest.mark.parametrize(
    "name, function, model",
    [
        ("om::hardshrink", hardshrink, lambda x: om.hardshrink(x, 0.5)),
        ("om::leaky_relu", leaky_relu, lambda x: om.leaky_relu(x, 0.2)),
        ("om::log_softmax", log_softmax, lambda x: om.log_softmax(x, 1)),
    ],
)
def test_functions_in_the_manner_of_pytorch_port_over(name, function, model):
    overrides = Overrides()
    overrides.onnx_symbolic(name, opset=20)(function)
    traced = om.trace(model, example(), axes=[{0: "batch"}], overrides=overrides)
    judge = onnxruntime.InferenceSession(traced.to_bytes())
    other = np.concatenate([example(), -example()])
    (got,) = judge.run(None, {"x": other})
    np.testing.assert_allclose(got, model(om.tensor(other)).numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "descriptor, value, message",
    [
        ("i", 3.7, "must be an integer"),
        ("i", "x", "must be an integer"),
        ("is", 3, "must be integers"),
        ("f", "x", "must be a float"),
        ("b", 0.5, "must be a bool"),
        ("s", 3, "must be a string"),
        ("none", 3, "must be nothing"),
    ],
)
def test_parse_args_names_function_argument_and_what_came(descriptor, value, message):
    @om.parse_args(descriptor)
    def written(g, argument):
        return argument

    with pytest.raises(ValueError, match=message) as caught:
        written(None, value)
    assert "written" in str(caught.value) and "argument" in str(caught.value)


def test_parse_args_counts_and_knows_its_descriptors():
    with pytest.raises(ValueError, match="no descriptor"):
        om.parse_args("v", "q")

    @om.parse_args("v", "i")
    def written(g, one, two=7):
        return one, two

    assert written(None, "value") == ("value", 7)
    with pytest.raises(ValueError, match="3 arguments"):
        written(None, 1, 2, 3)


# --- coverage ---------------------------------------------------------------------------------


def test_everything_unconvertible_is_listed_with_its_line_and_lowest_opset():
    def model(x):
        a = om.cumsum(x, 0)
        return om.gelu(a) + x

    found = om.unconvertible(model, example(), opset=8)
    assert [(u.operator, u.lowest) for u in found] == [("cumsum", 11), ("gelu", 9)]
    assert [u.site.expression for u in found] == ["om.cumsum(x, 0)", "om.gelu(a)"]
    assert om.unconvertible(model, example(), opset=11) == []
    with pytest.raises(ValueError, match="opset 6"):
        om.unconvertible(model, example(), opset=6)


def test_the_opset_table_tells_native_from_decomposed_from_refused():
    table = om.opset_table(om.gelu, example())
    assert table.rows["gelu"][20].status == "native"
    assert table.rows["gelu"][13].status == "decomposed"
    assert table.rows["gelu"][8].status == "refused"
    assert table.lowest("gelu") == 9
    assert "gelu" in str(table) and "| `gelu` |" in table.to_markdown()


def test_a_traced_model_is_written_for_another_opset_without_running_again():
    runs = []

    def model(x):
        runs.append(1)
        return om.gelu(x.softmax(0))

    traced = om.trace(model, example(), axes=[{0: "batch"}])
    before = len(runs)
    proto = traced.to_onnx(opset=11)
    assert len(runs) == before
    assert proto.opset_import[0].version == 11
    with pytest.raises(EmissionError, match=r"gelu at .*om.gelu\(x.softmax\(0\)\)") as caught:
        traced.to_onnx(opset=8)
    assert caught.value.lowest == 9
