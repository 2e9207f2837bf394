"""Ways into and out of a traced run: one function each, with the call that must be refused.

Each entry names the code and the exact expression that the refusal must underline, on the line
marked ``# offence``. The functions are what a user would write.
"""

from __future__ import annotations

import copy
import math
import pickle
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import onemodel as om
from onemodel import nn

WEIGHT = om.tensor(np.arange(12, dtype=np.float32).reshape(3, 4))
SCALE = om.tensor(np.ones(4, np.float32))
NORM = nn.BatchNorm1d(4)
DROP = nn.Dropout(0.5)
KEPT: list[Any] = []
COUNTER = [0]


@dataclass(frozen=True)
class EntryPoint:
    """``function(x)`` is refused with ``code`` at ``expression``; x is float32 [3, 4]."""

    function: Callable[..., Any]
    code: str
    expression: str
    axes: Any = None

    def __str__(self) -> str:
        return f"{self.code}-{self.function.__name__}"


def truth(x):
    if x.sum() > 0:  # offence
        return x * 2
    return x


def loop_condition(x):
    while x.sum() > 1:  # offence
        x = x / 2
    return x


def assertion(x):
    y = x + 1
    assert (y > 0).all()  # offence
    return y


def conjunction(x):
    return x if x.max() > 0 and True else -x  # offence


def builtin_max(x):
    a, b = x[0, 0], x[0, 1]
    return x * max(a, b)  # offence


def membership(x):
    return x * (x[0, 0] in [1.0, 2.0])  # offence


def to_float(x):
    return x * float(x.mean())  # offence


def to_int(x):
    return x[: int(x.max())]  # offence


def as_index(x):
    table = [1.0, 2.0, 3.0]
    return x * table[x[0, 0].long()]  # offence


def item(x):
    return x / x.max().item()  # offence


def tolist(x):
    return x * x.sum(0).tolist()[0]  # offence


def to_array(x):
    return x + x.to_array()  # offence


def numpy_method(x):
    return x + x.numpy()  # offence


def asarray(x):
    return x + np.asarray(x)  # offence


def numpy_function(x):
    return x * np.linalg.norm(x)  # offence


def numpy_ufunc(x):
    return x + np.spacing(x)  # offence


def math_function(x):
    return x * math.sqrt(x.sum())  # offence


def data_attribute(x):
    return x.data + 1  # offence


def storage_attribute(x):
    return x * x.storage.nbytes  # offence


def dlpack(x):
    return x + np.from_dlpack(x)  # offence


def array_interface(x):
    return x * len(x.__array_interface__)  # offence


def format_spec(x):
    return x * len(format(x.sum(), ".3f"))  # offence


def pickling(x):
    return x * len(pickle.dumps(x))  # offence


def deep_copy(x):
    return x + copy.deepcopy(x)  # offence


def copy_out(x):
    KEPT.append(om.zeros(3, 4))
    KEPT[-1].copy_from(x)  # offence
    return x


def boolean_mask(x):
    return x[x > 0].sum()  # offence


def nonzero(x):
    return om.nonzero(x).sum() + x  # offence


def fill(x):
    y = x * 2
    y.fill(0)  # offence
    return y


def item_assignment(x):
    y = x * 2
    y[0] = 0  # offence
    return y


def copy_into(x):
    y = x * 2
    y.copy_from(WEIGHT)  # offence
    return y


def mutable_data(x):
    y = x * 2
    y.mutable_data()[0] = 1  # offence
    return y


def augmented(x):
    x += 1  # offence
    return x


def inplace_operator(x):
    return x.add_(1)  # offence


def through_a_view(x):
    row = x[0]
    row *= 2  # offence
    return x


def captured_constant(x):
    y = x * SCALE
    SCALE.copy_from(SCALE.to_array() + 1)  # offence
    return y


def no_grad_block(x):
    with om.no_grad():  # offence
        return x * 2


@om.no_grad()
def undisturbed(x):
    return x * 2


def no_grad_decorator(x):
    return undisturbed(x) + 1  # offence


def grad_disabled(x):
    with om.set_grad_enabled(False):  # offence
        return x + 1


def frozen_broadcast(x):
    return x + WEIGHT  # offence


def frozen_concat(x):
    return om.stack([x, WEIGHT])  # offence


def squeeze_symbolic(x):
    return x.squeeze(0)  # offence


def length(x):
    return x.sum(0) / len(x)  # offence


def square_root(x):
    return x / math.sqrt(x.shape[0])  # offence


def branch_on_size(x):
    if x.shape[0] > 7:  # offence
        return x * 2
    return x


def loop_over_axis(x):
    total = x[0] * 0
    for row in x:  # offence
        total = total + row
    return total


def counter(x):
    COUNTER[0] += 1
    return x * COUNTER[0]  # offence


def foreign_random(x):
    return x * random.random()  # offence


def kept_tensor(x):
    if KEPT and isinstance(KEPT[0], om.Tensor):
        y = x + KEPT[0]  # offence
    else:
        y = x * 1.5
    KEPT.insert(0, y)
    return y


def nested_trace(x):
    om.Tracer.begin()  # offence
    return x


def batch_norm_training(x):
    return NORM(x)  # offence


def dropout_training(x):
    return DROP(x) * 2  # offence


def random_draw(x):
    return x + om.rand(3, 4)  # offence


def loss(x):
    return om.cross_entropy(x, om.tensor([0, 1, 2]))  # offence


SYMBOLIC = {"x": {0: "batch"}}

ENTRY_POINTS = (
    EntryPoint(truth, "OM101", "x.sum() > 0"),
    EntryPoint(loop_condition, "OM101", "x.sum() > 1"),
    EntryPoint(assertion, "OM101", "(y > 0).all()"),
    EntryPoint(conjunction, "OM101", "x.max() > 0"),
    EntryPoint(builtin_max, "OM101", "max(a, b)"),
    EntryPoint(membership, "OM101", "x[0, 0] in [1.0, 2.0]"),
    EntryPoint(to_float, "OM102", "float(x.mean())"),
    EntryPoint(to_int, "OM103", "int(x.max())"),
    EntryPoint(as_index, "OM103", "table[x[0, 0].long()]"),
    EntryPoint(item, "OM104", "x.max().item()"),
    EntryPoint(tolist, "OM105", "x.sum(0).tolist()"),
    EntryPoint(to_array, "OM105", "x.to_array()"),
    EntryPoint(numpy_method, "OM107", "x.numpy()"),
    EntryPoint(asarray, "OM107", "np.asarray(x)"),
    EntryPoint(numpy_function, "OM107", "np.linalg.norm(x)"),
    EntryPoint(numpy_ufunc, "OM107", "np.spacing(x)"),
    EntryPoint(math_function, "OM102", "math.sqrt(x.sum())"),
    EntryPoint(data_attribute, "OM106", "x.data"),
    EntryPoint(storage_attribute, "OM106", "x.storage"),
    EntryPoint(dlpack, "OM107", "np.from_dlpack(x)"),
    EntryPoint(array_interface, "OM107", "x.__array_interface__"),
    EntryPoint(format_spec, "OM108", 'format(x.sum(), ".3f")'),
    EntryPoint(pickling, "OM109", "pickle.dumps(x)"),
    EntryPoint(deep_copy, "OM109", "copy.deepcopy(x)"),
    EntryPoint(copy_out, "OM106", "KEPT[-1].copy_from(x)"),
    EntryPoint(boolean_mask, "OM110", "x[x > 0]"),
    EntryPoint(nonzero, "OM111", "om.nonzero(x)"),
    EntryPoint(fill, "OM201", "y.fill(0)"),
    EntryPoint(item_assignment, "OM201", "y[0]"),
    EntryPoint(copy_into, "OM201", "y.copy_from(WEIGHT)"),
    EntryPoint(mutable_data, "OM201", "y.mutable_data()"),
    EntryPoint(augmented, "OM204", "x += 1"),
    EntryPoint(inplace_operator, "OM204", "x.add_(1)"),
    EntryPoint(through_a_view, "OM202", "row *= 2"),
    EntryPoint(captured_constant, "OM203", "SCALE.copy_from(SCALE.to_array() + 1)"),
    EntryPoint(no_grad_block, "OM301", "om.no_grad()"),
    EntryPoint(no_grad_decorator, "OM301", "undisturbed(x)"),
    EntryPoint(grad_disabled, "OM301", "om.set_grad_enabled(False)"),
    EntryPoint(frozen_broadcast, "OM403", "x + WEIGHT", SYMBOLIC),
    EntryPoint(frozen_concat, "OM403", "om.stack([x, WEIGHT])", SYMBOLIC),
    EntryPoint(squeeze_symbolic, "OM403", "x.squeeze(0)", SYMBOLIC),
    EntryPoint(length, "OM401", "len(x)", SYMBOLIC),
    EntryPoint(square_root, "OM401", "math.sqrt(x.shape[0])", SYMBOLIC),
    EntryPoint(branch_on_size, "OM405", "x.shape[0] > 7", SYMBOLIC),
    EntryPoint(loop_over_axis, "OM402", "x", SYMBOLIC),
    EntryPoint(counter, "OM520", "x * COUNTER[0]"),
    EntryPoint(foreign_random, "OM520", "x * random.random()"),
    EntryPoint(kept_tensor, "OM502", "x + KEPT[0]"),
    EntryPoint(nested_trace, "OM501", "om.Tracer.begin()"),
    EntryPoint(batch_norm_training, "OM602", "NORM(x)"),
    EntryPoint(dropout_training, "OM601", "DROP(x)"),
    EntryPoint(random_draw, "OM603", "om.rand(3, 4)"),
    EntryPoint(loss, "OM607", "om.cross_entropy(x, om.tensor([0, 1, 2]))"),
)
