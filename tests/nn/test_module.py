"""What a module is: attributes, walking, modes, hooks, conversions, copies, text."""

from __future__ import annotations

import copy
import pickle
import threading

import numpy as np
import pytest

import onemodel as om
from onemodel import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1d(4)
        self.scale = nn.Parameter(om.ones(4))
        self.register_buffer("offset", om.zeros(4))
        self.register_buffer("cache", om.zeros(2), persistent=False)
        self.tail = nn.Sequential(nn.ReLU(), nn.Linear(4, 2, bias=False))

    def forward(self, x: om.Tensor) -> om.Tensor:
        return self.tail(self.norm(self.first(x)) * self.scale + self.offset)


def examples(count: int = 5) -> om.Tensor:
    return om.tensor(np.random.default_rng(0).normal(size=(count, 3)).astype(np.float32))


def test_parameters_come_in_the_order_of_pytorch() -> None:
    assert [name for name, _ in Net().named_parameters()] == [
        "scale",
        "first.weight",
        "first.bias",
        "norm.weight",
        "norm.bias",
        "tail.1.weight",
    ]


def test_the_state_dict_holds_persistent_buffers_only() -> None:
    names = list(Net().state_dict())
    assert "offset" in names and "cache" not in names
    assert names[:2] == ["scale", "offset"]
    assert names[-4:] == [
        "norm.running_mean",
        "norm.running_var",
        "norm.num_batches_tracked",
        "tail.1.weight",
    ]


def test_all_buffers_are_walked() -> None:
    assert [name for name, _ in Net().named_buffers()] == [
        "offset",
        "cache",
        "norm.running_mean",
        "norm.running_var",
        "norm.num_batches_tracked",
    ]


def test_modules_are_walked_parents_first() -> None:
    net = Net()
    assert [name for name, _ in net.named_modules()] == [
        "",
        "first",
        "norm",
        "tail",
        "tail.0",
        "tail.1",
    ]
    assert list(net.children()) == [net.first, net.norm, net.tail]
    assert net.get_submodule("tail.1") is net.tail[1]
    assert net.get_parameter("first.bias") is net.first.bias
    assert net.get_buffer("norm.running_var") is net.norm.running_var


@pytest.mark.parametrize("target", ["nothing", "first.nothing", "tail.7"])
def test_a_path_that_leads_nowhere_is_told(target: str) -> None:
    net = Net()
    for find in (net.get_submodule, net.get_parameter, net.get_buffer):
        with pytest.raises(AttributeError, match=r"no (module|parameter|buffer) at"):
            find(target)


def test_a_shared_parameter_is_walked_once_and_saved_under_both_names() -> None:
    net = Net()
    net.again = net.first
    assert len(list(net.parameters())) == len(list(Net().parameters()))
    assert {"first.weight", "again.weight"} <= set(net.state_dict())


def test_assignment_replaces_and_deletion_removes() -> None:
    net = Net()
    net.first = nn.Identity()
    assert "first.weight" not in net.state_dict()
    net.scale = None
    assert "scale" not in net.state_dict()
    del net.tail
    assert not hasattr(net, "tail")
    net.offset = om.ones(4)
    assert net.state_dict()["offset"].tolist() == [1, 1, 1, 1]


def test_a_plain_attribute_becomes_a_parameter() -> None:
    net = Net()
    net.extra = None
    net.extra = nn.Parameter(om.zeros(2))
    assert "extra" in dict(net.named_parameters())


def test_a_buffer_assigned_to_an_attribute_is_registered() -> None:
    net = Net()
    net.mean = nn.Buffer(om.zeros(3))
    net.work = nn.Buffer(om.zeros(3), persistent=False)
    assert "mean" in net.state_dict() and "work" not in net.state_dict()
    assert {"mean", "work"} <= set(dict(net.named_buffers()))


@pytest.mark.parametrize(
    ("name", "value"), [("scale", om.ones(4)), ("first", om.ones(1)), ("offset", 3.0)]
)
def test_a_registered_name_takes_its_own_kind_only(name: str, value: object) -> None:
    with pytest.raises(TypeError, match=f"Net.{name} is a"):
        setattr(Net(), name, value)


def test_a_taken_or_dotted_name_is_refused() -> None:
    net = Net()
    with pytest.raises(KeyError, match="already"):
        net.register_buffer("forward", om.ones(1))
    with pytest.raises(KeyError, match="cannot be the name"):
        net.add_module("a.b", nn.ReLU())
    with pytest.raises(TypeError, match="expected a Module"):
        net.add_module("b", om.ones(1))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"expected an nn\.Parameter"):
        net.register_parameter("b", om.ones(1))  # type: ignore[arg-type]


def test_forgetting_super_init_is_told() -> None:
    class Hasty(nn.Module):
        def __init__(self) -> None:
            self.layer = nn.ReLU()

    with pytest.raises(AttributeError, match=r"super\(\)\.__init__\(\)"):
        Hasty()


def test_a_module_without_forward_is_told() -> None:
    with pytest.raises(NotImplementedError, match="ModuleList has no forward"):
        nn.ModuleList([nn.ReLU()])(om.ones(1))


def test_modes_reach_every_module_and_return_it() -> None:
    net = Net()
    assert net.eval() is net and not any(module.training for module in net.modules())
    assert net.train() is net and all(module.training for module in net.modules())


def test_freezing_reaches_every_parameter() -> None:
    net = Net().requires_grad_(False)
    assert not any(parameter.requires_grad for parameter in net.parameters())
    assert not net.eval()(examples()).requires_grad


def test_zero_grad_drops_or_fills() -> None:
    net = Net()
    net(examples()).sum().backward()
    net.zero_grad(set_to_none=False)
    assert all((p.grad.array == 0).all() for p in net.parameters() if p.grad is not None)
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())


def test_apply_visits_children_first() -> None:
    seen: list[str] = []
    Net().apply(lambda module: seen.append(type(module).__name__))
    assert seen == ["Linear", "BatchNorm1d", "ReLU", "Linear", "Sequential", "Net"]


def test_conversion_keeps_identity_and_leaves_integers_alone() -> None:
    net = Net()
    before = list(net.parameters())
    net(examples()).sum().backward()
    assert net.double() is net
    assert all(a is b for a, b in zip(before, net.parameters(), strict=True))
    assert {p.dtype.name for p in net.parameters()} == {"float64"}
    assert net.first.weight.grad.dtype == om.float64
    assert net.norm.num_batches_tracked.dtype == om.int64
    assert net.norm.running_mean.dtype == om.float64
    assert net.half().first.weight.dtype == om.float16
    assert net.to(om.bfloat16).first.weight.dtype == om.bfloat16
    with pytest.raises(TypeError, match="floating dtype"):
        net.to(om.int32)


def test_pre_hooks_change_arguments_and_hooks_results() -> None:
    layer = nn.Identity()
    layer.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
    handle = layer.register_forward_hook(lambda module, args, result: result + args[0])
    assert layer(om.tensor([1.0])).tolist() == [4.0]
    handle.remove()
    handle.remove()
    assert layer(om.tensor([1.0])).tolist() == [2.0]


def test_hooks_run_in_order_and_may_be_put_first() -> None:
    order: list[str] = []
    layer = nn.Identity()
    layer.register_forward_hook(lambda *_: order.append("second"))
    layer.register_forward_hook(lambda *_: order.append("first"), prepend=True)
    with layer.register_forward_hook(lambda *_: order.append("third")):
        layer(om.ones(1))
    layer(om.ones(1))
    assert order == ["first", "second", "third", "first", "second"]


def test_hooks_may_see_keyword_arguments() -> None:
    class Scale(nn.Module):
        def forward(self, x: om.Tensor, *, by: float) -> om.Tensor:
            return x * by

    layer = Scale()
    layer.register_forward_pre_hook(
        lambda module, args, kwargs: (args, {"by": kwargs["by"] + 1}), with_kwargs=True
    )
    layer.register_forward_hook(
        lambda module, args, kwargs, result: result + kwargs["by"], with_kwargs=True
    )
    assert layer(om.ones(1), by=2.0).tolist() == [6.0]
    layer.register_forward_pre_hook(lambda module, args, kwargs: args, with_kwargs=True)
    with pytest.raises(RuntimeError, match="with_kwargs=True must return"):
        layer(om.ones(1), by=2.0)


@pytest.mark.parametrize("how", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_computes_the_same_and_shares_nothing(how) -> None:
    net = Net().eval()
    twin = how(net)
    x = examples()
    assert np.array_equal(net(x).array, twin(x).array)
    assert isinstance(twin.first.weight, nn.Parameter) and twin.first.weight.requires_grad
    with om.no_grad():
        twin.first.weight.zero_()
    assert net.first.weight.array.any()
    assert list(twin.state_dict()) == list(net.state_dict())


@pytest.mark.parametrize("how", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_keeps_what_is_shared_shared(how) -> None:
    net = nn.ModuleDict({"a": nn.Linear(2, 2), "b": nn.Linear(2, 2)})
    net["b"].weight = net["a"].weight
    twin = how(net)
    assert twin["a"].weight is twin["b"].weight


def test_threads_may_call_one_module() -> None:
    net = Net().eval()
    x, results = examples(), []
    expected = net(x).array
    threads = [threading.Thread(target=lambda: results.append(net(x).array)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and all(np.array_equal(found, expected) for found in results)


def test_text_is_that_of_pytorch() -> None:
    assert repr(Net()) == (
        "Net(\n"
        "  (first): Linear(in_features=3, out_features=4, bias=True)\n"
        "  (norm): BatchNorm1d(4, eps=1e-05, momentum=0.1, affine=True, "
        "track_running_stats=True)\n"
        "  (tail): Sequential(\n"
        "    (0): ReLU()\n"
        "    (1): Linear(in_features=4, out_features=2, bias=False)\n"
        "  )\n"
        ")"
    )
    assert repr(nn.ModuleList(nn.ReLU() for _ in range(3))) == "ModuleList(\n  (0-2): 3 x ReLU()\n)"
    assert repr(nn.Sequential()) == "Sequential()"


def test_sequential_is_a_list_that_runs() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    net.append(nn.Linear(3, 1))
    net.insert(1, nn.Tanh())
    assert [type(module).__name__ for module in net] == ["Linear", "Tanh", "ReLU", "Linear"]
    assert list(net.state_dict()) == ["0.weight", "0.bias", "3.weight", "3.bias"]
    head = net[:2]
    assert isinstance(head, nn.Sequential) and head[0] is net[0] and len(head) == 2
    del net[1]
    assert list(net.state_dict()) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert type(net.pop()).__name__ == "Linear" and len(net) == 2
    assert net[-1] is net[1]
    with pytest.raises(IndexError, match="index 5 with 2 modules"):
        net[5]


def test_sequential_takes_names() -> None:
    net = nn.Sequential({"up": nn.Linear(1, 2), "down": nn.Linear(2, 1)})
    assert list(net.state_dict()) == ["up.weight", "up.bias", "down.weight", "down.bias"]
    assert list(net[1:].state_dict()) == ["down.weight", "down.bias"]
    assert net(om.ones((4, 1))).shape == (4, 1)


def test_lists_and_dicts_of_modules_and_parameters_have_paths() -> None:
    class Holder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(1, 1)]) + nn.ModuleList([nn.Linear(1, 1)])
            self.heads = nn.ModuleDict({"left": nn.Linear(1, 1, bias=False)})
            self.weights = nn.ParameterList([om.ones(1), om.ones(2)])
            self.named = nn.ParameterDict({"a": om.ones(1)})

    holder = Holder()
    assert list(holder.state_dict()) == [
        "layers.0.weight",
        "layers.0.bias",
        "layers.1.weight",
        "layers.1.bias",
        "heads.left.weight",
        "weights.0",
        "weights.1",
        "named.a",
    ]
    assert "left" in holder.heads and len(holder.heads) == 1
    assert holder.weights[-1].shape == (2,) and len(holder.weights[:1]) == 1
    holder.weights[0] = om.zeros(3)
    assert holder.weights[0].requires_grad and holder.weights[0].shape == (3,)
    assert type(holder.heads.pop("left")).__name__ == "Linear" and len(holder.heads) == 0


def test_a_parameter_of_integers_is_refused_unless_frozen() -> None:
    with pytest.raises(RuntimeError, match="only floating"):
        nn.Parameter(om.tensor([1, 2]))
    assert not nn.Parameter(om.tensor([1, 2]), requires_grad=False).requires_grad


def test_a_parameter_shares_the_storage_of_its_tensor() -> None:
    tensor = om.zeros(2)
    parameter = nn.Parameter(tensor)
    tensor.fill_(3)
    assert parameter.tolist() == [3, 3] and parameter.version == tensor.version == 1
    assert repr(parameter).startswith("Parameter containing:\ntensor(")
