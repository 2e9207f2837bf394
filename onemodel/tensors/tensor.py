"""Tensor: a strided view on a storage. Knows storages, dtypes and the seam; no operators.

Operators attach their methods (``x + y``, ``x.softmax(-1)``) when their package is imported, so
that adding one touches one file. What stands here is what needs no operator: identity, shape,
the ways in and out of the values, and the ends of autograd.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from onemodel.tensors import seam
from onemodel.tensors.dtypes import as_dtype, category, is_floating, number_dtype
from onemodel.tensors.storage import Storage

_EPOCH = seam.EPOCH


class Tensor:
    """An n-dimensional array of one dtype that can record what is done to it.

    Built by :func:`tensor` and by operators. ``shape`` is a tuple; sizes of symbolic axes of a
    traced tensor are ``Size`` objects. Views share storage; every in-place write raises the
    storage's version.
    """

    # Class-level defaults keep construction to one attribute store.
    _array: np.ndarray
    _storage: Storage | None = None
    _record: Any = None
    _position: int = 0
    _tracked: bool = False
    _requires_grad: bool = False
    _retains: bool = False
    _mark: seam.Mark | None = None
    _learns: bool = False  # of a traced tensor: whether it would require gradients untraced
    _view: bool = False
    layout: str = "strided"
    _number: float | None = None  # what it was made of, where rounding to the dtype changed it
    grad: Tensor | None = None

    def __init__(self, array: np.ndarray) -> None:
        self._array = array
        self._epoch = _EPOCH[0]

    # --- shape and kind -------------------------------------------------------------------

    @property
    def array(self) -> np.ndarray:
        """The library's own read: the array itself, unasked. Not for users of a trace."""
        return self._array

    @property
    def shape(self) -> tuple[Any, ...]:
        """Sizes; those of symbolic axes of a traced tensor are ``Size`` objects."""
        mark = self._mark
        return self._array.shape if mark is None else mark.shape

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size of one axis."""
        return self.shape if dim is None else self.shape[dim]

    @property
    def ndim(self) -> int:
        return self._array.ndim

    def dim(self) -> int:
        return self._array.ndim

    @property
    def dtype(self) -> np.dtype:
        return self._array.dtype

    def numel(self) -> Any:
        """Number of elements; symbolic where an axis is."""
        count: Any = 1
        for size in self.shape:
            count = count * size
        return count

    def stride(self, dim: int | None = None) -> Any:
        """Strides in elements."""
        strides = tuple(s // self._array.itemsize for s in self._array.strides)
        return strides if dim is None else strides[dim]

    def storage_offset(self) -> int:
        """Elements between the start of the storage and the first element of this view."""
        start = self._array.__array_interface__["data"][0]
        base = self._own_storage().buffer.__array_interface__["data"][0]
        return (start - base) // self._array.itemsize

    def is_contiguous(self) -> bool:
        return bool(self._array.flags.c_contiguous)

    def is_floating_point(self) -> bool:
        return is_floating(self._array.dtype)

    @property
    def version(self) -> int:
        """How often the storage was written in place."""
        return 0 if self._storage is None else self._storage.version

    def _own_storage(self) -> Storage:
        storage = self._storage
        if storage is None:
            base = self._array
            while base.base is not None and isinstance(base.base, np.ndarray):
                base = base.base
            storage = self._storage = Storage(base, self._epoch)
        return storage

    def _own_elements(self) -> np.ndarray:
        """The array, to be written, shared or handed out: what a graph holds is left to it."""
        array = self._array
        storage = self._storage
        if storage is not None and storage.lent:
            del array  # so that only others count as holders
            array = self._array = storage.reclaim()
        return array

    def _writable(self, operation: str) -> np.ndarray:
        """The array, to be written. Raises RuntimeError where its elements cannot be."""
        array = self._own_elements()
        if not array.flags.writeable:
            raise RuntimeError(
                f"{operation}: the elements of this tensor repeat or belong to a read-only array; "
                "write to x.clone()"
            )
        return array

    def _lend(self) -> np.ndarray | None:
        """The elements for a graph, see :meth:`Storage.lend`; None where it needs a copy."""
        storage = self._own_storage()
        return storage.lend() if storage.buffer is self._array else None

    # --- autograd -------------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow through this tensor. In a trace, too, as without one."""
        return self._tracked if self._mark is None else self._requires_grad or self._learns

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        self.requires_grad_(wanted)

    def requires_grad_(self, wanted: bool = True) -> Tensor:
        """Ask for (or decline) gradients of a leaf.

        Raises RuntimeError for integer tensors and for results of operators.
        """
        if wanted and category(self._array.dtype) < 2:
            raise RuntimeError(f"only floating tensors can require gradients, not {self.dtype}")
        if not wanted and self._record is not None:
            raise RuntimeError("this tensor is the result of an operator; use detach()")
        self._requires_grad = bool(wanted)
        self._tracked = bool(wanted) or self._record is not None or self._mark is not None
        return self

    @property
    def is_leaf(self) -> bool:
        return self._record is None and not self._learns

    def retain_grad(self) -> None:
        """Keep ``.grad`` on the result of an operator, too."""
        self._retains = True

    def _accumulate(self, gradient: np.ndarray) -> None:
        # Copied once: the engine may hand one array to several leaves.
        if self.grad is None:
            self.grad = Tensor(np.array(gradient, order="C"))
        else:
            self.grad = Tensor(self.grad._array + gradient)

    def detach(self) -> Tensor:
        """The same values without history; shares storage. A traced tensor returns itself."""
        if self._mark is not None:
            return self
        result = Tensor(self._own_elements())
        result._storage = self._own_storage()
        result._view = True
        return result

    # --- ways out of the values -----------------------------------------------------------

    def _read(self, operation: str) -> np.ndarray:
        if self._mark is not None:
            self._mark.on_read(operation)
        return self._array

    def _hand_out(self, operation: str) -> np.ndarray:
        """The array for somebody who may keep it, and write through it without notice."""
        self._read(operation)
        array = self._own_elements()
        self._own_storage().exposed = True
        return array

    def numpy(self) -> np.ndarray:
        """The values as an array that shares memory.

        Raises RuntimeError while gradients are recorded on it; TraceException in a trace.
        """
        if self._tracked and self._mark is None:
            raise RuntimeError("this tensor records gradients; use x.detach().numpy()")
        return self._hand_out("numpy()")

    def to_array(self) -> np.ndarray:
        """A copy of the values."""
        return np.array(self._read("to_array()"), order="C")

    def item(self) -> Any:
        """The value of a one-element tensor as a Python number."""
        array = self._read("item()")
        if array.size != 1:
            raise ValueError(f"item() needs one element, this tensor has shape {list(array.shape)}")
        return array.item()

    def get(self, *index: int) -> Any:
        """One element as a Python number."""
        return self._read("get()")[index].item()

    def tolist(self) -> Any:
        return self._read("tolist()").tolist()

    @property
    def data(self) -> Tensor:
        """The values without history, sharing storage. Refused in a trace."""
        self._read(".data")
        return self.detach()

    @property
    def storage(self) -> Storage:
        self._hand_out(".storage")
        return self._own_storage()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self._read("numpy.asarray()")
        if dtype is not None and np.dtype(dtype) != array.dtype:
            return array.astype(dtype)
        return np.array(array) if copy else self._hand_out("numpy.asarray()")

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return cast("dict[str, Any]", self._hand_out("__array_interface__").__array_interface__)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        operator = _UFUNCS.get(ufunc.__name__) if method == "__call__" and not kwargs else None
        if operator is not None:
            return operator(*inputs)
        name = f"numpy.{ufunc.__name__}()"
        return getattr(ufunc, method)(*_release(inputs, name, Tensor._hand_out), **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        name = f"{function.__module__}.{function.__name__}()"
        hand_out = Tensor._hand_out
        return function(*_release(args, name, hand_out), **_release(kwargs, name, hand_out))

    def __dlpack__(self, **options: Any) -> Any:
        return self._hand_out("__dlpack__()").__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return cast("tuple[int, int]", self._read("__dlpack_device__()").__dlpack_device__())

    def __buffer__(self, flags: int) -> memoryview:
        return self._hand_out("memoryview()").data

    def __bool__(self) -> bool:
        array = self._read("bool()")
        if array.size != 1:
            raise ValueError(
                f"the truth of a tensor of shape {list(array.shape)} is ambiguous; "
                "use .any() or .all()"
            )
        return bool(array.item())

    def __int__(self) -> int:
        return int(self._one("int()"))

    def __float__(self) -> float:
        return float(self._one("float()"))

    def __complex__(self) -> complex:
        return complex(self._one("complex()"))

    def __index__(self) -> int:
        array = self._read("__index__()")
        if array.size != 1 or array.dtype.kind not in "iu":
            raise TypeError("only one-element integer tensors can be used as an index")
        return int(array.item())

    def __round__(self, digits: int | None = None) -> Any:
        return round(self._one("round()"), digits)

    def _one(self, operation: str) -> Any:
        array = self._read(operation)
        if array.size != 1:
            raise TypeError(
                f"{operation} needs one element, this tensor has shape {list(array.shape)}"
            )
        return array.item()

    def __contains__(self, value: Any) -> bool:
        array = self._read("in")
        return bool((array == (value._read("in") if isinstance(value, Tensor) else value)).any())

    def __len__(self) -> int:
        if self._array.ndim == 0:
            raise TypeError("a 0-d tensor has no length")
        return self._array.shape[0] if self._mark is None else self._mark.on_length()

    def __iter__(self) -> Iterator[Tensor]:
        if self._array.ndim == 0:
            raise TypeError("a 0-d tensor cannot be iterated")
        return iter([self[i] for i in range(len(self))])

    def __reduce__(self) -> Any:
        return _rebuild, (np.array(self._read("pickle")), self._requires_grad)

    def __copy__(self) -> Tensor:
        return _rebuild(np.array(self._read("copy.copy()")), self._requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        copied = _rebuild(np.array(self._read("copy.deepcopy()")), self._requires_grad)
        copied = copied if type(self) is Tensor else self._retyped(copied)
        memo[id(self)] = copied
        return copied

    def _retyped(self, plain: Tensor) -> Tensor:
        result = type(self).__new__(type(self))
        result.__dict__.update(plain.__dict__)
        return result

    # --- text -----------------------------------------------------------------------------

    def __repr__(self) -> str:
        if self._mark is not None:
            return f"<traced {self._array.dtype}{self._mark.describe()}>"
        text = np.array2string(self._array, separator=", ", prefix="tensor(", threshold=200)
        parts = [text]
        if self._array.dtype not in (np.float32, np.int64, np.bool_) or self._array.size == 0:
            parts.append(f"dtype={self._array.dtype}")
        if self._record is not None:
            parts.append(f"grad_fn={self._record.operator.name}")
        elif self._requires_grad:
            parts.append("requires_grad=True")
        return f"tensor({', '.join(parts)})"

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        return format(self._one(f"format {spec!r}"), spec)

    __hash__ = object.__hash__

    # --- ways in: writes ------------------------------------------------------------------

    def _write(self, operation: str) -> np.ndarray:
        """The array, to be written by the caller: asks the seam, then raises the version."""
        seam.write(self, operation)
        if self._requires_grad and self._record is None and _GRAD_MODE[0]():
            raise RuntimeError(
                f"{operation} would change a leaf that requires gradients; "
                "do it inside om.no_grad(), or on x.detach()"
            )
        array = self._writable(operation)
        self._own_storage().version += 1
        return array

    def fill_(self, value: Any) -> Tensor:
        """Set every element to ``value``."""
        self._write("fill_()")[...] = _release(value, "fill_()")
        return self

    def fill(self, value: Any) -> Tensor:
        """Set every element to ``value``."""
        self._write("fill()")[...] = _release(value, "fill()")
        return self

    def zero_(self) -> Tensor:
        self._write("zero_()")[...] = 0
        return self

    def set(self, *index_and_value: Any) -> None:
        """``x.set(i, j, value)``: set one element."""
        *index, value = index_and_value
        self._write("set()")[tuple(index)] = _release(value, "set()")

    def copy_from(self, other: Any) -> Tensor:
        """Copy the values of ``other`` (a tensor or array that broadcasts) into this tensor."""
        values = _release(other, "copy_from()")
        self._write("copy_from()")[...] = values
        return self

    copy_ = copy_from

    def mutable_data(self) -> np.ndarray:
        """The array itself, to be written. Counts as a write at this moment."""
        self._write("mutable_data()")
        return self._hand_out("mutable_data()")

    def mutable_storage(self) -> Storage:
        """The storage, to be written. Counts as a write at this moment."""
        self._write("mutable_storage()")
        self._hand_out("mutable_storage()")
        return self._own_storage()

    if TYPE_CHECKING:
        # Attached by the operators' own files; spelt here for readers and type checkers.
        T: Tensor
        mT: Tensor

        def __getattr__(self, name: str) -> Callable[..., Any]: ...
        def __getitem__(self, index: Any) -> Tensor: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...
        def __add__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __floordiv__(self, other: Any) -> Tensor: ...
        def __mod__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __rpow__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __rmatmul__(self, other: Any) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __and__(self, other: Any) -> Tensor: ...
        def __or__(self, other: Any) -> Tensor: ...
        def __xor__(self, other: Any) -> Tensor: ...
        def __lt__(self, other: Any) -> Tensor: ...
        def __le__(self, other: Any) -> Tensor: ...
        def __gt__(self, other: Any) -> Tensor: ...
        def __ge__(self, other: Any) -> Tensor: ...
        def __eq__(self, other: Any) -> Tensor: ...  # type: ignore[override]
        def __ne__(self, other: Any) -> Tensor: ...  # type: ignore[override]


# Filled by the floors above: NumPy functions that mean one of our operators, and grad mode.
_UFUNCS: dict[str, Callable[..., Any]] = {}
_GRAD_MODE: list[Callable[[], bool]] = [lambda: True]


def connect_grad_mode(enabled: Callable[[], bool]) -> None:
    """Tell the tensor layer how to ask whether gradients are recorded."""
    _GRAD_MODE[0] = enabled


def _release(
    value: Any, operation: str, read: Callable[[Tensor, str], np.ndarray] = Tensor._read
) -> Any:
    """Tensors in nested arguments as arrays, each asked first."""
    if isinstance(value, Tensor):
        return read(value, operation)
    if isinstance(value, (list, tuple)):
        return type(value)(_release(item, operation, read) for item in value)
    if isinstance(value, dict):
        return {key: _release(item, operation, read) for key, item in value.items()}
    return value


def _rebuild(array: np.ndarray, requires_grad: bool) -> Tensor:
    result = Tensor(array)
    if requires_grad:
        result.requires_grad_()
    return result


def as_array(data: Any, dtype: Any = None) -> np.ndarray:
    """``data`` (numbers, nested sequences, arrays, tensors) as a new C-ordered array.

    Python floats take the default dtype, ints int64. Raises TypeError for other objects.
    """
    if isinstance(data, Tensor):
        array = data._read("tensor()")
        return np.array(array, dtype=as_dtype(dtype) if dtype is not None else None, order="C")
    if isinstance(data, (np.ndarray, np.generic)) or (
        hasattr(data, "__array__") and not isinstance(data, (list, tuple))
    ):
        array = np.asarray(data)
        wanted = as_dtype(dtype if dtype is not None else array.dtype)
    else:
        array = np.asarray(data)
        if array.dtype == object:
            raise TypeError(
                f"cannot make a tensor from {type(data).__name__}: "
                "expected numbers, nested sequences of equal length, an array or a tensor"
            )
        if dtype is not None:
            wanted = as_dtype(dtype)
        elif array.dtype == np.float64 and not _holds_numpy(data):
            wanted = number_dtype(0.0)
        else:
            wanted = as_dtype(array.dtype)
    return np.array(array, dtype=wanted, order="C")


def _holds_numpy(data: Any) -> bool:
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return isinstance(data, (np.ndarray, np.generic, Tensor))
