"""``om.trace``: one call from a function or module and examples to a verified traced model."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onemodel.axes.size import Size
from onemodel.errors import TraceException
from onemodel.symbolic.registry import Overrides
from onemodel.tensors.tensor import Tensor, as_array
from onemodel.tracing import sites
from onemodel.tracing.declaring import AxisNames
from onemodel.tracing.model import TracedModel
from onemodel.tracing.probe import probing
from onemodel.tracing.tracer import Tracer
from onemodel.tracing.value import TracedValue, TraceRecord
from onemodel.tracing.verify import verify as verify_run

SLOW = 1.0
"""Seconds of one recorded run from which on its repeats show their progress."""

AxesArgument = Mapping[str, AxisNames] | Sequence[AxisNames] | None


def trace(
    model: Callable[..., Any],
    *examples: Any,
    axes: AxesArgument = None,
    opset: int = 20,
    verify: bool = True,
    strict_sizes: bool = False,
    overrides: Overrides | None = None,
    **named_examples: Any,
) -> TracedModel:
    """Run ``model`` once on the examples and return what it did as a graph.

    Args:
        model: a function or module; parameters and buffers of a module are named by their
            state-dict paths.
        examples: tensors or arrays, one per argument; tuples, lists and dicts of them are
            inputs of their own (``state_0``). Flags, numbers and None are passed as they are.
        axes: names of symbolic axes, by parameter name (``{"x": {0: "batch"}}``) or in the
            order of the arguments; per input {axis: symbol} or a sequence with None.
            ``"4*rows"`` names a part of an axis whose size is always a multiple.
        opset: the target, 7 to the newest the installed ``onnx`` knows.
        verify: repeat the run on the same example, on other values, and at two other sizes
            (more where comparisons of sizes come out otherwise, or a size became a plain
            number), and refuse what differs. Without it the result says that nothing was
            verified.
        strict_sizes: refuse every symbolic size that is consumed as a fixed number.
        overrides: symbolic functions of your own, for this trace.

    Raises:
        TraceException: at the call that cannot be followed, or where a repeat differs.
        TypeError: where the examples do not fit the signature of the model.
    """
    _check_model(model, axes)
    run = _Run(model, _arguments(model, examples, named_examples), axes, opset, overrides)
    started = time.monotonic()
    first = run.record(run.feeds, strict_sizes)
    first.rerun = run.record
    if verify:
        slow = time.monotonic() - started > SLOW
        first.verification = verify_run(first, run.feeds, run.record, run.eager, show=slow)
    else:
        first.verification = "not verified: verify=False"
    return first


def refusals(
    model: Callable[..., Any],
    *examples: Any,
    axes: AxesArgument = None,
    opset: int = 20,
    strict_sizes: bool = False,
    **named_examples: Any,
) -> list[TraceException]:
    """Every refusal of one run, not only the first: each one goes on with the example's value.

    Arguments are those of :func:`trace`. An empty list means that one run met nothing to
    refuse; repeating it, as :func:`trace` does, may still find what one run cannot show.
    """
    run = _Run(model, _arguments(model, examples, named_examples), axes, opset)
    return run.collect(strict_sizes)[1]


def recorded(
    model: Callable[..., Any],
    *examples: Any,
    axes: AxesArgument = None,
    opset: int = 20,
    **named_examples: Any,
) -> tuple[list[TraceRecord], list[TracedValue]]:
    """Records and inputs of one run that goes on after refusals. No graph comes of it."""
    run = _Run(model, _arguments(model, examples, named_examples), axes, opset)
    tracer, _ = run.collect(False)
    return tracer.records, tracer.inputs


def _check_model(model: Any, axes: Any) -> None:
    """Refuse what is no model before it is run; a trace inside a trace is told as such."""
    active = Tracer.active()
    if active is not None:
        where = sites.resolve(active.begin_site)
        begun = f", begun at {where.place}" if where else ""
        raise active.refuse(
            "OM501", "trace()", f"a trace is already recording on this thread{begun}"
        )
    if isinstance(model, type):
        raise TypeError(
            f"trace: {model.__name__} is a class; make one first: om.trace({model.__name__}(), x)"
        )
    if not callable(model):
        raise TypeError(
            f"trace: a {type(model).__name__} cannot be called; pass a function or a module"
        )


@dataclass
class _Leaf:
    """The place of one tensor in the arguments."""

    name: str


class _Run:
    """A model with the structure of its arguments, to be run on any feeds."""

    def __init__(
        self,
        model: Callable[..., Any],
        arguments: dict[str, Any],
        axes: AxesArgument,
        opset: int,
        overrides: Overrides | None = None,
    ) -> None:
        self.model = model
        self.opset = opset
        self.overrides = overrides
        self.feeds: dict[str, np.ndarray] = {}
        self._positional, self._arguments = _split(model, arguments)
        self._structure = {name: self._flatten(name, v) for name, v in self._arguments.items()}
        self._axes = self._axis_names(axes)

    def _flatten(self, name: str, value: Any) -> Any:
        if isinstance(value, (Tensor, np.ndarray, np.generic)):
            if isinstance(value, Tensor) and value._mark is not None and value._mark.live:
                value._mark.on_read("trace()")
            name = name.lstrip("*")
            if name in self.feeds:
                raise TypeError(
                    f"trace: two inputs would be called {name!r}; rename an argument of the model"
                )
            self.feeds[name] = as_array(value)
            return _Leaf(name)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*(self._flatten(f"{name}_{i}", v) for i, v in enumerate(value)))
        if isinstance(value, (tuple, list)):
            return type(value)(self._flatten(f"{name}_{i}", v) for i, v in enumerate(value))
        if isinstance(value, dict):
            return {key: self._flatten(f"{name}_{key}", v) for key, v in value.items()}
        return value

    def _axis_names(self, axes: AxesArgument) -> dict[str, AxisNames]:
        if axes is None:
            return {}
        if isinstance(axes, str) or not isinstance(axes, (Mapping, Sequence)):
            raise TypeError(
                f"trace: axes is {axes!r}; write the names by input, such as "
                f'axes={{"{next(iter(self.feeds), "x")}": {{0: "batch"}}}}'
            )
        if isinstance(axes, Mapping):
            names = dict(axes)
            unknown = [name for name in names if name not in self.feeds]
            if unknown:
                raise TypeError(
                    f"trace: axes names {', '.join(map(repr, unknown))}, but the inputs are "
                    f"{', '.join(self.feeds) or 'none'}"
                )
            return names
        if len(axes) > len(self.feeds):
            raise TypeError(f"trace: axes for {len(axes)} inputs, but there are {len(self.feeds)}")
        return dict(zip(self.feeds, axes, strict=False))

    def record(self, feeds: Mapping[str, np.ndarray], strict_sizes: bool = False) -> TracedModel:
        """One recorded run on ``feeds``."""
        tracer = Tracer._begin(self.opset, strict_sizes, self.overrides, _call.__code__)
        with tracer:
            result = self._call_model(tracer, feeds)
            tracer.raise_swallowed()
            traced = tracer.finish(_outputs(tracer, result))
        traced.graph.name = _model_name(self.model)
        return traced

    def _call_model(self, tracer: Tracer, feeds: Mapping[str, np.ndarray]) -> Any:
        _name_weights(tracer, self.model)
        return self._call_on(
            {name: tracer.input(name, array, self._axes.get(name)) for name, array in feeds.items()}
        )

    def eager(self, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The results on ``feeds`` of a run that nobody records."""
        with probing() as probe:
            result = self._call_on({name: probe.input(array) for name, array in feeds.items()})
        leaves = _leaves(result, "output")
        return {name: leaf._array for name, leaf in leaves if isinstance(leaf, Tensor)}

    def _call_on(self, tensors: Mapping[str, Tensor]) -> Any:
        arguments = {name: _fill(s, tensors) for name, s in self._structure.items()}
        positional = [v for n in self._positional for v in _spread(n, arguments.pop(n))]
        return _call(self.model, positional, arguments)

    def collect(self, strict_sizes: bool) -> tuple[Tracer, list[TraceException]]:
        """One run that goes on after refusals, and what it refused."""
        tracer = Tracer._begin(self.opset, strict_sizes, None, _call.__code__)
        with tracer, tracer.collect() as refused:
            self._call_model(tracer, self.feeds)
        return tracer, refused


def _call(model: Callable[..., Any], positional: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """The frame outside of which nothing belongs to the model."""
    return model(*positional, **named)


def _signature(model: Callable[..., Any]) -> inspect.Signature | None:
    target = getattr(model, "forward", model)
    try:
        return inspect.signature(target)
    except (TypeError, ValueError):
        return None


def _arguments(
    model: Callable[..., Any], examples: Sequence[Any], named: Mapping[str, Any]
) -> dict[str, Any]:
    """Examples by parameter name; a starred parameter gives its name to a tuple."""
    signature = _signature(model)
    if signature is None:
        return {f"input_{i}": example for i, example in enumerate(examples)} | dict(named)
    try:
        bound = signature.bind(*examples, **named)
    except TypeError as error:
        name = _model_name(model)
        hint = ""
        if len(examples) == 1 and isinstance(examples[0], (tuple, list)):
            hint = "; pass several examples one by one: om.trace(model, a, b)"
        raise TypeError(
            f"trace: the examples do not fit {name}{signature}: {error}{hint}"
        ) from error
    arguments: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            arguments.update(value)
        else:
            arguments[name] = value
    return arguments


def _split(
    model: Callable[..., Any], arguments: dict[str, Any]
) -> tuple[list[str], dict[str, Any]]:
    """Names of arguments to be passed by position, and all arguments."""
    signature = _signature(model)
    if signature is None:
        return [name for name in arguments if name.startswith("input_")], arguments
    by_position = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.VAR_POSITIONAL,
    )
    names = []
    for name, parameter in signature.parameters.items():
        if name not in arguments and parameter.kind is not inspect.Parameter.VAR_POSITIONAL:
            break  # what follows a gap goes by keyword
        if parameter.kind in by_position and name in arguments:
            names.append("*" + name if parameter.kind is by_position[2] else name)
    return names, {("*" + k if "*" + k in names else k): v for k, v in arguments.items()}


def _spread(name: str, value: Any) -> Sequence[Any]:
    return value if name.startswith("*") else [value]


def _fill(structure: Any, tensors: Mapping[str, Tensor]) -> Any:
    if isinstance(structure, _Leaf):
        return tensors[structure.name]
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*(_fill(item, tensors) for item in structure))
    if isinstance(structure, (tuple, list)):
        return type(structure)(_fill(item, tensors) for item in structure)
    if isinstance(structure, dict):
        return {key: _fill(item, tensors) for key, item in structure.items()}
    return structure


def _name_weights(tracer: Tracer, model: Any) -> None:
    """State-dict paths for weights and modules, of a module or of a method of one."""
    owner = model if hasattr(model, "named_parameters") else getattr(model, "__self__", None)
    if owner is None or not hasattr(owner, "named_parameters"):
        return
    for kind in ("named_parameters", "named_buffers"):
        for name, tensor in getattr(owner, kind)():
            tracer.parameter(name, tensor)
    tracer.name_modules({id(module): path for path, module in owner.named_modules()})


def _model_name(model: Any) -> str:
    name = getattr(model, "__name__", None)
    return name if isinstance(name, str) else type(model).__name__


def _outputs(tracer: Tracer, result: Any) -> dict[str, Tensor]:
    """The result's tensors by name: ``output``, ``output_0`` ..., or the keys of a dict."""
    found: dict[str, Tensor] = {}
    for name, leaf in _leaves(result, "output"):
        if not isinstance(leaf, Tensor):
            kind = "a size" if isinstance(leaf, Size) else type(leaf).__name__
            raise tracer.exception(
                "OM511", "trace()", f"the model returned {kind} as {name!r}, not a tensor"
            )
        if name in found:
            raise tracer.exception(
                "OM507",
                "trace()",
                f"two results of the model are called {name!r}; rename a key of what it returns",
            )
        found[name] = leaf
    if not found:
        raise tracer.exception("OM511", "trace()", "the model returned no tensor")
    return found


def _leaves(result: Any, name: str) -> Iterator[tuple[str, Any]]:
    """What a nested result holds, by name; None is nothing."""
    if isinstance(result, dict):
        prefix = "" if name == "output" else f"{name}_"
        for key, item in result.items():
            yield from _leaves(item, f"{prefix}{key}")
    elif isinstance(result, (tuple, list)):
        for position, item in enumerate(result):
            yield from _leaves(item, f"{name}_{position}")
    elif result is not None:
        yield name, result
