"""The training loop: it learns, repeats itself, shows progress and stops without loss."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import onemodel as om
from onemodel import nn, training

RNG = np.random.default_rng(8)
INPUTS = RNG.normal(size=(40, 3)).astype(np.float32)
CLASSES = (INPUTS @ np.array([1.0, -2.0, 0.5]) > 0).astype(np.int64)


def parts(seed: int = 1, dropout: float = 0.0):
    om.manual_seed(seed)
    model = nn.Sequential(
        nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(dropout), nn.Linear(8, 2)
    )
    loader = training.DataLoader(
        training.TensorDataset(INPUTS, CLASSES), 10, shuffle=True, generator=seed
    )
    return model, loader, nn.CrossEntropyLoss(), training.Adam(model.parameters(), lr=0.02)


def weights(model: nn.Module) -> bytes:
    return b"".join(tensor.array.tobytes() for tensor in model.state_dict().values())


def test_it_learns_what_can_be_learnt() -> None:
    model, loader, loss, optimizer = parts()
    history = training.fit(model, loader, loss, optimizer, epochs=20, progress=False,
                           metrics={"accuracy": training.accuracy})  # fmt: skip
    assert len(history.epochs) == 20 and len(history.losses) == 80 and not history.interrupted
    assert history.epochs[-1]["loss"] < 0.5 * history.epochs[0]["loss"]
    found = training.evaluate(model, loader, loss, {"accuracy": training.accuracy})
    assert found["accuracy"] > 0.9 and set(found) == {"loss", "accuracy"}


def test_the_same_seeds_give_the_same_bits() -> None:
    results = []
    for seed in (1, 1, 2):
        model, loader, loss, optimizer = parts(seed, dropout=0.3)
        history = training.fit(model, loader, loss, optimizer, 3, progress=False)
        results.append((weights(model), tuple(history.losses)))
    assert results[0] == results[1] and results[0] != results[2]


def test_means_count_examples_and_not_batches() -> None:
    model, _, loss, _ = parts()
    loader = training.DataLoader(training.TensorDataset(INPUTS, CLASSES), 16)
    whole = training.DataLoader(training.TensorDataset(INPUTS, CLASSES), 40)
    assert training.evaluate(model, loader, loss)["loss"] == pytest.approx(
        training.evaluate(model, whole, loss)["loss"], rel=1e-5
    )


def test_evaluation_changes_nothing() -> None:
    model, loader, loss, _ = parts()
    model.train()
    model[0].eval()
    before = weights(model)
    training.evaluate(model, loader, loss)
    assert weights(model) == before
    assert [module.training for module in model] == [False, True, True, True, True]
    with pytest.raises(ValueError, match="give a loss"):
        training.evaluate(model, loader)


def test_the_mode_is_what_it_was() -> None:
    model, loader, loss, optimizer = parts()
    model.eval()
    training.fit(model, loader, loss, optimizer, 1, progress=False, validation=loader)
    assert not any(module.training for module in model.modules())
    assert model[1].num_batches_tracked.item() == 4  # it trained all the same


def test_validation_scheduler_and_clipping_take_part() -> None:
    model, loader, loss, optimizer = parts()
    scheduler = training.ExponentialLR(optimizer, 0.5)
    history = training.fit(
        model, loader, loss, optimizer, 2, progress=False, validation=loader, scheduler=scheduler,
        metrics={"accuracy": training.accuracy}, max_grad_norm=1e-9,
    )  # fmt: skip
    assert set(history.epochs[0]) == {"loss", "accuracy", "validation_loss", "validation_accuracy"}
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.005)
    norm = np.sqrt(sum(float((p.grad.array**2).sum()) for p in model.parameters()))
    assert norm <= 1.1e-9


def test_a_plateau_listens_to_the_validation_loss() -> None:
    model, loader, loss, optimizer = parts()
    scheduler = training.ReduceLROnPlateau(optimizer, patience=0)
    history = training.fit(
        model, loader, loss, optimizer, 2, progress=False, validation=loader, scheduler=scheduler
    )
    assert scheduler.best == min(epoch["validation_loss"] for epoch in history.epochs)


class Interrupting:
    """Batches, with a Ctrl-C from outside while the second of them is being learnt."""

    def __init__(self, loader: training.DataLoader, presses: int) -> None:
        self.loader = loader
        self.presses = presses

    def __iter__(self) -> Iterator[object]:
        for number, batch in enumerate(self.loader):
            if number == 1:
                for _ in range(self.presses):
                    os.kill(os.getpid(), signal.SIGINT)
            yield batch


def test_an_interrupt_finishes_the_batch_and_returns_what_was_learnt() -> None:
    model, loader, loss, optimizer = parts()
    history = training.fit(model, Interrupting(loader, 1), loss, optimizer, 5, progress=False)
    assert history.interrupted and len(history.losses) == 2 and history.epochs == []
    assert "2 batches, interrupted" in repr(history)
    twin, again, _, other = parts()
    for _, batch in zip(range(2), again, strict=False):
        other.zero_grad()
        loss(twin(batch[0]), batch[1]).backward()
        other.step()
    assert weights(model) == weights(twin)
    history = training.fit(model, loader, loss, optimizer, 1, progress=False)  # goes on
    assert len(history.epochs) == 1


def test_a_second_interrupt_stops_at_once_and_returns_all_the_same() -> None:
    model, loader, loss, optimizer = parts()
    history = training.fit(model, Interrupting(loader, 2), loss, optimizer, 5, progress=False)
    assert history.interrupted and len(history.losses) == 1


def test_an_interrupt_raised_inside_the_model_is_no_loss_either() -> None:
    model, loader, loss, optimizer = parts()
    calls = []

    def press(module: nn.Module, args: tuple) -> None:
        calls.append(1)
        if len(calls) == 7:
            raise KeyboardInterrupt

    model.register_forward_pre_hook(press)
    history = training.fit(model, loader, loss, optimizer, 5, progress=False)
    assert history.interrupted and len(history.losses) == 6 and len(history.epochs) == 1


def test_interrupts_behave_as_before_afterwards() -> None:
    model, loader, loss, optimizer = parts()
    before = signal.getsignal(signal.SIGINT)
    training.fit(model, loader, loss, optimizer, 1, progress=False)
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(ZeroDivisionError):
        training.fit(model, loader, lambda output, target: 1 / 0, optimizer, 1, progress=False)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_thread_may_train() -> None:
    model, loader, loss, optimizer = parts()
    found: list[training.History] = []
    thread = threading.Thread(
        target=lambda: found.append(training.fit(model, loader, loss, optimizer, 2, progress=False))
    )
    thread.start()
    thread.join()
    assert len(found[0].epochs) == 2


def test_progress_is_shown_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    model, loader, loss, optimizer = parts()
    training.fit(model, loader, loss, optimizer, 2, progress=False)
    assert capsys.readouterr().err == ""
    training.fit(model, loader, loss, optimizer, 2)
    shown = capsys.readouterr().err
    assert "epoch 2/2" in shown and "8/8" in shown and "loss=" in shown


def test_accuracy_counts_the_best_score() -> None:
    scores = om.tensor([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7]])
    assert training.accuracy(scores, om.tensor([1, 1, 1])) == pytest.approx(2 / 3)
