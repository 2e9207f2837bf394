"""Programs of the catalogue whose graph would depend on the values of a tensor.

Each is what a user would write; ``# <-`` marks the line that a refusal must name. The titles,
the outcomes and what other tracers do stand in ``catalogue.py``.
"""

from __future__ import annotations

import copy
import io
import pickle
from contextlib import suppress

import numpy as np

import onemodel as om


def branch(x):
    if x.sum() > 0:  # <-
        return x * 2
    return x - 10


def float_of_mean(x):
    return x * float(x.mean())  # <-


def size_from_value(x):
    return x + om.ones(int(abs(x.max())) + 1).sum()  # <-


def item(x):
    return x / x.max().item()  # <-


def to_list(x):
    return x * sum(x.sum(1).tolist())  # <-


def numpy_round_trip(x):
    return om.tensor(np.cumsum(x.numpy(), axis=1))  # <-


def numpy_linalg(x):
    return x / np.linalg.norm(x)  # <-


def numpy_function_of_same_meaning(x):
    return np.exp(x) + np.sqrt(np.abs(x))


def printed(x):
    print(f"hidden: {x} {x!r}", str(x), file=io.StringIO())
    return x * 2


def text_read_back(x):
    return x * float(f"{x.mean():.6f}")  # <-


def python_max(x):
    return x * max(x[0, 0], x[0, 1])  # <-


def chained_comparison(x):
    s = x.sum()
    if 0 < s < 100:  # <-
        return x * 2
    return x


def membership(x):
    if x[0, 0] in [1.0, 2.0]:  # <-
        return x * 2
    return x


def loop_on_values(x):
    while x.sum() > 1:  # <-
        x = x / 2
    return x


def assertion(x):
    assert x.min() > -100  # <-
    return x * 2


def swallowed_refusal(x):
    try:
        positive = bool(x.sum() > 0)  # <-
    except Exception:
        positive = True
    return x * 2 if positive else x


def swallowed_in_a_helper(x):
    def scale_of(y):
        return float(y.sum())  # <-

    try:
        scale = scale_of(x)
    except (ValueError, RuntimeError):
        scale = 2.0
    except Exception:
        scale = 1.0
    return x * scale


def suppressed_refusal(x):
    scale = 1.0
    with suppress(Exception):
        scale = float(x.sum())  # <-
    return x * scale


def boolean_mask(x):
    return x[x > 0].sum()  # <-


def nonzero(x):
    return om.nonzero(x > 0).sum() + x  # <-


def unique(x):
    return om.unique(x).sum() + x  # <-


def recursion_on_a_value(x):
    def halve(y):
        return y if y.sum() < 1 else halve(y / 2)  # <-

    return halve(x)


def write_to_data(x):
    y = x * 2
    y.data[0] = 5  # <-
    return y


def integers_times_a_half(i):
    return i * 0.5


def half_precision_and_a_python_float(h):
    return h * 0.1 + 1.5


def sorted_scalars(x):
    return x * sorted([x[0, 0], x[0, 1]], key=float)[0]  # <-


def sorted_without_a_key(x):
    return x * sorted([x[0, 0], x[0, 1]])[0]  # <-


def dict_of_values(x):
    table = {0: 1.0, 1: 2.0}
    return x * table.get(int(x[0, 0] > 0))  # <-


def numpy_buffer(x):
    buffer = np.zeros((3, 4), np.float32)
    buffer[...] = x  # <-
    return x + om.tensor(buffer)


def list_index(x):
    table = [1.0, 2.0, 3.0]
    return x * table[(x[0, 0] > 0).long()]  # <-


def rounded(x):
    return x * round(x.mean())  # <-


def where_instead(x):
    return om.where(x.sum() > 0, x * 2, x - 10)


def identity_as_key(x):
    y = x * 2
    scales = {x: 3.0, y: 5.0}
    return x * scales[x] + (y if y in {x, y} else x)


def no_value_needed(x, mask=None):
    if x is None or mask is not None:
        return x
    if isinstance(x, om.Tensor) and x.ndim == 2 and x.dtype == om.float32:
        return x / x.shape[1]
    return x


def pickled(x):
    return pickle.loads(pickle.dumps(x))  # <-


def deep_copied(x):
    return copy.deepcopy(x)  # <-


def saved_by_numpy(x):
    np.save(io.BytesIO(), x)  # <-
    return x


def dlpack(x):
    return om.tensor(np.from_dlpack(x))  # <-


def array_interface(x):
    return x + len(x.__array_interface__)  # <-


def truth_of_nan(x):
    if (x != x).any():  # <-
        return om.zeros(4) * x
    return x


def or_default(x):
    return (x or om.ones(4)) * 2  # <-


def negated(x):
    if not x.sum():  # <-
        return x
    return x * 2


def row_by_a_traced_index(x, i):
    return x[i] * 2
