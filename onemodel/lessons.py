"""One lesson per code: the smallest program that is refused, and a rewrite that is not.

Both are run by the tests: the first must raise exactly its code at the line marked ``# <-``,
the second must trace, and its graph must equal eager at the example and at another size. The
documentation, the gallery and the lesson notebooks show these very texts.

The programs find ``om``, ``nn``, ``np`` and an example ``x``, float32 of shape [3, 4]. They end
in a call of ``om.trace`` (or a block with a tracer) that leaves ``traced``.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from onemodel.codes import CODES, Code

BATCH = 'axes={"x": {0: "batch"}}'


@dataclass(frozen=True)
class Lesson:
    """``failing`` is refused with ``code``; ``mended`` says the same in a way that traces.

    ``mended`` is empty where nothing in the program can be kept (two traces at once, say), and
    ``advice`` then says what to do.
    """

    code: Code
    failing: str
    mended: str = ""
    advice: str = ""


def _lesson(code: str, failing: str, mended: str = "", advice: str = "") -> tuple[str, Lesson]:
    return code, Lesson(
        CODES[code], textwrap.dedent(failing).strip(), textwrap.dedent(mended).strip(), advice
    )


def _function(body: str, call: str = f"om.trace(model, x, {BATCH})", before: str = "") -> str:
    head = textwrap.dedent(before).strip()
    inner = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return (f"{head}\n\n" if head else "") + f"def model(x):\n{inner}\n\ntraced = {call}"


_STATIC = "om.trace(model, x)"

LESSONS: dict[str, Lesson] = dict(
    [
        _lesson(
            "OM101",
            _function("""
                if x.sum() > 0:  # <-
                    return x * 2
                return x - 10
            """),
            _function("return om.where(x.sum() > 0, x * 2, x - 10)"),
        ),
        _lesson(
            "OM102",
            _function("return x * float(x.mean())  # <-"),
            _function("return x * x.mean()"),
        ),
        _lesson(
            "OM103",
            _function(
                "return x * table[int(x[0, 0])]  # <-",
                before="table = [1.0, 2.0, 3.0]",
            ),
            _function(
                "return x * table[x[0, 0].long()]",
                before="table = om.tensor([1.0, 2.0, 3.0])",
            ),
        ),
        _lesson(
            "OM104",
            _function("return x / x.max().item()  # <-"),
            _function("return x / x.max()"),
        ),
        _lesson(
            "OM105",
            _function("return x * sum(x.sum(0).tolist())  # <-"),
            _function("return x * x.sum(0).sum()"),
        ),
        _lesson(
            "OM106",
            _function("return x.data + 5  # <-"),
            _function("return x + 5"),
        ),
        _lesson(
            "OM107",
            _function("return om.tensor(np.cumsum(x, 1))  # <-"),
            _function("return om.cumsum(x, 1)"),
        ),
        _lesson(
            "OM108",
            _function("""
                print("mean", format(x.mean(), ".3f"))  # <-
                return x * 2
            """),
            _function("""
                print(f"mean {x.mean()}")
                return x * 2
            """),
        ),
        _lesson(
            "OM109",
            _function("return x + copy.deepcopy(x)  # <-", before="import copy"),
            _function("return x + x.clone()"),
        ),
        _lesson(
            "OM110",
            _function("return x[x > 0].sum()  # <-"),
            _function("return om.where(x > 0, x, 0.0).sum()"),
        ),
        _lesson(
            "OM111",
            _function("return om.nonzero(x - 1).sum() + x  # <-"),
            _function("return (x - 1 != 0).sum() + x"),
        ),
        _lesson(
            "OM112",
            _function("return x * om.masked_select(x, x > 1).mean()  # <-"),
            _function("""
                mask = (x > 1).float()
                return x * (x * mask).sum() / mask.sum().clamp(min=1)
            """),
        ),
        _lesson(
            "OM120",
            _function(
                """
                    cache["scale"] = peek(x)
                    return x * cache["scale"]  # <-
                """,
                before="""
                    cache = {}

                    def peek(tensor):  # an extension that looks at the memory behind our back
                        return float(tensor.array.max())
                """,
            ),
            _function("return x * x.max()"),
        ),
        _lesson(
            "OM201",
            _function("""
                y = x * 2
                y[0] = 0  # <-
                return y
            """),
            _function("""
                y = x * 2
                return om.cat([om.zeros(1, 4), y[1:]])
            """),
        ),
        _lesson(
            "OM202",
            _function("""
                row = x[0]
                row += 1  # <-
                return x
            """),
            _function("return om.cat([x[:1] + 1, x[1:]])"),
        ),
        _lesson(
            "OM203",
            _function(
                """
                    y = x * scale
                    scale.copy_from(scale * 2)  # <-
                    return y * scale
                """,
                before="scale = om.ones(4)",
            ),
            _function(
                """
                    y = x * scale
                    doubled = scale * 2
                    return y * doubled
                """,
                before="scale = om.ones(4)",
            ),
        ),
        _lesson(
            "OM204",
            _function("""
                x += 1  # <-
                return x
            """),
            _function("""
                x = x + 1
                return x
            """),
        ),
        _lesson(
            "OM301",
            _function("""
                with om.no_grad():  # <-
                    return x * 2
            """),
            _function("return x * 2"),
        ),
        _lesson(
            "OM302",
            """
                def model(x):
                    return x * 2

                with om.no_grad():
                    traced = om.trace(model, x)  # <-
            """,
            _function("return x * 2"),
        ),
        _lesson(
            "OM401",
            _function("return x.sum(0) / len(x)  # <-"),
            _function("return x.sum(0) / x.shape[0]"),
        ),
        _lesson(
            "OM402",
            _function("""
                total = om.zeros(4)
                for row in x:  # <-
                    total = total + row * row
                return total
            """),
            _function("return (x * x).sum(0)"),
        ),
        _lesson(
            "OM403",
            _function("return x + positions  # <-", before="positions = om.ones(3, 4)"),
            _function("return x + positions[: x.shape[0]]", before="positions = om.ones(32, 4)"),
        ),
        _lesson(
            "OM404",
            _function("return x[: x.shape[0] - 5 + 3]  # <-"),
            _function("return x[:-2]"),
        ),
        _lesson(
            "OM405",
            _function("""
                if x.shape[0] > 8:  # <-
                    return x.mean(0)
                return x.sum(0)
            """),
            advice="Declare the axis static, or make two models and choose between them outside.",
        ),
        _lesson(
            "OM501",
            _function(
                "return om.trace(inner, om.ones(2))  # <-",
                before="def inner(y):\n    return y * 2",
            ),
            _function("return inner(x)", before="def inner(y):\n    return y * 2"),
        ),
        _lesson(
            "OM502",
            """
                kept = []

                def model(x):
                    if kept:
                        return x + kept[0]  # <-
                    kept.append(x * 2)
                    return kept[0]

                traced = om.trace(model, x)
            """,
            _function("return x + x * 2"),
        ),
        _lesson(
            "OM503",
            """
                from concurrent.futures import ThreadPoolExecutor

                def model(x):
                    with ThreadPoolExecutor() as pool:
                        return pool.submit(lambda: x * 2).result()  # <-

                traced = om.trace(model, x)
            """,
            _function("return x * 2"),
        ),
        _lesson(
            "OM504",
            """
                def model(x):
                    return om.ones(3)

                traced = om.trace(model, x)  # <-
            """,
            _function("return om.ones(4) + 0 * x"),
        ),
        _lesson(
            "OM505",
            """
                def model(x):
                    return x * 2

                traced = om.trace(model, x[:1], axes={"x": {0: "batch"}})  # <-
            """,
            _function("return x * 2"),
        ),
        _lesson(
            "OM506",
            """
                def model(x):
                    return x * 2

                traced = om.trace(model, x[:, :3], axes={"x": ("batch", "width")})  # <-
            """,
            _function("return x * 2", call='om.trace(model, x, axes={"x": ("batch", "width")})'),
        ),
        _lesson(
            "OM507",
            """
                with om.Tracer.begin() as tracer:
                    first = tracer.input("x", x)
                    second = tracer.input("x", x)  # <-
                    traced = tracer.finish({"y": first + second})
            """,
            """
                with om.Tracer.begin() as tracer:
                    first = tracer.input("x", x)
                    second = tracer.input("x2", x)
                    traced = tracer.finish({"y": first + second})
            """,
        ),
        _lesson(
            "OM508",
            """
                def model(x):
                    return x * 2

                traced = om.trace(model, x, axes={"x": {7: "batch"}})  # <-
            """,
            _function("return x * 2"),
        ),
        _lesson(
            "OM509",
            """
                with om.Tracer.begin() as tracer:
                    y = tracer.input("x", x) * 2
                    traced = tracer.finish({"y": y})
                    tracer.finish({"z": y})  # <-
            """,
            """
                with om.Tracer.begin() as tracer:
                    y = tracer.input("x", x) * 2
                    traced = tracer.finish({"y": y, "z": y})
            """,
        ),
        _lesson(
            "OM510",
            """
                def model(x):
                    return x * 2

                traced = om.trace(model, x, opset=6)  # <-
            """,
            _function("return x * 2", call=f"om.trace(model, x, opset=7, {BATCH})"),
        ),
        _lesson(
            "OM511",
            """
                def model(x):
                    return {"y": x * 2, "rows": x.shape[0]}

                traced = om.trace(model, x, axes={"x": {0: "batch"}})  # <-
            """,
            _function('return {"y": x * 2, "rows": om.scalar_tensor(x.shape[0])}'),
        ),
        _lesson(
            "OM520",
            _function(
                """
                    steps.append(1)
                    return x * len(steps)  # <-
                """,
                before="steps = []",
            ),
            """
                def model(x, step):
                    return x * step

                traced = om.trace(model, x, om.tensor(1.0), axes={"x": {0: "batch"}})
            """,
        ),
        _lesson(
            "OM600",
            _function(
                "return om.cumsum(x, 0)  # <-", call=f"om.trace(model, x, opset=10, {BATCH})"
            ),
            _function("return om.cumsum(x, 0)", call=f"om.trace(model, x, opset=11, {BATCH})"),
        ),
        _lesson(
            "OM601",
            _function("return drop(x) * 2  # <-", before="drop = nn.Dropout(0.5)"),
            _function("return drop(x) * 2", before="drop = nn.Dropout(0.5).eval()"),
        ),
        _lesson(
            "OM602",
            _function("return norm(x)  # <-", before="norm = nn.BatchNorm1d(4)"),
            _function("return norm(x)", before="norm = nn.BatchNorm1d(4).eval()"),
        ),
        _lesson(
            "OM603",
            _function("return x + om.rand(4)  # <-"),
            """
                def model(x, noise):
                    return x + noise

                traced = om.trace(model, x, om.rand(4), axes={"x": {0: "batch"}})
            """,
        ),
        _lesson(
            "OM606",
            """
                kernel = om.ones(2, 1, 3, 3).to_blocked(8)

                def model(x):
                    return nn.functional.conv2d(x[None, None], kernel)  # <-

                traced = om.trace(model, x)
            """,
            """
                kernel = om.ones(2, 1, 3, 3).to_blocked(8)

                def model(x):
                    return nn.functional.conv2d(x[None, None], kernel.to_plain())

                traced = om.trace(model, x)
            """,
        ),
        _lesson(
            "OM607",
            _function("return om.cross_entropy(x, om.tensor([0, 1, 2]))  # <-", call=_STATIC),
            _function("return om.log_softmax(x, -1)"),
        ),
        _lesson(
            "OM608",
            """
                overrides = om.Overrides()

                @overrides.onnx_symbolic("om::relu", opset=20)
                def wrong(g, input):
                    return g.op("Relu", input, steepness=2)

                def model(x):
                    return om.relu(x)  # <-

                traced = om.trace(model, x, overrides=overrides)
            """,
            """
                overrides = om.Overrides()

                @overrides.onnx_symbolic("om::relu", opset=20)
                def right(g, input):
                    return g.op("Max", input, g.like(0, input))

                def model(x):
                    return om.relu(x)

                traced = om.trace(model, x, axes={"x": {0: "batch"}}, overrides=overrides)
            """,
        ),
    ]
)
"""Lessons by code, in the order of the registry."""
