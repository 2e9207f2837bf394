"""Optimisers: they change parameters in place, by PyTorch's formulas and under its names.

Each write raises the version counter of the parameter, so that a gradient that still needs the
old value, or a trace that captured it, notices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from onemodel.autograd.grad_mode import enable_grad, no_grad
from onemodel.tensors.tensor import Tensor

Group = dict[str, Any]
"""Hyperparameters of some parameters, and those parameters under ``params``."""

State = dict[str, Any]
"""What an optimiser keeps of one parameter: arrays, and the number of steps."""


class Optimizer:
    """Base of optimisers: groups of parameters, their state, saving and loading.

    ``params``: tensors, or groups ``{"params": tensors, "lr": ...}`` that override the
    defaults. Raises ValueError for no parameters or one that stands in two groups, TypeError
    for anything but tensors. Source: ``torch.optim.Optimizer``.
    """

    def __init__(self, params: Iterable[Any], defaults: Mapping[str, Any]) -> None:
        self.defaults = dict(defaults)
        self.param_groups: list[Group] = []
        self.state: dict[Tensor, State] = {}
        given: list[Any] = [params] if isinstance(params, Tensor) else list(params)
        if not given:
            raise ValueError(f"{type(self).__name__}: there are no parameters to optimise")
        if isinstance(given[0], Mapping):
            for group in given:
                self.add_param_group(group)
        else:
            self.add_param_group({"params": given})

    def add_param_group(self, param_group: Mapping[str, Any]) -> None:
        """Add parameters with hyperparameters of their own."""
        name = type(self).__name__
        members = param_group["params"]
        members = [members] if isinstance(members, Tensor) else list(members)
        known = {id(p) for group in self.param_groups for p in group["params"]}
        for member in members:
            if not isinstance(member, Tensor):
                raise TypeError(f"{name}: expected tensors, not {type(member).__name__}")
            if not member.is_leaf:
                raise ValueError(f"{name}: cannot optimise the result of an operator")
            if id(member) in known:
                raise ValueError(f"{name}: a parameter of shape {list(member.shape)} stands twice")
            known.add(id(member))
        unknown = set(param_group) - set(self.defaults) - {"params", "initial_lr"}
        if unknown:
            raise ValueError(f"{name}: unknown options {', '.join(sorted(unknown))}")
        self.param_groups.append({**self.defaults, **param_group, "params": members})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or fill them with zeros."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if set_to_none or parameter.grad is None:
                    parameter.grad = None
                else:
                    parameter.grad = Tensor(np.zeros_like(parameter.grad.array))

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient.

        ``closure`` computes the loss again (with gradients) before; its result is returned.
        Refused while a trace records.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        self._update(parameter, group)
        return loss

    def _update(self, parameter: Tensor, group: Group) -> None:
        gradient = parameter.grad.array  # type: ignore[union-attr]
        if group["maximize"]:
            gradient = -gradient
        state = self.state.setdefault(parameter, {})
        self._change(parameter._write("step()"), gradient, state, group)

    def _change(self, p: np.ndarray, g: np.ndarray, state: State, group: Group) -> None:
        """Write the new value into ``p``; ``g`` must stay what it is."""
        raise NotImplementedError

    def state_dict(self) -> dict[str, Any]:
        """State by number of the parameter, and the groups; a copy, in PyTorch's layout."""
        numbers: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            for parameter in group["params"]:
                numbers[id(parameter)] = len(numbers)
            options = {key: value for key, value in group.items() if key != "params"}
            groups.append({**options, "params": [numbers[id(p)] for p in group["params"]]})
        state = {
            numbers[id(parameter)]: {key: _exported(value) for key, value in kept.items()}
            for parameter, kept in self.state.items()
        }
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what :meth:`state_dict` of an optimiser of the same parameters gave.

        Raises ValueError where groups, their parameters or a shape differ; then nothing has
        changed.
        """
        name, groups = type(self).__name__, state_dict["param_groups"]
        sizes = [len(group["params"]) for group in groups]
        own = [len(group["params"]) for group in self.param_groups]
        if sizes != own:
            raise ValueError(f"{name}: the state has groups of {sizes} parameters, not {own}")
        parameters = dict(
            zip(
                (number for group in groups for number in group["params"]),
                (p for group in self.param_groups for p in group["params"]),
                strict=True,
            )
        )
        state: dict[Tensor, State] = {}
        for number, kept in state_dict["state"].items():
            parameter = parameters[number]
            state[parameter] = {k: _imported(name, parameter, k, v) for k, v in kept.items()}
        self.state = state
        for group, given in zip(self.param_groups, groups, strict=True):
            group.update({key: value for key, value in given.items() if key != "params"})

    def __repr__(self) -> str:
        lines = []
        for number, group in enumerate(self.param_groups):
            options = {k: v for k, v in group.items() if k != "params"}
            lines.append(f"  group {number}: {len(group['params'])} parameters, {options}")
        return f"{type(self).__name__}(\n" + "\n".join(lines) + "\n)"


def _exported(value: Any) -> Any:
    return Tensor(value.copy()) if isinstance(value, np.ndarray) else value


def _imported(name: str, parameter: Tensor, key: str, value: Any) -> Any:
    array = value.array if isinstance(value, Tensor) else value
    if not isinstance(array, np.ndarray):
        return value
    if key == "step":  # a tensor in PyTorch's state dicts
        return int(array)
    if array.shape != parameter.array.shape:
        raise ValueError(
            f"{name}: {key} has shape {list(array.shape)}, its parameter "
            f"{list(parameter.array.shape)}"
        )
    return np.array(array, dtype=parameter.dtype)


def _check(name: str, **values: float) -> None:
    for key, value in values.items():
        if not value >= 0:
            raise ValueError(f"{name}: {key} must not be negative, it is {value}")


class SGD(Optimizer):
    """Stochastic gradient descent, with momentum (Polyak) or Nesterov's.

    ``v = momentum * v + (1 - dampening) * g``, ``p -= lr * v`` with ``g`` the gradient plus
    ``weight_decay * p``; the first ``v`` is ``g``. ``nesterov``: ``p -= lr * (g + momentum * v)``.
    Raises ValueError for negative values, and for nesterov without momentum or with dampening.
    Source: ``torch.optim.SGD``.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        _check("SGD", lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("SGD: nesterov needs a momentum and no dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _change(self, p: np.ndarray, g: np.ndarray, state: State, group: Group) -> None:
        momentum = group["momentum"]
        if group["weight_decay"]:
            g = g + group["weight_decay"] * p
        if momentum:
            buffer = state.get("momentum_buffer")
            if buffer is None:
                buffer = state["momentum_buffer"] = g.copy()
            else:
                buffer *= momentum
                buffer += (1 - group["dampening"]) * g
            g = g + momentum * buffer if group["nesterov"] else buffer
        p -= group["lr"] * g


class Adam(Optimizer):
    """Adaptive moments (Kingma and Ba, 2014).

    Averages ``m`` of the gradient and ``v`` of its square, corrected for their start at zero:
    ``p -= lr * m / (sqrt(v) + eps)``. ``weight_decay`` adds to the gradient; ``amsgrad`` keeps
    the largest ``v`` (Reddi et al., 2018). Raises ValueError for values out of range.
    Source: ``torch.optim.Adam``.
    """

    _decoupled = False

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: Sequence[float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        name = type(self).__name__
        _check(name, lr=lr, eps=eps, weight_decay=weight_decay)
        if len(betas) != 2 or not all(0 <= beta < 1 for beta in betas):
            raise ValueError(f"{name}: betas must be two numbers in [0, 1), not {tuple(betas)}")
        defaults = {
            "lr": lr,
            "betas": tuple(betas),
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _change(self, p: np.ndarray, g: np.ndarray, state: State, group: Group) -> None:
        if not state:
            state.update(step=0, exp_avg=np.zeros_like(p), exp_avg_sq=np.zeros_like(p))
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = np.zeros_like(p)
        state["step"] += 1
        beta1, beta2 = group["betas"]
        m, v = state["exp_avg"], state["exp_avg_sq"]
        if group["weight_decay"]:
            if self._decoupled:
                p *= 1 - group["lr"] * group["weight_decay"]
            else:
                g = g + group["weight_decay"] * p
        work = g - m
        work *= 1 - beta1
        m += work
        v *= beta2
        np.multiply(g, g, out=work)
        work *= 1 - beta2
        v += work
        if group["amsgrad"]:
            v = np.maximum(state["max_exp_avg_sq"], v, out=state["max_exp_avg_sq"])
        np.sqrt(v, out=work)
        work /= math.sqrt(1 - beta2 ** state["step"])
        work += group["eps"]
        np.divide(m, work, out=work)
        work *= group["lr"] / (1 - beta1 ** state["step"])
        p -= work


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameter itself: ``p *= 1 - lr * weight_decay``.

    Source: ``torch.optim.AdamW`` (Loshchilov and Hutter, 2017).
    """

    _decoupled = True

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: Sequence[float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)


class RMSprop(Optimizer):
    """Gradients divided by a running root of their mean square (Hinton, 2012).

    ``centered`` subtracts the running mean before; ``momentum`` averages the quotients. Raises
    ValueError for negative values. Source: ``torch.optim.RMSprop``.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        _check("RMSprop", lr=lr, alpha=alpha, eps=eps, weight_decay=weight_decay, momentum=momentum)
        defaults = {
            "lr": lr,
            "alpha": alpha,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "centered": centered,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _change(self, p: np.ndarray, g: np.ndarray, state: State, group: Group) -> None:
        if not state:
            state.update(step=0, square_avg=np.zeros_like(p))
            if group["momentum"]:
                state["momentum_buffer"] = np.zeros_like(p)
            if group["centered"]:
                state["grad_avg"] = np.zeros_like(p)
        state["step"] += 1
        alpha, square = group["alpha"], state["square_avg"]
        if group["weight_decay"]:
            g = g + group["weight_decay"] * p
        square *= alpha
        square += (1 - alpha) * (g * g)
        if group["centered"]:
            mean = state["grad_avg"]
            mean += (1 - alpha) * (g - mean)
            work = np.sqrt(square - mean * mean)
        else:
            work = np.sqrt(square)
        work += group["eps"]
        np.divide(g, work, out=work)
        if group["momentum"]:
            buffer = state["momentum_buffer"]
            buffer *= group["momentum"]
            buffer += work
            work = buffer
        p -= group["lr"] * work
