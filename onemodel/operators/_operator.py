"""What an operator is, and the one way to run it.

An operator is a fact: its declaration (the public function), forward, gradient, axis rule,
symbolic functions and cases, gathered from one file. :func:`apply` runs the forward, wraps the
results, keeps the record that gradients need, and tells the seam where a traced tensor or a
symbolic size takes part. It knows neither tracing nor graphs.
"""

from __future__ import annotations

import contextvars
import inspect
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from onemodel.autograd.grad_mode import mode as grad_mode
from onemodel.autograd.record import BackwardRecord
from onemodel.axes.size import contains_size, strip_sizes
from onemodel.operators._case import Case
from onemodel.tensors import seam
from onemodel.tensors.tensor import Tensor

_NONE: Mapping[str, Any] = {}
_EPOCH = seam.EPOCH
_ndarray = np.ndarray
_new = object.__new__


class _Silent(threading.local):
    """Where forwards run: infinities and NaN are results there, not floating-point warnings.

    NumPy keeps that choice in a context variable, so that a context of each thread's own holds
    it once; entering it costs a fifth of ``np.errstate``.
    """

    def __init__(self) -> None:
        context = contextvars.copy_context()
        context.run(np.seterr, all="ignore")
        self.run = context.run


_silent = _Silent()


@dataclass(frozen=True)
class Refusal:
    """Why a call cannot be traced: a code of the registry, a sentence, rewrites (title, code)."""

    code: str
    message: str
    rewrites: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, eq=False)
class Operator:
    """One operator.

    Attributes:
        name: the ``om.<name>`` function and the ``om::<name>`` of the symbolic registry.
        declaration: the public function.
        forward: arrays in (positional), attributes by keyword, array or tuple of arrays out;
            with ``saves`` it returns ``(result, saved)``.
        backward: ``(record, *grads) -> gradient per input (or None)``; None: not differentiable.
        axes: extents of the inputs (positional), attributes by keyword, extents out.
        symbolic: since-opset -> symbolic function ``(g, <parameters by name>)``.
        methods: names under which the declaration becomes a method of Tensor.
        reflected: dunder names that call the declaration with swapped operands.
        inplace: names of in-place forms (``add_``, ``__iadd__``).
        reads: which arrays the gradient reads: any of "i" (inputs) and "o" (results).
        saves: whether the forward returns ``(result, saved)``.
        size_attributes: attributes that may hold ``Size`` objects (nested in tuples).
        view: whether a result may share memory with the first input.
        refuses: attributes -> Refusal where this call must not be traced, else None.
        random: whether it draws random numbers.
        ufunc: name of the NumPy function with the same meaning, for mixed expressions.
        cases: what the shared suite runs.
        alias: (attributes, axes of the inputs, axes of the result) -> whether the result is
            the first input unchanged, so that a trace writes no node.
        public: whether it is an ``om.<name>``, too.
    """

    name: str
    declaration: Callable[..., Any]
    forward: Callable[..., Any]
    backward: Callable[..., Any] | None = None
    axes: Callable[..., Any] | None = None
    symbolic: Mapping[int, Callable[..., Any]] = field(default_factory=dict)
    methods: tuple[str, ...] = ()
    reflected: tuple[str, ...] = ()
    inplace: tuple[str, ...] = ()
    reads: str = "io"
    saves: bool = False
    size_attributes: tuple[str, ...] = ()
    view: bool = False
    refuses: Callable[[Mapping[str, Any]], Refusal | None] | None = None
    random: bool = False
    ufunc: str = ""
    alias: Callable[..., bool] | None = None
    public: bool = True
    cases: tuple[Case, ...] = ()

    @cached_property
    def axes_need_assignment(self) -> bool:
        """Whether the axis rule asks for the example sizes of the symbols (``assignment``)."""
        return self.axes is not None and "assignment" in inspect.signature(self.axes).parameters

    @cached_property
    def axes_note_assumptions(self) -> bool:
        """Whether the axis rule reports plain numbers it took for symbols (``note``)."""
        return self.axes is not None and "note" in inspect.signature(self.axes).parameters

    @cached_property
    def special(self) -> bool:
        """Whether :func:`apply` has more to do than to run the forward."""
        return bool(self.size_attributes or self.refuses or self.saves or self.view)

    @cached_property
    def tensor_names(self) -> tuple[str, ...]:
        """Names of the tensor inputs; one starting with ``*`` takes all that remain."""
        names = []
        for parameter in inspect.signature(self.forward).parameters.values():
            if parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD:
                names.append(parameter.name)
            elif parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                names.append("*" + parameter.name)
        return tuple(names)

    @cached_property
    def _starred(self) -> bool:
        return any(name.startswith("*") for name in self.tensor_names)

    @cached_property
    def attribute_names(self) -> tuple[str, ...]:
        """Names of the attributes, keyword-only in the forward."""
        parameters = inspect.signature(self.forward).parameters.values()
        return tuple(p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY)

    def bind(self, inputs: Sequence[Any]) -> dict[str, Any]:
        """Input values by parameter name; a starred name takes a list."""
        if not self._starred:
            return dict(zip(self.tensor_names, inputs, strict=False))
        bound: dict[str, Any] = {}
        for position, name in enumerate(self.tensor_names):
            if name.startswith("*"):
                bound[name[1:]] = list(inputs[position:])
            elif position < len(inputs):
                bound[name] = inputs[position]
        return bound

    def __repr__(self) -> str:
        return f"<operator {self.name}>"


@dataclass(frozen=True, eq=False)
class Composite:
    """A public function built only from other operators: it needs no rule of its own."""

    name: str
    declaration: Callable[..., Any]
    methods: tuple[str, ...] = ()
    reflected: tuple[str, ...] = ()
    inplace: tuple[str, ...] = ()
    cases: tuple[Case, ...] = ()
    ufunc: str = ""
    public: bool = True


def apply(
    operator: Operator, tensors: Sequence[Tensor], attributes: Mapping[str, Any] = _NONE
) -> Any:
    """Run ``operator``: a Tensor, or a tuple of Tensors where the forward gives a tuple.

    Raises ValueError or TypeError naming the operator and its operands where the forward
    does; TraceException where a traced operand meets what cannot be traced.
    """
    if operator.special:
        if operator.view:
            return apply_view(operator, tensors[0], attributes)
        return _apply_special(operator, tensors, attributes)
    # The common operator, spelt out for one and two operands: this is what a tiny tensor pays.
    try:
        if len(tensors) == 1:
            first = tensors[0]
            if attributes:
                result = _silent.run(operator.forward, first._array, **attributes)
            else:
                result = _silent.run(operator.forward, first._array)
            tracked = first._tracked
        elif len(tensors) == 2:
            first, second = tensors
            result = _silent.run(operator.forward, first._array, second._array, **attributes)
            tracked = first._tracked or second._tracked
        else:
            result = _silent.run(operator.forward, *[t._array for t in tensors], **attributes)
            tracked = any(t._tracked for t in tensors)
    except (ValueError, TypeError, IndexError) as error:
        raise _fault(operator, tensors, attributes, error) from error
    if type(result) is tuple:
        wrapped = tuple(Tensor(np.asarray(r)) for r in result)
        if tracked:
            keep(operator, tensors, attributes, wrapped)
        return wrapped
    tensor = _new(Tensor)  # Tensor(result) without the call
    tensor._array = result if type(result) is _ndarray else np.asarray(result)
    tensor._epoch = _EPOCH[0]
    if tracked:
        keep(operator, tensors, attributes, (tensor,))
    return tensor


def apply_alike(
    operator: Operator,
    first: Any,
    second: Any,
    attributes: Mapping[str, Any] = _NONE,
    kinds: str = "f",
) -> Tensor | None:
    """Two tensors of one dtype: nothing to promote, the commonest call of all.

    None where it is any other call, or the dtype is of none of the ``kinds``. The forward is
    called with its defaults, which must be what ``attributes`` says.
    """
    if not (isinstance(first, Tensor) and isinstance(second, Tensor)):
        return None  # a number, an array, or something to complain of
    dtype = first._array.dtype
    if dtype is not second._array.dtype or dtype.kind not in kinds:
        return None
    try:
        result = _silent.run(operator.forward, first._array, second._array)
    except (ValueError, TypeError) as error:
        raise _fault(operator, (first, second), attributes, error) from error
    tensor = _new(Tensor)  # Tensor(result) without the call
    tensor._array = result if type(result) is _ndarray else np.asarray(result)
    tensor._epoch = _EPOCH[0]
    if first._tracked or second._tracked:
        keep(operator, (first, second), attributes, (tensor,))
    return tensor


def apply_view(operator: Operator, source: Tensor, attributes: Mapping[str, Any]) -> Any:
    """:func:`apply` for what looks at the memory of one tensor another way and computes nothing."""
    sized = False
    plain = attributes
    for name in operator.size_attributes:
        if contains_size(attributes[name]):
            sized, plain = True, strip_sizes(attributes)
    try:
        result = operator.forward(source._own_elements(), **plain)
    except (ValueError, TypeError, IndexError) as error:
        raise _fault(operator, (source,), plain, error) from error
    if type(result) is tuple:
        views = tuple(view_of(source, r) for r in result)
        if sized or source._tracked:
            keep(operator, (source,), attributes, views, sized=sized)
        return views
    view = view_of(source, result)
    if sized or source._tracked:
        keep(operator, (source,), attributes, (view,), sized=sized)
    return view


def view_of(source: Tensor, array: np.ndarray) -> Tensor:
    """A tensor of ``array``, sharing the storage of ``source`` where it looks into its memory.

    Made of the tensor's ``_own_elements()``, and without a record.
    """
    tensor = _new(Tensor)  # Tensor(array) without the call
    tensor._array = array
    tensor._epoch = _EPOCH[0]
    base = array.base
    origin = source._array
    # Views name the memory they look into; only chains of views need the slower question.
    if base is None:
        shared = array is origin  # nothing was to be done (NumPy's squeeze gives itself back)
    else:
        shared = base is origin or base is origin.base or np.may_share_memory(array, origin)
    if shared:
        tensor._storage = source._storage or source._own_storage()
        tensor._view = True
    return tensor


def _apply_special(
    operator: Operator, tensors: Sequence[Tensor], attributes: Mapping[str, Any]
) -> Any:
    """Operators that take sizes, save for the gradient, or may refuse a trace."""
    sized = False
    plain = attributes
    for name in operator.size_attributes:
        if contains_size(attributes.get(name)):
            sized, plain = True, strip_sizes(attributes)
            break
    if operator.refuses is not None:
        _ask_refusal(operator, tensors, attributes)
    try:
        result = _silent.run(operator.forward, *[t._array for t in tensors], **plain)
    except (ValueError, TypeError, IndexError) as error:
        raise _fault(operator, tensors, plain, error) from error
    saved = None
    if operator.saves:
        result, saved = result
    tracked = sized or any(t._tracked for t in tensors)
    if type(result) is tuple:
        wrapped = tuple(Tensor(np.asarray(r)) for r in result)
        if tracked:
            keep(operator, tensors, attributes, wrapped, saved, sized)
        return wrapped
    tensor = Tensor(result if type(result) is _ndarray else np.asarray(result))
    if tracked:
        keep(operator, tensors, attributes, (tensor,), saved, sized)
    return tensor


def keep(
    operator: Operator,
    tensors: Sequence[Tensor],
    attributes: Mapping[str, Any],
    results: Sequence[Tensor],
    saved: Any = None,
    sized: bool = False,
) -> None:
    """Keep the record of a call on tracked tensors where gradients or a trace want it.

    ``sized``: its attributes hold symbolic sizes.
    """
    marked = sized
    for tensor in tensors:
        if tensor._mark is not None:
            marked = True
            break
    learns = operator.backward is not None and grad_mode.enabled
    if marked and _tell(operator, tensors, attributes, results):
        if learns and any(t._learns or t._requires_grad or t._record is not None for t in tensors):
            for result in results:
                result._learns = result._array.dtype.kind in "fcV"
        return
    if not learns:
        return
    # A tensor of a finished trace looks tracked, but leads to no leaf.
    if marked and not any(t._requires_grad or t._record is not None for t in tensors):
        return
    record = BackwardRecord(operator, tensors, attributes, results, saved)
    for position, result in enumerate(results):
        if result._array.dtype.kind in "fcV":  # V: bfloat16
            result._record = record
            result._tracked = True
            if position:
                result._position = position


def _tell(
    operator: Operator,
    tensors: Sequence[Tensor],
    attributes: Mapping[str, Any],
    results: Sequence[Tensor],
) -> bool:
    """Tell a trace of a call on marked tensors or sizes; whether there was one to tell."""
    live = any(t._mark is not None and t._mark.live for t in tensors)
    if not live and seam.listener() is None:
        return False
    seam.record(seam.Call(operator, tensors, attributes), results)
    return True


def _ask_refusal(
    operator: Operator, tensors: Sequence[Tensor], attributes: Mapping[str, Any]
) -> None:
    for tensor in tensors:
        if tensor._mark is not None and tensor._mark.live:
            assert operator.refuses is not None
            refusal = operator.refuses(attributes)
            if refusal is not None:
                tensor._mark.on_refuse(operator.name, refusal)
            return


def _fault(
    operator: Operator, tensors: Sequence[Tensor], attributes: Mapping[str, Any], error: Exception
) -> Exception:
    """The error of a forward, with the operator and what it was given."""
    if getattr(error, "explained", False) or type(error).__name__ == "TraceException":
        return error
    for tensor in tensors:
        if tensor._mark is not None and tensor._mark.live:
            tensor._mark.on_fault(operator.name)
    names = [name.lstrip("*") for name in operator.tensor_names]
    given = []
    for position, tensor in enumerate(tensors):
        name = names[min(position, len(names) - 1)] if names else "input"
        given.append(f"{name} {tensor._array.dtype}{list(tensor._array.shape)}")
    given += [f"{name}={_short(value)}" for name, value in attributes.items()]
    kind = TypeError if isinstance(error, TypeError) else ValueError
    kind = IndexError if isinstance(error, IndexError) else kind
    explained = kind(f"{operator.name}: {error} (given {', '.join(given)})")
    explained.explained = True  # type: ignore[attr-defined]
    return explained


def _short(value: Any) -> str:
    if isinstance(value, (np.ndarray, Tensor)):
        return f"{value.dtype}{list(np.shape(getattr(value, '_array', value)))}"
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
