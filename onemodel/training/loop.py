"""The training loop: epochs over a loader, with progress, and a stop that loses nothing."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from onemodel.autograd.grad_mode import no_grad
from onemodel.nn.module import Module
from onemodel.tensors.tensor import Tensor
from onemodel.training.clip import clip_grad_norm_
from onemodel.training.lr_scheduler import LRScheduler, ReduceLROnPlateau
from onemodel.training.optim import Optimizer

Measure = Callable[[Tensor, Any], Any]
"""(output of the model, target) -> a number or a one-element tensor, a mean over the batch."""


@dataclass
class History:
    """What :func:`fit` saw.

    ``epochs``: per finished epoch the means over its examples, ``{"loss": ..., ...}``; names of
    validation begin with ``validation_``. ``losses``: the loss of every batch.
    ``interrupted``: whether the user stopped it.
    """

    epochs: list[dict[str, float]] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    interrupted: bool = False

    def __repr__(self) -> str:
        last = self.epochs[-1] if self.epochs else {}
        shown = "".join(f", {name} {value:.4g}" for name, value in last.items())
        stopped = ", interrupted" if self.interrupted else ""
        return f"History({len(self.epochs)} epochs, {len(self.losses)} batches{shown}{stopped})"


def fit(
    model: Module,
    loader: Iterable[Any],
    loss: Measure,
    optimizer: Optimizer,
    epochs: int = 1,
    progress: bool = True,
    *,
    metrics: Mapping[str, Measure] | None = None,
    validation: Iterable[Any] | None = None,
    scheduler: LRScheduler | ReduceLROnPlateau | None = None,
    max_grad_norm: float | None = None,
) -> History:
    """Train ``model`` for some epochs.

    A batch is ``(inputs..., target)``; the step is ``loss(model(*inputs), target)``, backward
    and ``optimizer.step()``. An interrupt (Ctrl-C, or the stop button of a notebook) ends it
    after the batch that runs, a second one at once; what was learnt and seen until then is
    kept and returned. The same seeds give the same weights.

    Args:
        loader: batches; iterated once per epoch.
        progress: show a bar.
        metrics: further measures by name, such as ``{"accuracy": accuracy}``.
        validation: batches to :func:`evaluate` after every epoch.
        scheduler: stepped after every epoch (a ReduceLROnPlateau by the last loss).
        max_grad_norm: limit of the joint norm of the gradients.

    Raises whatever model, loss and loader raise. The model's mode is what it was before.
    """
    history = History()
    measures = dict(metrics or {})
    with _kept_modes(model), _bar(loader, epochs, progress) as bar, _interrupts() as stop:
        try:
            for epoch in range(epochs):
                model.train()
                totals = _Means()
                for batch in loader:
                    output, value = _learn(model, batch, loss, optimizer, max_grad_norm)
                    history.losses.append(value)
                    found = _measure(measures, output, batch[-1])
                    totals.add({"loss": value, **found}, _size(batch[-1]))
                    bar(epoch, totals)
                    if stop():
                        raise KeyboardInterrupt
                history.epochs.append(totals.means())
                if validation is not None:
                    found = evaluate(model, validation, loss, metrics)
                    history.epochs[-1].update({f"validation_{k}": v for k, v in found.items()})
                _step(scheduler, history.epochs[-1])
        except KeyboardInterrupt:
            history.interrupted = True
    return history


def _learn(
    model: Module, batch: Any, loss: Measure, optimizer: Optimizer, max_norm: float | None
) -> tuple[Tensor, float]:
    """One step on one batch: what the model said, and its loss before the step."""
    *inputs, target = batch
    optimizer.zero_grad()
    output = model(*inputs)
    value = loss(output, target)
    value.backward()
    if max_norm is not None:
        clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    return output.detach(), value.item()


def evaluate(
    model: Module,
    loader: Iterable[Any],
    loss: Measure | None = None,
    metrics: Mapping[str, Measure] | None = None,
) -> dict[str, float]:
    """Means of the loss and the metrics over all examples, in evaluation mode, no gradients.

    The model's mode is what it was before. Raises ValueError for nothing to measure.
    """
    measures = {**({} if loss is None else {"loss": loss}), **(metrics or {})}
    if not measures:
        raise ValueError("evaluate: give a loss, or metrics such as {'accuracy': accuracy}")
    totals = _Means()
    with _kept_modes(model), no_grad():
        model.eval()
        for batch in loader:
            *inputs, target = batch
            totals.add(_measure(measures, model(*inputs), target), _size(target))
    return totals.means()


def accuracy(output: Tensor, target: Tensor) -> float:
    """Share of examples whose largest score, scores [N, C, ...], is at the target [N, ...]."""
    return float((output.array.argmax(axis=1) == target.array).mean())


class _Means:
    """Means over examples, from means over batches."""

    def __init__(self) -> None:
        self._sums: dict[str, float] = {}
        self._count = 0

    def add(self, values: Mapping[str, float], count: int) -> None:
        for name, value in values.items():
            self._sums[name] = self._sums.get(name, 0.0) + value * count
        self._count += count

    def means(self) -> dict[str, float]:
        return {name: total / self._count for name, total in self._sums.items()}


def _measure(measures: Mapping[str, Measure], output: Any, target: Any) -> dict[str, float]:
    with no_grad():
        return {name: float(measure(output, target)) for name, measure in measures.items()}


def _size(target: Any) -> int:
    array = target.array if isinstance(target, Tensor) else np.asarray(target)
    return len(array) if array.ndim else 1


def _step(scheduler: LRScheduler | ReduceLROnPlateau | None, means: Mapping[str, float]) -> None:
    if isinstance(scheduler, ReduceLROnPlateau):
        scheduler.step(means.get("validation_loss", means["loss"]))
    elif scheduler is not None:
        scheduler.step()


@contextmanager
def _kept_modes(model: Module) -> Iterator[None]:
    """Every module in its own mode again afterwards."""
    before = [(module, module.training) for module in model.modules()]
    try:
        yield
    finally:
        for module, training in before:
            module.training = training


@contextmanager
def _interrupts() -> Iterator[Callable[[], bool]]:
    """Put an interrupt off until it is asked for; a second one comes at once.

    An update that stops half-way would leave a model that no batch has made.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False  # only the main thread receives signals
        return
    wanted = False
    before = signal.getsignal(signal.SIGINT)

    def note(number: int, frame: Any) -> None:
        nonlocal wanted
        if wanted:
            raise KeyboardInterrupt
        wanted = True

    signal.signal(signal.SIGINT, note)
    try:
        yield lambda: wanted
    finally:
        signal.signal(signal.SIGINT, before if before is not None else signal.SIG_DFL)


@contextmanager
def _bar(
    loader: Iterable[Any], epochs: int, progress: bool
) -> Iterator[Callable[[int, _Means], None]]:
    """A progress bar over all batches, called with the epoch and the means so far."""
    if not progress:
        yield lambda epoch, totals: None
        return
    from tqdm.auto import tqdm

    per_epoch = len(loader) if hasattr(loader, "__len__") else None  # type: ignore[arg-type]
    with tqdm(total=None if per_epoch is None else per_epoch * epochs, unit="batch") as bar:

        def advance(epoch: int, totals: _Means) -> None:
            bar.set_description(f"epoch {epoch + 1}/{epochs}", refresh=False)
            shown = {name: f"{value:.4f}" for name, value in totals.means().items()}
            bar.set_postfix(shown, refresh=False)
            bar.update()

        yield advance
