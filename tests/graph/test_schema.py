"""The face of onnx.defs."""

import numpy as np
import onnx
import pytest

from onemodel.graph.dtypes import dtype_of_element, element_name, element_of_dtype
from onemodel.graph.schema import NEWEST_OPSET, UNBOUNDED, schema_for

F32, I64, BOOL = np.dtype(np.float32), np.dtype(np.int64), np.dtype(bool)


def test_the_version_in_force_is_found():
    assert schema_for("Softmax", 12).since_version == 11
    assert schema_for("Softmax", 20).since_version == 13
    assert schema_for("Softmax", 20, "ai.onnx") == schema_for("Softmax", 20)


def test_unknown_and_removed_node_types_have_none():
    assert schema_for("NoSuchNode", 20) is None
    assert schema_for("Gelu", 19) is None
    assert schema_for("Upsample", 10) is None
    assert schema_for("Upsample", 10, deprecated=True).deprecated


def test_arity_and_attributes_are_those_of_the_standard():
    concat = schema_for("Concat", 20)
    assert (concat.min_inputs, concat.max_inputs) == (1, UNBOUNDED)
    assert concat.attributes["axis"].required and concat.attributes["axis"].kind == "i"
    softmax = schema_for("Softmax", 20).attributes["axis"]
    assert softmax.default == -1 and not softmax.required
    assert schema_for("Conv", 20).attributes["auto_pad"].default == "NOTSET"
    assert schema_for("If", 20).attributes["then_branch"].kind == "g"
    assert I64 not in schema_for("Softmax", 20).input_dtypes(0)
    assert concat.input_dtypes(7) == concat.input_dtypes(0)


def test_every_schema_of_onnx_converts():
    for schema in onnx.defs.get_all_schemas_with_history():
        found = schema_for(schema.name, schema.since_version, schema.domain, deprecated=True)
        assert found.since_version == schema.since_version
        assert "" not in {a.kind for a in found.attributes.values()}


@pytest.mark.parametrize(
    ("op_type", "dtypes", "attributes", "expected"),
    [
        ("Cast", [F32], {"to": onnx.TensorProto.FLOAT16}, [np.dtype(np.float16)]),
        ("Constant", [], {"value_ints": [1]}, [I64]),
        ("Constant", [], {"value": np.zeros(1, np.int8)}, [np.dtype(np.int8)]),
        ("Shape", [F32], {}, [I64]),
        ("EyeLike", [I64], {}, [I64]),
        ("EyeLike", [F32], {"dtype": 7}, [I64]),
        ("Dropout", [F32], {}, [F32, BOOL]),
        ("TopK", [F32, I64], {}, [F32, I64]),
        ("ConstantOfShape", [I64], {}, [F32]),
        ("ConstantOfShape", [I64], {"value": np.zeros(1, np.int32)}, [np.dtype(np.int32)]),
        ("QuantizeLinear", [F32, F32, np.dtype(np.int8)], {}, [np.dtype(np.int8)]),
        ("CastLike", [F32, I64], {}, [I64]),
        ("RandomNormal", [], {}, [F32]),
        ("RandomUniformLike", [np.dtype(np.float64)], {}, [np.dtype(np.float64)]),
        ("If", [BOOL], {}, [None]),
        ("Add", [None, F32], {}, [F32]),
        ("Add", [None, None], {}, [None]),
    ],
)
def test_output_dtypes_follow_the_type_variables(op_type, dtypes, attributes, expected):
    assert schema_for(op_type, 22).infer_output_dtypes(dtypes, attributes) == expected


def test_element_types_go_both_ways_with_the_names_of_onnx():
    for name, number in onnx.TensorProto.DataType.items():
        dtype = dtype_of_element(number)
        if number == 0:
            assert dtype is None
            continue
        assert dtype == onnx.helper.tensor_dtype_to_np_dtype(number)
        assert element_of_dtype(dtype) == number
        assert element_name(dtype) == name.lower()
    assert element_of_dtype(np.dtype("<U3")) == onnx.TensorProto.STRING
    with pytest.raises(TypeError, match="timedelta"):
        element_of_dtype(np.dtype("m8[s]"))


def test_the_newest_opset_is_that_of_onnx():
    assert onnx.defs.onnx_opset_version() == NEWEST_OPSET
