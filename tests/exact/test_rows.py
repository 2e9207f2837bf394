"""A row of an exact session's result does not depend on the rows beside it."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from onemodel.session.session import Session
from tests.exact import programs

CLASSICAL = [*programs.classical(), *programs.support_vectors()]
MODELS = [p for p in CLASSICAL if "Quantize" not in p.name]  # scales are the batch's


@pytest.mark.parametrize("program", MODELS, ids=lambda program: program.name)
def test_rows_of_a_classical_model_stand_alone(program: programs.Program) -> None:
    model = onnx.ModelProto.FromString(program.model.SerializeToString())
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "rows"
    session = Session(model, mode="exact")
    x = program.feeds["x0"]
    together = session.run({"x0": x})
    alone = [session.run({"x0": x[i : i + 1]}) for i in range(len(x))]
    for name, array in together.items():
        assert np.concatenate([one[name] for one in alone]).tobytes() == array.tobytes()
