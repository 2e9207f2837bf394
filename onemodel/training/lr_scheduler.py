"""Learning rates over time. Call ``step()`` once per epoch (OneCycleLR: once per batch).

The rate is always a function of the number of steps and of the initial rate, so that a loaded
scheduler goes on exactly where it was.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from onemodel.training.optim import Optimizer


class LRScheduler:
    """Base: ``last_epoch`` steps were made; :meth:`rate` says what follows from that.

    Source: ``torch.optim.lr_scheduler.LRScheduler``.
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    f"{type(self).__name__}: to go on at last_epoch {last_epoch}, every group "
                    "needs its 'initial_lr'"
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self.step()

    def rate(self, base: float, group: int) -> float:
        """The rate of a group with initial rate ``base`` after ``last_epoch`` steps."""
        raise NotImplementedError

    def step(self) -> None:
        """One epoch (or batch) has passed: set the rates of all groups."""
        self.last_epoch += 1
        for number, group in enumerate(self.optimizer.param_groups):
            group["lr"] = self.rate(self.base_lrs[number], number)

    def get_last_lr(self) -> list[float]:
        """The rate of every group."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser and functions."""
        return {
            key: value
            for key, value in self.__dict__.items()
            if key != "optimizer" and not _holds_functions(value)
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on where the scheduler that gave ``state_dict`` was; sets the rates."""
        self.__dict__.update(state_dict)
        for number, group in enumerate(self.optimizer.param_groups):
            group["lr"] = self.rate(self.base_lrs[number], number)


def _holds_functions(value: Any) -> bool:
    return callable(value) or (isinstance(value, list) and any(map(callable, value)))


class StepLR(LRScheduler):
    """Times ``gamma`` every ``step_size`` epochs. Source: ``torch.optim.lr_scheduler.StepLR``."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, group: int) -> float:
        return base * self.gamma ** (self.last_epoch // self.step_size)


class MultiStepLR(LRScheduler):
    """Times ``gamma`` at each of ``milestones``.

    Source: ``torch.optim.lr_scheduler.MultiStepLR``.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones = sorted(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, group: int) -> float:
        return base * self.gamma ** bisect_right(self.milestones, self.last_epoch)


class ExponentialLR(LRScheduler):
    """Times ``gamma`` every epoch. Source: ``torch.optim.lr_scheduler.ExponentialLR``."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, group: int) -> float:
        return base * self.gamma**self.last_epoch


class CosineAnnealingLR(LRScheduler):
    """Half a cosine from the initial rate to ``eta_min`` in ``T_max`` epochs, and back.

    Source: ``torch.optim.lr_scheduler.CosineAnnealingLR`` (Loshchilov and Hutter, 2016).
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_max: int,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, group: int) -> float:
        wave = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return self.eta_min + (base - self.eta_min) * wave


class LinearLR(LRScheduler):
    """A factor that moves from ``start_factor`` to ``end_factor`` in ``total_iters`` epochs.

    Source: ``torch.optim.lr_scheduler.LinearLR``.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1 or not 0 <= end_factor <= 1:
            raise ValueError(
                f"LinearLR: factors must lie between 0 and 1, not {start_factor}, {end_factor}"
            )
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, group: int) -> float:
        part = min(self.last_epoch, self.total_iters) / self.total_iters
        return base * (self.start_factor + (self.end_factor - self.start_factor) * part)


class LambdaLR(LRScheduler):
    """The initial rate times ``lr_lambda(epoch)``: one function, or one per group.

    Functions are no part of the state dict. Source: ``torch.optim.lr_scheduler.LambdaLR``.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        groups = len(optimizer.param_groups)
        self.lr_lambdas = [lr_lambda] * groups if callable(lr_lambda) else list(lr_lambda)
        if len(self.lr_lambdas) != groups:
            raise ValueError(
                f"LambdaLR: {len(self.lr_lambdas)} functions for {groups} groups of parameters"
            )
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, group: int) -> float:
        return base * self.lr_lambdas[group](self.last_epoch)


class OneCycleLR(LRScheduler):
    """Up to ``max_lr`` and far down again in ``total_steps`` batches; momentum the other way.

    ``total_steps``, or ``epochs`` times ``steps_per_epoch``. Raises ValueError where neither is
    given, and on stepping beyond the end. Source: ``torch.optim.lr_scheduler.OneCycleLR``
    (Smith and Topin, 2017).
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | Sequence[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float = 0.85,
        max_momentum: float = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ValueError("OneCycleLR: give total_steps, or epochs and steps_per_epoch")
            total_steps = epochs * steps_per_epoch
        if total_steps < 1 or not 0 <= pct_start <= 1:
            raise ValueError(
                f"OneCycleLR: total_steps must be positive and pct_start in [0, 1], "
                f"not {total_steps} and {pct_start}"
            )
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"OneCycleLR: anneal_strategy 'cos' or 'linear', not {anneal_strategy!r}"
            )
        groups = optimizer.param_groups
        peaks = [max_lr] * len(groups) if isinstance(max_lr, (int, float)) else list(max_lr)
        if len(peaks) != len(groups):
            raise ValueError(f"OneCycleLR: {len(peaks)} values of max_lr for {len(groups)} groups")
        self.total_steps = total_steps
        self.anneal_strategy = anneal_strategy
        self.cycle_momentum = cycle_momentum
        self.max_lrs = [float(peak) for peak in peaks]
        self.div_factor = div_factor
        self.final_div_factor = final_div_factor
        self.momenta = (base_momentum, max_momentum)
        self.turns = _turns(total_steps, pct_start, three_phase)
        if last_epoch == -1:
            for group, peak in zip(groups, self.max_lrs, strict=True):
                group["initial_lr"] = peak / div_factor
        super().__init__(optimizer, last_epoch)

    def rate(self, base: float, group: int) -> float:
        peak = self.max_lrs[group]
        return self._between([base, peak, base, base / self.final_div_factor])

    def _between(self, values: Sequence[float]) -> float:
        """Where the step lies on the way through ``values``: start, peak, (start,) end."""
        if len(self.turns) == 2:
            values = (values[0], values[1], values[3])
        begin = 0.0
        for number, end in enumerate(self.turns):
            if self.last_epoch <= end or number == len(self.turns) - 1:
                part = (self.last_epoch - begin) / (end - begin) if end > begin else 1.0
                return self._anneal(values[number], values[number + 1], part)
            begin = end
        raise AssertionError("a cycle has phases")

    def _anneal(self, start: float, end: float, part: float) -> float:
        if self.anneal_strategy == "linear":
            return start + (end - start) * part
        return end + (start - end) / 2 * (1 + math.cos(math.pi * part))

    def step(self) -> None:
        """One batch has passed: set rates and momenta. Raises ValueError beyond the end."""
        if self.last_epoch + 1 > self.total_steps:
            raise ValueError(
                f"OneCycleLR: step {self.last_epoch + 1} is beyond the {self.total_steps} planned"
            )
        super().step()
        if self.cycle_momentum:
            low, high = self.momenta
            momentum = self._between([high, low, high, high])
            for group in self.optimizer.param_groups:
                if "betas" in group:
                    group["betas"] = (momentum, *group["betas"][1:])
                elif "momentum" in group:
                    group["momentum"] = momentum


def _turns(total: int, share: float, three_phase: bool) -> list[float]:
    """The steps at which the phases of a cycle end."""
    if three_phase:
        return [share * total - 1, 2 * share * total - 2, total - 1]
    return [share * total - 1, total - 1]


class ReduceLROnPlateau:
    """Times ``factor`` when a measure has not improved for ``patience`` epochs.

    ``step(measure)`` once per epoch; ``mode``: "min" or "max"; an improvement must exceed
    ``threshold`` ("rel" to the best, or "abs"). After a reduction ``cooldown`` epochs pass
    uncounted. Source: ``torch.optim.lr_scheduler.ReduceLROnPlateau``.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | Sequence[float] = 0.0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1:
            raise ValueError(f"ReduceLROnPlateau: factor must be below 1, not {factor}")
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise ValueError(
                "ReduceLROnPlateau: mode is 'min' or 'max', threshold_mode 'rel' or 'abs'"
            )
        groups = len(optimizer.param_groups)
        self.optimizer = optimizer
        self.mode = mode
        self.factor = factor
        self.patience = patience
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.cooldown = cooldown
        self.min_lrs = [min_lr] * groups if isinstance(min_lr, (int, float)) else list(min_lr)
        self.eps = eps
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = 0
        self.cooldown_counter = 0
        self.last_epoch = 0

    def step(self, metrics: Any) -> None:
        """An epoch has passed with this measure (a number or a one-element tensor)."""
        measure = float(metrics)
        self.last_epoch += 1
        if self._improves(measure):
            self.best = measure
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0

    def _improves(self, measure: float) -> bool:
        if math.isinf(self.best):
            return not math.isnan(measure)
        sign = -1 if self.mode == "min" else 1
        if self.threshold_mode == "rel":
            limit = self.best * (1 + sign * self.threshold)
        else:
            limit = self.best + sign * self.threshold
        return measure < limit if self.mode == "min" else measure > limit

    def _reduce(self) -> None:
        for group, lowest in zip(self.optimizer.param_groups, self.min_lrs, strict=True):
            new = max(group["lr"] * self.factor, lowest)
            if group["lr"] - new > self.eps:
                group["lr"] = new

    def get_last_lr(self) -> list[float]:
        """The rate of every group."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on where the scheduler that gave ``state_dict`` was."""
        self.__dict__.update(state_dict)
