"""One entry per stable code: what it means, why a recorded run cannot follow it, what to write.

Codes are never reused. Tests, documentation and the gallery read this table; a refusal that has
nothing more exact to say takes its rewrites from here. Imports only ``errors``.
"""

from __future__ import annotations

from dataclasses import dataclass

from onemodel.errors import Rewrite, TraceErrorKind

_DD = TraceErrorKind.DATA_DEPENDENT
_IPM = TraceErrorKind.IN_PLACE_MUTATION
_NG = TraceErrorKind.NO_GRAD_IN_TRACE
_SS = TraceErrorKind.SYMBOLIC_SHAPE
_IU = TraceErrorKind.INVALID_USAGE
_UO = TraceErrorKind.UNSUPPORTED_OPERATION


@dataclass(frozen=True)
class Code:
    """``title`` without data, ``why`` in at most two sentences, ``rewrites`` that work."""

    id: str
    kind: TraceErrorKind
    title: str
    why: str
    rewrites: tuple[Rewrite, ...] = ()


def _code(
    id: str, kind: TraceErrorKind, title: str, why: str, *rewrites: tuple[str, str]
) -> tuple[str, Code]:
    return id, Code(id, kind, title, why, tuple(Rewrite(t, c) for t, c in rewrites))


CODES: dict[str, Code] = dict(
    [
        _code(
            "OM101", _DD, "a truth value is taken from a traced tensor",
            "The graph runs on inputs that do not exist yet, so it cannot know which way a branch "
            "goes; the recorded run would keep only the example's way.",
            ("choose element by element", "y = om.where(condition, a, b)"),
            ("decide outside the model and pass a Python flag", "model(x, use_a=True)"),
        ),
        _code(
            "OM102", _DD, "a traced tensor is read as a Python float",
            "The number is the example's; the graph would multiply by it for ever.",
            ("a 0-d tensor takes part in arithmetic as it is", "y = x * x.mean()"),
        ),
        _code(
            "OM103", _DD, "a traced tensor is read as a Python integer",
            "The number is the example's; sizes and indices made of it would be frozen.",
            ("look a value up inside the graph", "y = om.index_select(table, 0, i)"),
            ("take a size from an axis, not from a value", "n = x.shape[0]"),
        ),
        _code(
            "OM104", _DD, "one value is read out of a traced tensor",
            "What leaves the graph as a Python number comes back as a constant of the example.",
            ("use the 0-d tensor itself", "y = x * x.max()"),
        ),
        _code(
            "OM105", _DD, "the values of a traced tensor are read out",
            "What leaves the graph as Python numbers comes back as constants of the example.",
            ("stay in tensors", "y = x.sum(0)"),
            ("return it as an output and read it after the run", 'tracer.finish({"y": y, "h": h})'),
        ),
        _code(
            "OM106", _DD, "the memory of a traced tensor is taken",
            "Through .data or .storage values leave and enter unseen.",
            ("use the tensor itself; nothing keeps gradients in a trace", "y = x + 5"),
        ),
        _code(
            "OM107", _DD, "a traced tensor is handed to NumPy or another library",
            "What another library computes is not recorded; its result would be the example's.",
            ("use the operator of the same meaning", "y = om.cumsum(x, 0)"),
        ),
        _code(
            "OM108", _DD, "a traced tensor is formatted as a number",
            "The text would hold the example's value.",
            ("print the tensor itself: shape, dtype and name", 'print(f"{x}")'),
        ),
        _code(
            "OM109", _DD, "a traced tensor is copied or pickled by value",
            "A copy of the values would be a constant of the example.",
            ("copy inside the graph", "y = x.clone()"),
        ),
        _code(
            "OM110", _DD, "a mask selects elements of a traced tensor",
            "How many elements are selected depends on values, so the result has no shape.",
            ("keep the shape and neutralise the rest", "y = om.where(mask, x, 0.0).sum()"),
        ),
        _code(
            "OM111", _DD, "the size of nonzero depends on values",
            "How many elements are found depends on values, so the result has no shape.",
            ("keep the mask", "y = om.where(x != 0, x, 0.0)"),
        ),
        _code(
            "OM112", _DD, "the size of the result depends on values",
            "How many elements are found depends on values, so the result has no shape.",
            ("keep the shape and neutralise the rest", "y = om.where(mask, x, 0.0)"),
        ),
        _code(
            "OM120", _DD, "a constant of the graph follows the values of an input",
            "The repeated run with other values captured another constant: a value left the graph "
            "and came back unseen.",
            ("keep the computation in tensors", "y = x * x.mean()"),
        ),
        _code(
            "OM201", _IPM, "a traced tensor is written in place",
            "A graph has values, not memory: whoever read the tensor before or after would "
            "see the same value.",
            ("build a new tensor", "y = om.where(mask, new, x)"),
            ("put parts together", "y = om.cat([new, x[1:]])"),
        ),
        _code(
            "OM202", _IPM, "a traced tensor is written through a view",
            "The write would have to reach every tensor that shares the memory.",
            ("build a new tensor out of place", "y = om.cat([x[:1] + 1, x[1:]])"),
        ),
        _code(
            "OM203", _IPM, "a captured constant changed during the trace",
            "The graph holds one copy of it, taken when it was first used.",
            ("compute the new value out of place", "scale = self.scale + 1"),
            ("pass what changes as an input", "model(x, step)"),
        ),
        _code(
            "OM204", _IPM, "an in-place operator on a traced tensor",
            "The caller's tensor, or a view of it, would change with it.",
            ("write it out of place", "x = x + 1"),
        ),
        _code(
            "OM301", _NG, "no_grad inside a trace",
            "The trace listens to the records that gradients need; inside no_grad there are none, "
            "and results would be frozen as constants.",
            ("delete the block: nothing keeps gradients after finish", "y = self.encoder(x)"),
        ),
        _code(
            "OM302", _NG, "a trace begins inside no_grad",
            "The trace listens to the records that gradients need; inside no_grad there are none.",
            ("begin outside: nothing keeps gradients after finish", "traced = om.trace(model, x)"),
        ),
        _code(
            "OM401", _SS, "a symbolic size was used as a fixed number",
            "At another size the run gave another graph: the number is baked in.",
            ("let the size stay a size", "y = x / x.shape[0]"),
            ("take the operator that knows it", "y = x.mean(0)"),
        ),
        _code(
            "OM402", _SS, "a loop runs over a symbolic axis",
            "The graph would hold one copy of the body for each element of the example.",
            ("reduce over the axis", "y = (x * x).sum(0)"),
            ("declare the axis static", "om.trace(model, x)"),
        ),
        _code(
            "OM403", _SS, "a fixed size meets a symbolic axis",
            "The two are equal only in the example.",
            ("take the size from the tensor", "om.arange(x.shape[0])"),
        ),
        _code(
            "OM404", _SS, "part of a symbolic axis cannot be expressed",
            "How much is left depends on the size.",
            ("slice by a size that is declared", "x[: x.shape[0] // 2]"),
        ),
        _code(
            "OM405", _SS, "a branch depends on a symbolic size",
            "At another size the other way is taken; the graph holds one.",
            ("declare the axis static", "om.trace(model, x)"),
            ("make two models, one per side of the branch", "small, large = ..."),
        ),
        _code(
            "OM406", _SS, "a fixed number of the model equals the size of a symbol",
            "The trace cannot tell which of the two is meant.",
            ("take the size from the tensor", "x.reshape(x.shape[0], -1)"),
            ("trace with sizes the model does not use", "om.trace(model, x_of_other_size)"),
        ),
        _code(
            "OM407", _SS, "a reshape mixes symbolic sizes in more than one way",
            "Several readings give the example's shape and differ at other sizes.",
            ("take the sizes from the tensor", "x.reshape(x.shape[0] * x.shape[1], -1)"),
        ),
        _code(
            "OM408", _SS, "a symbolic axis is resized to a fixed size",
            "The factor would depend on the size.",
            ("give a factor", "om.interpolate(x, scale_factor=2.0)"),
        ),
        _code(
            "OM501", _IU, "a trace inside a trace",
            "One trace records on a thread at a time.",
            ("trace the inner part alone, and call it plainly", "traced = om.trace(inner, x)"),
            ("an interrupted cell may have left one open", "om.Tracer.reset()"),
        ),
        _code(
            "OM502", _IU, "a tensor of another trace",
            "Its history belongs to a graph that is finished; here it would be a constant.",
            ("make it inside this run, or return it as an output", "return y, h"),
            ("freeze it on purpose", "om.tensor(h.to_array())"),
        ),
        _code(
            "OM503", _IU, "a traced tensor on another thread",
            "The trace records the thread it began on.",
            ("run it on the tracing thread", "y = work(x)"),
        ),
        _code(
            "OM504", _IU, "an output does not depend on an input",
            "The graph would give the same constant for every input.",
            ("compute it from an input, or leave it out of the outputs", "return model(x)"),
        ),
        _code(
            "OM505", _IU, "the example size of a symbol is below 2",
            "0 and 1 behave in a way of their own (1 broadcasts), so nothing can be learned.",
            ("trace with a larger example", "x = om.zeros(3, 8)"),
        ),
        _code(
            "OM506", _IU, "two symbols have the same example size",
            "Sizes are told apart by their numbers where a plain integer arrives.",
            ("give each symbol its own size", "x = om.zeros(3, 5, 8)"),
        ),
        _code(
            "OM507", _IU, "a name is used twice",
            "Inputs, outputs and parameters are found by name.",
            ("name each one once", 'tracer.input("x2", x2)'),
        ),
        _code(
            "OM508", _IU, "an input is declared in a bad moment or form",
            "Inputs are the beginning of the graph.",
            ("declare inputs first, with tensors or arrays", 'x = tracer.input("x", example)'),
        ),
        _code(
            "OM509", _IU, "a finished trace is used again",
            "After finish the graph is complete; reading values stays allowed.",
            ("begin another trace", "with om.Tracer.begin() as tracer: ..."),
        ),
        _code(
            "OM510", _IU, "an opset outside the supported range",
            "Symbolic functions exist for opset 7 to the newest the installed onnx knows.",
            ("take a supported one", "om.trace(model, x, opset=20)"),
        ),
        _code(
            "OM511", _IU, "something that is no tensor is returned or declared",
            "Inputs and outputs of a graph are tensors.",
            ("return tensors, or tuples, lists and dicts of them", 'return {"y": y}'),
        ),
        _code(
            "OM520", _IU, "the run is not repeatable",
            "The same example gave another graph or other constants: a counter, a clock, a foreign "
            "random number or a cache takes part.",
            ("pass what changes as an input", "model(x, step)"),
        ),
        _code(
            "OM600", _UO, "an operator cannot be written at this opset",
            "ONNX has no nodes for it at the target.",
            ("take a newer opset", "om.trace(model, x, opset=20)"),
        ),
        _code(
            "OM601", _UO, "dropout in training mode",
            "The mask drawn now would be frozen into the graph.",
            ("switch to inference", "model.eval()"),
        ),
        _code(
            "OM602", _UO, "BatchNorm in training mode",
            "It would normalise by the example's own statistics.",
            ("switch to inference", "model.eval()"),
        ),
        _code(
            "OM603", _UO, "random numbers are drawn",
            "The numbers drawn now would be frozen into the graph.",
            ("draw outside and pass them as an input", "model(x, noise)"),
        ),
        _code(
            "OM605", _UO, "a constant of more than 2 GiB",
            "A protobuf file cannot hold it.",
            ("split it, or pass it as an input", "model(x, table)"),
        ),
        _code(
            "OM606", _UO, "a tensor in blocked layout as a constant",
            "Its elements are not in the order that a graph means.",
            ("bring it back to the plain layout", "w = w.to_plain()"),
        ),
        _code(
            "OM607", _UO, "a loss is traced",
            "Losses have no ONNX equivalent that holds at every opset; a trace is for inference.",
            ("compute the loss outside of the trace", "loss = om.cross_entropy(model(x), y)"),
        ),
        _code(
            "OM608", _UO, "a symbolic function writes a node that ONNX does not have",
            "Every node is checked against the schemas of the target opset.",
            ("mend the symbolic function named in the message", 'g.op("Relu", input)'),
        ),
        _code(
            "OM609", _UO, "an operator has no axis rule or symbolic function",
            "It runs eagerly, but a graph cannot express it.",
            ("give it a symbolic function", '@om.onnx_symbolic("om::name", opset=9)'),
        ),
    ]
)  # fmt: skip
"""Every code by its id."""

READS: dict[str, str] = {
    "bool()": "OM101", "in": "OM101",
    "float()": "OM102", "complex()": "OM102", "round()": "OM102",
    "int()": "OM103", "__index__()": "OM103",
    "item()": "OM104", "get()": "OM104",
    "tolist()": "OM105", "to_array()": "OM105", "backward()": "OM105",
    ".data": "OM106", ".storage": "OM106", "copy_from()": "OM106",
    "pickle": "OM109", "copy.copy()": "OM109", "copy.deepcopy()": "OM109",
}  # fmt: skip
"""Ways out of a traced tensor -> code. What is not listed went through NumPy or a protocol."""


def code_of_read(operation: str) -> Code:
    """The code for a way out of a traced tensor."""
    if operation.startswith("format"):
        return CODES["OM108"]
    return CODES[READS.get(operation, "OM107")]


WRITES: dict[str, str] = {
    "__iadd__": "OM204", "__isub__": "OM204", "__imul__": "OM204", "__itruediv__": "OM204",
}  # fmt: skip


def code_of_write(operation: str, view: bool = False) -> Code:
    """The code for a write into a traced tensor: through a view, by an operator, or any other."""
    if view:
        return CODES["OM202"]
    if operation in WRITES or (operation.endswith("_") and not operation.endswith("__")):
        return CODES["OM204"]
    return CODES["OM201"]
