"""One node as a model, run by ONNX Runtime, by the reference evaluator, and by a session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import helper
from onnx.reference import ReferenceEvaluator

from onemodel.session.session import Session
from tests.old_forms.forms import Form, Schema

onnxruntime.set_default_logger_severity(4)

NEWEST = 28
"""The opset up to which versions are counted."""


class NoKernelError(Exception):
    """ONNX Runtime does not run this node at this opset."""


def history() -> dict[str, list[Schema]]:
    """Every version up to :data:`NEWEST` of every standard operator that has more than one."""
    table: dict[str, list[Schema]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if not schema.domain and schema.since_version <= NEWEST:
            table.setdefault(schema.name, []).append(schema)
    changed = {name: versions for name, versions in table.items() if len(versions) > 1}
    return {n: sorted(v, key=lambda s: s.since_version) for n, v in sorted(changed.items())}


def opsets(name: str, since: int) -> tuple[int, ...]:
    """The opsets at which version ``since`` is in force, those of the widest support first."""
    later = [s.since_version for s in history()[name] if s.since_version > since]
    found = range(since, min(later, default=NEWEST + 1))
    return tuple(sorted(found, key=lambda opset: (not 7 <= opset <= 22, opset > 22, -opset)))


def model(name: str, opset: int, form: Form) -> onnx.ModelProto:
    """The model of one node."""
    names = ["" if array is None else f"i{k}" for k, array in enumerate(form.inputs)]
    results = [f"o{k}" for k in range(form.outputs)]
    node = helper.make_node(name, names, results, **form.attributes)
    declared = [
        helper.make_tensor_value_info(
            label, helper.np_dtype_to_tensor_dtype(np.dtype(array.dtype)), array.shape
        )
        for label, array in zip(names, form.inputs, strict=True)
        if array is not None
    ]
    outputs = [helper.make_empty_tensor_value_info(result) for result in results]
    graph = helper.make_graph([node], "node", declared, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def feeds(form: Form) -> dict[str, Any]:
    """The inputs by name."""
    return {f"i{k}": array for k, array in enumerate(form.inputs) if array is not None}


def by_onnxruntime(proto: onnx.ModelProto, form: Form) -> list[Any]:
    """What ONNX Runtime gives without optimisations; NoKernelError where it cannot."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(
            proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        return session.run(None, feeds(form))
    except Exception as error:  # its classes share no base
        raise NoKernelError(str(error)) from None


def by_reference(proto: onnx.ModelProto, form: Form) -> list[Any]:
    """What onnx's own evaluator gives."""
    return ReferenceEvaluator(proto).run(None, feeds(form))


def by_session(proto: onnx.ModelProto, form: Form) -> list[Any]:
    """What our session gives."""
    return list(Session(proto).run(feeds(form)).values())


def assert_same(found: Sequence[Any], wanted: Sequence[Any], form: Form, label: str) -> None:
    """Equal shapes and dtypes, and values within the form's tolerance of the largest one."""
    for got, want in zip(found, wanted, strict=False):
        if isinstance(want, list):
            assert_same(got, want, form, label)
            continue
        got, want = np.asarray(got), np.asarray(want)
        if want.dtype == np.uint8 and got.dtype.name.startswith("float8"):
            got = got.view(np.uint8)  # ONNX Runtime hands float8 out as codes
        assert got.shape == want.shape, f"{label}: {got.shape} for {want.shape}"
        assert got.dtype.kind == want.dtype.kind, f"{label}: {got.dtype} for {want.dtype}"
        if form.random:
            continue
        if want.dtype.kind in "OSUb":
            np.testing.assert_array_equal(got, want, err_msg=label)
            continue
        left, right = got.astype(np.float64), want.astype(np.float64)
        finite = right[np.isfinite(right)]
        scale = max(1.0, float(np.abs(finite).max(initial=0)))
        np.testing.assert_allclose(left, right, rtol=0, atol=form.tolerance * scale, err_msg=label)
