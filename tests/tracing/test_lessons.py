"""Every lesson: the failing program raises its code at its line, the mended one is right."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import onemodel as om
from onemodel import nn
from onemodel.codes import CODES
from onemodel.lessons import LESSONS, Lesson

# What cannot be shown in a few lines: 2 GiB, layouts and rules that other tests build by hand.
WITHOUT_LESSON = {"OM406", "OM407", "OM408", "OM605", "OM609"}


def example() -> np.ndarray:
    return (np.arange(12, dtype=np.float32).reshape(3, 4) % 5) / 2


def run(program: str, name: str) -> dict[str, Any]:
    linecache.cache[name] = (len(program), None, program.splitlines(keepends=True), name)
    space: dict[str, Any] = {"om": om, "nn": nn, "np": np, "x": om.tensor(example())}
    try:
        exec(compile(program, name, "exec"), space)
    finally:
        om.Tracer.reset()
    return space


@pytest.mark.parametrize("lesson", LESSONS.values(), ids=LESSONS)
def test_the_failing_program_raises_its_code_at_the_marked_line(lesson: Lesson):
    name = f"<lesson {lesson.code.id}>"
    with pytest.raises(om.TraceException) as caught:
        run(lesson.failing, name)
    error = caught.value
    assert error.code == lesson.code.id
    assert error.call_site is not None
    marked = [n for n, line in enumerate(lesson.failing.splitlines(), 1) if "# <-" in line]
    assert [error.call_site.line] == marked
    assert error.call_site.file == name


@pytest.mark.parametrize(
    "lesson", [x for x in LESSONS.values() if x.mended], ids=lambda x: x.code.id
)
def test_the_mended_program_traces_and_equals_eager_at_two_sizes(lesson: Lesson):
    space = run(lesson.mended, f"<mended {lesson.code.id}>")
    traced: om.TracedModel = space["traced"]
    proto = traced.to_onnx()
    onnx.checker.check_model(proto, full_check=True)
    judge = onnxruntime.InferenceSession(proto.SerializeToString())
    sizes = [dict(traced.symbols)]
    if traced.symbols:
        sizes.append({name: size + 4 for name, size in traced.symbols.items()})
    for chosen in sizes:
        feeds = {}
        for value in traced.inputs:
            shape = tuple(extent.evaluate(chosen) for extent in value.axes)
            feeds[value.name] = np.resize(value.array, shape).astype(value.array.dtype)
        got = judge.run(None, feeds)
        if "model" in space:
            result = space["model"](*(om.tensor(array) for array in feeds.values()))
            if isinstance(result, dict):
                result = tuple(result.values())
            wanted = result if isinstance(result, tuple) else (result,)
            for one, two in zip(got, wanted, strict=True):
                np.testing.assert_allclose(one, two.detach().numpy(), rtol=1e-5, atol=1e-5)


def test_every_code_has_a_lesson_or_a_reason():
    assert set(LESSONS) | WITHOUT_LESSON == set(CODES)
    assert not set(LESSONS) & WITHOUT_LESSON
    for lesson in LESSONS.values():
        assert lesson.mended or lesson.advice
