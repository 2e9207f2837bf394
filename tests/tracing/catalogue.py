"""The catalogue of the limits of tracing: what users write, and what becomes of it.

One row per scenario: rows with a plain number were measured with other tracers, too
(``limits_peers.csv``, by the row's number); rows with a letter are variants of ours. ``outcome``
is "pass" (the graph is right at every size), a code (refused at the line marked ``# <-``), or
the name of the user's own exception. Tests hold every row to it; the documentation shows them.
"""

from __future__ import annotations

import csv
import inspect
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent

PEERS = {
    "jit": "torch.jit.trace",
    "ox-l": "torch.onnx, TorchScript",
    "ex": "torch.export, Dim",
    "exA": "torch.export, AUTO",
    "exS": "torch.export, strict",
    "ox-d": "torch.onnx, dynamo",
    "jj": "jax.jit",
    "je": "jax.export",
    "tf": "tf.function",
    "mlx": "mlx.compile",
    "tg": "tinygrad TinyJit",
}
"""Columns of the measured table; torch 2.13, shapes declared symbolic where a tool can."""

UNCOUNTED = ("33", "35", "49")
"""Rows in which a peer's difference is no wrong file: side effects and one unit of rounding."""

NOT_COMPARABLE = {"tg": ("15",)}
"""Rows that a tool refuses without any trace as well."""

PASS = "pass"


@dataclass(frozen=True)
class Row:
    """One scenario.

    ``inputs``: per argument its shape (names are symbolic axes) and dtype. ``sizes``: the
    example's sizes of the symbols. ``note``: why the outcome is what it is, where that is not
    plain, or where it differs from what other tracers lead one to expect.
    """

    number: str
    title: str
    program: Callable[..., Any]
    outcome: str
    note: str = ""
    inputs: tuple[tuple[tuple[int | str, ...], str], ...] = ((("batch", 4), "float32"),)
    sizes: Mapping[str, int] = field(default_factory=lambda: {"batch": 3})

    def __str__(self) -> str:
        return f"{self.number}-{self.program.__name__}"

    @property
    def is_script(self) -> bool:
        """Whether the program does the tracing itself."""
        return self.program.__name__.startswith("script_")

    @property
    def peers(self) -> Mapping[str, str]:
        """Outcome by tool; empty for a row of ours."""
        return MEASURED.get(self.number, {})

    @property
    def axes(self) -> list[dict[int, str]]:
        return [{i: n for i, n in enumerate(s) if isinstance(n, str)} for s, _ in self.inputs]

    def model(self) -> Callable[..., Any]:
        """The program as something to call; a class is a model, made anew."""
        return self.program() if inspect.isclass(self.program) else self.program

    def draw(self, sizes: Mapping[str, int], seed: int) -> list[np.ndarray]:
        """Inputs at ``sizes``: normal floats, integers 0 to 2."""
        generator = np.random.default_rng(seed)
        drawn = []
        for shape, dtype in self.inputs:
            numbers = tuple(sizes[n] if isinstance(n, str) else n for n in shape)
            if dtype.startswith("int"):
                drawn.append(generator.integers(0, 3, size=numbers).astype(dtype))
            else:
                drawn.append(np.asarray(generator.normal(size=numbers)).astype(dtype))
        return drawn

    def other_sizes(self) -> list[dict[str, int]]:
        """Two other assignments of the symbols, one smaller, one larger."""
        names = list(self.sizes)
        smaller = {name: size - 1 for name, size in self.sizes.items()}
        return [smaller, {name: 2 * self.sizes[name] + 1 + i for i, name in enumerate(names)}]

    def marked_line(self) -> int | None:
        """The line of its file that a refusal must name."""
        lines, first = inspect.getsourcelines(self.program)
        marked = [first + i for i, line in enumerate(lines) if "# <-" in line]
        assert len(marked) <= 1
        return marked[0] if marked else None

    @property
    def text(self) -> str:
        """The program as it is written."""
        return textwrap.dedent(inspect.getsource(self.program)).rstrip()


def load(name: str) -> ModuleType:
    """A file beside this one, as a module."""
    known = sys.modules.get(name)
    if known is not None:
        return known
    spec = spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _measured() -> dict[str, dict[str, str]]:
    with (HERE / "limits_peers.csv").open(encoding="utf-8", newline="") as file:
        return {row.pop("number"): row for row in csv.DictReader(file)}


MEASURED = _measured()
VALUES, SIZES, STATE = load("limits_values"), load("limits_sizes"), load("limits_state")

_INTEGERS = ((("batch", 4), "int64"),)
_HALVES = ((("batch", 4), "float16"),)
_ROWS = ((("batch", 4), "float32"), ((), "int64"))
_BATCH_TIME = ((("batch", "time", 4), "float32"),)
_IMAGE = (((1, 1, "height", "width"), "float32"),)
_TIME = {"batch": 3, "time": 5}
_AREA = {"height": 3, "width": 5}

_LEN = "Python's len() has to be a plain int; `x.shape[0]` keeps the symbol (see the next row)."
_FUNCTIONAL = "Assignment is always refused; in-place operators on memory nobody shares pass (31b)."

ROWS: Sequence[Row] = (
    # --- values ---
    Row("01", "if x.sum() > 0", VALUES.branch, "OM101"),
    Row("02", "float(x.mean())", VALUES.float_of_mean, "OM102"),
    Row("03", "int(x.max()) as a size", VALUES.size_from_value, "OM103"),
    Row("04", "x.max().item()", VALUES.item, "OM104"),
    Row("05", "x.tolist()", VALUES.to_list, "OM105"),
    Row("06", "through NumPy and back", VALUES.numpy_round_trip, "OM107"),
    Row("06b", "NumPy function of an operator's meaning", VALUES.numpy_function_of_same_meaning,
        PASS, "np.exp, np.sqrt, np.abs ... of a traced tensor are recorded as our operators."),
    Row("07", "np.linalg.norm(x)", VALUES.numpy_linalg, "OM107",
        "The message names `numpy.linalg.norm()` besides the user's line."),
    Row("08", "print and f-string of x", VALUES.printed, PASS,
        "Shows dtype, axes and name, never values."),
    Row("09", "a formatted number read back", VALUES.text_read_back, "OM108"),
    Row("10", "max(a, b) of Python", VALUES.python_max, "OM101"),
    Row("11", "0 < s < 100", VALUES.chained_comparison, "OM101"),
    Row("12", "s in [1.0, 2.0]", VALUES.membership, "OM101"),
    Row("13", "while x.sum() > 1", VALUES.loop_on_values, "OM101"),
    Row("14", "assert on values", VALUES.assertion, "OM101"),
    Row("15", "try/except around the refusal", VALUES.swallowed_refusal, "OM101",
        "A run that was refused anywhere has no graph; the message names the `except`, too."),
    Row("15b", "the same in a helper", VALUES.swallowed_in_a_helper, "OM102"),
    Row("15c", "contextlib.suppress", VALUES.suppressed_refusal, "OM102"),
    Row("16", "x[x > 0]", VALUES.boolean_mask, "OM110"),
    Row("17", "nonzero", VALUES.nonzero, "OM111",
        "ONNX has NonZero; the new axis it opens is refused by design."),
    Row("18", "unique", VALUES.unique, "OM112"),
    # --- sizes ---
    Row("19", "x / len(x)", SIZES.divide_by_length, "OM401", _LEN),
    Row("19b", "x / x.shape[0]", SIZES.divide_by_size, PASS),
    Row("20", "for row in x", SIZES.loop_over_rows, "OM402"),
    Row("20b", "for column in x.T (static)", SIZES.loop_over_columns, PASS),
    Row("21", "arange(x.shape[0])", SIZES.positions, PASS),
    Row("22", "reshape(b * t, d)", SIZES.reshape_by_a_product, PASS, "", _BATCH_TIME, _TIME),
    Row("23", "x[: b // 2]", SIZES.first_half, PASS),
    Row("23b", "table[: x.shape[0]] added to x", SIZES.part_of_a_table, PASS,
        "Beyond the table neither the model nor the graph runs."),
    Row("23c", "table[: x.shape[0]].shape[0]", SIZES.size_of_a_part_of_a_table, "OM401",
        "Beyond the table Python gives the rows there are; the repeat tries it."),
    Row("23d", "table[: x.shape[0]].mean(0)", SIZES.mean_of_a_part_of_a_table, "OM401",
        "The file would declare as many rows as x has, where there are no more than the table's."),
    Row("24", "if x.shape[0] > 3", SIZES.branch_on_size, "OM405",
        "The repeat tries a size on the other side of the comparison."),
    Row("24b", "if x.shape[0] > 0", SIZES.branch_on_any_size, PASS,
        "No size decides otherwise, so nothing is specialised."),
    Row("24c", "if x.shape[0] == 1, harmless", SIZES.branch_that_says_the_same, PASS,
        "Where the graph gives the same on either side, the branch is no fault."),
    Row("24d", "if x.shape[0] == 1, with an effect", SIZES.branch_on_size_one, "OM405",
        "No trace can begin at size 1, but the model's results can be compared there."),
    Row("24e", "a branch that only other sizes come to", SIZES.branch_behind_a_branch, "OM405",
        "Comparisons that a repeat meets for the first time are flipped in their turn."),
    Row("25", "math.sqrt(x.shape[0])", SIZES.square_root_of_size, "OM401"),
    Row("25b", "the same in tensors", SIZES.square_root_in_the_graph, PASS),
    Row("26", "int(str(x.shape[0]))", SIZES.size_as_text, "OM401"),
    Row("27", "np.int64(x.shape[0])", SIZES.size_as_numpy_integer, "OM401"),
    Row("27b", "np.array(x.shape)", SIZES.sizes_as_an_array, "OM401"),
    Row("28", "example of batch 1", STATE.script_size_of_one, "OM505"),
    Row("29", "x.reshape(2, -1) at batch 2", SIZES.two_of_its_own, "OM407",
        "[2, 2b] and [b, 4] both fit the example; neither is guessed.", sizes={"batch": 2}),
    Row("30", "zeros(x.shape[0], 4)", SIZES.initial_state, PASS),
    Row("30b", "the same by NumPy", SIZES.initial_state_from_numpy, "OM403"),
    # --- writes and state ---
    Row("31", "y = x.clone(); y[0] = 0", STATE.clone_and_assign, "OM201", _FUNCTIONAL),
    Row("31b", "y += 1; y.relu_() on a result", STATE.add_to_an_intermediate, PASS,
        "Recorded in the functional form: nobody else sees the memory."),
    Row("32", "row = y[0]; row += 1", STATE.write_through_a_view, "OM202"),
    Row("33", "x += 1 on the input", STATE.add_to_the_input, "OM204",
        "The caller's tensor would change; a file cannot do that."),
    Row("34", "constant changed after its use", STATE.ConstantChanged, "OM203"),
    Row("34b", "constant changed before its use", STATE.ConstantChangedBeforeUse, "OM203"),
    Row("35", "constant changed after the trace", STATE.script_constant_changed_later, PASS,
        "Constants are copies of the moment of their first use."),
    Row("36", "counter in the module", STATE.Counter, "OM520"),
    Row("37", "cache filled from x", STATE.CacheOfValues, "OM502"),
    Row("38", "no_grad inside", STATE.no_grad_block, "OM301"),
    Row("39", "dropout in training", STATE.DropoutInTraining, "OM601"),
    Row("39b", "dropout and BatchNorm in eval", STATE.InInference, PASS),
    Row("40", "BatchNorm in training", STATE.BatchNormInTraining, "OM602"),
    Row("41", "np.random noise", STATE.numpy_noise, "OM520"),
    Row("41b", "noise of a global generator", STATE.numpy_global_noise, "OM520"),
    Row("41c", "random.random()", STATE.python_noise, "OM520"),
    Row("42", "rand of the library", STATE.own_noise, "OM603"),
    Row("43", "time.time()", STATE.clock, "OM520",
        "For the repeat the clock is set on, and numbers are compared before they are rounded: "
        "two readings are one float32."),
    Row("43b", "int(time.time())", STATE.clock_in_whole_seconds, "OM520"),
    Row("43c", "from time import time", STATE.clock_imported_by_name, "OM520"),
    Row("44", "output ignores the input", STATE.script_constant_output, "OM504"),
    Row("44b", "one of two outputs does", STATE.script_constant_beside, "OM504"),
    Row("45", "a thread does the work", STATE.thread_pool, "OM503"),
    Row("45b", "and swallows the refusal", STATE.thread_that_swallows, "OM503"),
    Row("46", "tensor(x.shape[0])", SIZES.size_as_a_tensor, PASS),
    Row("47", "recursion on a value", VALUES.recursion_on_a_value, "OM101"),
    Row("48", "y.data[0] = 5", VALUES.write_to_data, "OM106"),
    Row("49", "float16 and Python floats", VALUES.half_precision_and_a_python_float, PASS, "",
        _HALVES),
    Row("50", "integers * 0.5", VALUES.integers_times_a_half, PASS, "", _INTEGERS),
    Row("51", "sorted(scalars, key=float)", VALUES.sorted_scalars, "OM102"),
    Row("51b", "sorted(scalars)", VALUES.sorted_without_a_key, "OM101"),
    Row("52", "dict keyed by int(x)", VALUES.dict_of_values, "OM103"),
    Row("53", "size-keyed cache, warmed before", SIZES.SizeKeyedCache, "OM403"),
    Row("53b", "size kept from the first run", SIZES.SizeKept, "OM502"),
    Row("54", "forward hook changes the output", STATE.Hooked, PASS),
    Row("55", "generator of layers", STATE.GeneratorOfLayers, PASS),
    Row("56", "tensor kept in a global list", STATE.script_stale_tensor, "OM502"),
    Row("57", "trace inside a trace", STATE.trace_inside_a_trace, "OM501"),
    Row("58", "[row] * x.shape[0]", SIZES.list_repeated_by_a_size, "OM402",
        "A Python list has the example's length; `expand` follows the symbol (58b)."),
    Row("58b", "row.expand(x.shape[0], 4)", SIZES.expanded_by_a_size, PASS),
    Row("59", "x.T.reshape(4, 3) at batch 3", SIZES.three_of_its_own, "OM406",
        "The model itself runs at no other size, so the axis is not symbolic."),
    Row("60", "stored in a NumPy buffer", VALUES.numpy_buffer, "OM107"),
    Row("61", "list[x] by __index__", VALUES.list_index, "OM103"),
    Row("61b", "round(x.mean())", VALUES.rounded, "OM102"),
    Row("62", "where instead of the branch", VALUES.where_instead, PASS),
    # --- not measured elsewhere ---
    Row("63", "tensor as a key, in a set", VALUES.identity_as_key, PASS, "Hashed by identity."),
    Row("64", "x is None, ndim, dtype, isinstance", VALUES.no_value_needed, PASS),
    Row("65", "pickle", VALUES.pickled, "OM109"),
    Row("65b", "copy.deepcopy", VALUES.deep_copied, "OM109"),
    Row("65c", "np.save", VALUES.saved_by_numpy, "OM107"),
    Row("66", "DLPack", VALUES.dlpack, "OM107"),
    Row("66b", "__array_interface__", VALUES.array_interface, "OM107"),
    Row("67", "two symbols of one size", STATE.script_two_symbols_of_one_size, "OM506"),
    Row("68", "static extent equal to a symbol", SIZES.equal_extents, "OM407",
        "No literal is in sight: the 3 is the width of the example.", ((("batch", 3), "float32"),)),
    Row("68b", "x.reshape(15, 4)", SIZES.fifteen_of_its_own, "OM406", "", _BATCH_TIME, _TIME),
    Row("69", "a size of 1 broadcasts", SIZES.broadcast_one, PASS),
    Row("70", "constant of the batch's size", SIZES.constant_of_the_batch_size, "OM403"),
    Row("71", "an input name twice", STATE.script_name_used_twice, "OM507"),
    Row("71b", "an output named like an input", STATE.script_output_name_of_an_input, "OM507"),
    Row("72", "finish twice", STATE.script_finish_twice, "OM509"),
    Row("72b", "input declared after an operator", STATE.script_input_after_an_operator, PASS,
        "The order of declaration is the order of the graph's inputs; nothing else depends on it."),
    Row("72c", "values read after finish", STATE.script_read_after_finish, PASS),
    Row("73", "constant over 2 GiB", STATE.HugeConstant, "OM605"),
    Row("74", "a training loss", STATE.loss, "OM607"),
    Row("74b", "constant in blocked layout", STATE.BlockedKernel, "OM606"),
    Row("74c", "the same, made plain", STATE.BlockedKernelMadePlain, PASS),
    Row("75", "resize to a fixed size", SIZES.resized, "OM408", "", _IMAGE, _AREA),
    Row("75b", "resize by a factor", SIZES.resized_by_a_factor, PASS, "", _IMAGE, _AREA),
    Row("76", "if (x != x).any()", VALUES.truth_of_nan, "OM101"),
    Row("77", "x or default", VALUES.or_default, "OM101"),
    Row("77b", "not x.sum()", VALUES.negated, "OM101"),
    Row("78", "enumerate(x)", SIZES.enumerated, "OM402"),
    Row("78b", "zip(x, y)", SIZES.zipped, "OM402"),
    Row("78c", "[*x]", SIZES.starred, "OM402"),
    Row("78d", "a, b, c = x", SIZES.unpacked, "OM402"),
    Row("78e", "a, b, c, d = x.T (static)", SIZES.unpacked_columns, PASS),
    Row("79", "x[i] with a traced i", VALUES.row_by_a_traced_index, PASS, "", _ROWS, {"batch": 4}),
    Row("80", "weight set to a traced tensor", STATE.WeightSetToATracedTensor, PASS),
    Row("80b", "and read in another trace", STATE.script_weight_kept_and_used, "OM502"),
    Row("81", "tensors of two tracers mixed", STATE.script_two_tracers_mixed, "OM502"),
    Row("82", "generator resumed after finish", STATE.script_generator_after_finish, PASS,
        "After finish operators are eager; their results are constants like any other."),
    Row("82b", "async task ended after finish", STATE.script_task_after_finish, PASS,
        "As the row before."),
    Row("83", "exception of the user's", STATE.users_error, "KeyError"),
    Row("83b", "and a refusal before it", STATE.users_error_after_a_refusal, "AttributeError",
        "The refusal is the exception's context."),
    Row("84", "interrupted, then traced again", STATE.script_interrupted, "OM501",
        "The message names where the interrupted trace began and offers `Tracer.reset()`."),
    Row("84b", "and reset", STATE.script_interrupted_and_reset, PASS),
    Row("85", "no_grad opened before", STATE.script_no_grad_before, "OM302"),
)  # fmt: skip
"""All rows, in order."""


def counts(tool: str) -> dict[str, int]:
    """Outcomes of one tool over the measured rows that count."""
    found: dict[str, int] = {}
    for number, row in MEASURED.items():
        if number not in (*UNCOUNTED, *NOT_COMPARABLE.get(tool, ())) and row[tool] != ".":
            found[row[tool]] = found.get(row[tool], 0) + 1
    return found
