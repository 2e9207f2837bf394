"""Programs of the catalogue that write in place, keep state, or use a trace in a wrong way.

Each is what a user would write; ``# <-`` marks the line that a refusal must name. A class is a
model of which each use makes a new one. Functions named ``script_*`` are whole scripts: they do
the tracing themselves and return the traced model with the function it stands for.
"""

from __future__ import annotations

import asyncio
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import time as now

import numpy as np

import onemodel as om
from onemodel import nn

BATCH = {"x": {0: "batch"}}


def clone_and_assign(x):
    y = x.clone()
    y[0] = 0  # <-
    return y


def write_through_a_view(x):
    y = x * 2
    row = y[0]
    row += 1  # <-
    return y


def add_to_the_input(x):
    x += 1  # <-
    return x


def add_to_an_intermediate(x):
    y = x * 2
    y += 1
    y.mul_(3)
    return y.relu_()


class ConstantChanged(nn.Module):
    """A running number that forward counts up in place."""

    def __init__(self):
        super().__init__()
        self.scale = om.ones(4)

    def forward(self, x):
        y = x * self.scale
        self.scale.add_(1)  # <-
        return y


class ConstantChangedBeforeUse(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = om.ones(4)

    def forward(self, x):
        self.scale.add_(1)  # <-
        return x * self.scale


def script_constant_changed_later(x):
    scale = om.tensor([2.0, 2.0, 2.0, 2.0])
    traced = om.trace(lambda x: x * scale, x, axes=BATCH)
    scale.fill_(100.0)
    return traced, lambda x: x * 2.0


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * self.calls  # <-


class CacheOfValues(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = None

    def forward(self, x):
        if self.mean is None:
            self.mean = x.mean()
        return x - self.mean  # <-


def no_grad_block(x):
    with om.no_grad():  # <-
        return x * 2


class DropoutInTraining(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(x)  # <-


class BatchNormInTraining(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x):
        return self.norm(x)  # <-


class InInference(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5))
        self.eval()

    def forward(self, x):
        return self.layers(x)


def numpy_noise(x):
    return x + np.random.default_rng().normal()  # <-


def numpy_global_noise(x):
    return x + np.random.normal()  # <-


def python_noise(x):
    return x + random.random()  # <-


def own_noise(x):
    return x + om.rand(4)  # <-


def clock(x):
    return x + time.time()  # <-


def clock_in_whole_seconds(x):
    return x * om.tensor(int(time.time()))  # <-


def clock_imported_by_name(x):
    return x + now()  # <-


def script_constant_output(x):
    def model(x):
        x.sum()
        return om.ones(4)

    return om.trace(model, x, axes=BATCH), model  # <-


def script_constant_beside(x):
    def model(x):
        return {"y": x * 2, "version": om.ones(4)}

    return om.trace(model, x, axes=BATCH), model  # <-


def thread_pool(x):
    with ThreadPoolExecutor() as pool:
        return pool.submit(lambda: x * 2).result()  # <-


def thread_that_swallows(x):
    found = []

    def work():
        with suppress(Exception):
            found.append(x * 2)  # <-

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    return found[0] if found else x


class Hooked(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.layer.register_forward_hook(lambda module, args, output: output * 2)

    def forward(self, x):
        return self.layer(x) + 1


class GeneratorOfLayers(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x):
        for layer in (layer for layer in self.layers):
            x = layer(x).relu()
        return x


def script_stale_tensor(x):
    kept = []

    def first(x):
        kept.append(x * 2)
        return kept[-1]

    def second(x):
        return x + kept[0]  # <-

    om.trace(first, x, axes=BATCH)
    return om.trace(second, x, axes=BATCH), second


def trace_inside_a_trace(x):
    om.trace(lambda y: y * 2, np.ones((3, 4), np.float32))  # <-
    return x


def script_size_of_one(x):
    return om.trace(lambda x: x * 2, x[:1], axes=BATCH), None  # <-


def script_two_symbols_of_one_size(x):
    return om.trace(lambda x: x * 2, x[:, :3], axes=[("batch", "width")]), None  # <-


def script_name_used_twice(x):
    with om.Tracer.begin() as tracer:
        first = tracer.input("x", x)
        second = tracer.input("x", x)  # <-
        return tracer.finish({"y": first + second}), None


def script_output_name_of_an_input(x):
    with om.Tracer.begin() as tracer:
        first = tracer.input("x", x)
        return tracer.finish({"x": first * 2}), None  # <-


def script_input_after_an_operator(x):
    with om.Tracer.begin() as tracer:
        doubled = tracer.input("x", x, {0: "batch"}) * 2
        scale = tracer.input("scale", np.float32(3.0))
        return tracer.finish({"y": doubled * scale}), lambda x, scale: x * 2 * scale


def script_finish_twice(x):
    with om.Tracer.begin() as tracer:
        y = tracer.input("x", x) * 2
        tracer.finish({"y": y})
        return tracer.finish({"y": y}), None  # <-


def script_read_after_finish(x):
    with om.Tracer.begin() as tracer:
        y = tracer.input("x", x, {0: "batch"}) * 2
        traced = tracer.finish({"y": y})
    assert np.array_equal(y.numpy(), x * 2) and float(y.sum()) == float((x * 2).sum())
    return traced, lambda x: x * 2


class HugeConstant(nn.Module):
    """600 million elements that repeat one: no memory is behind them."""

    def __init__(self):
        super().__init__()
        self.table = om.tensor([0.0]).expand(600_000_000)

    def forward(self, x):
        return x + self.table[(x > 0).long()]  # <-


class BlockedKernel(nn.Module):
    def __init__(self):
        super().__init__()
        self.kernel = om.ones(2, 1, 3, 3).to_blocked(8)

    def forward(self, x):
        return nn.functional.conv2d(x[:, None, None], self.kernel, padding=1)  # <-


class BlockedKernelMadePlain(BlockedKernel):
    def forward(self, x):
        return nn.functional.conv2d(x[:, None, None], self.kernel.to_plain(), padding=1)


def loss(x):
    return om.cross_entropy(x, om.zeros(3, dtype=om.int64))  # <-


class WeightSetToATracedTensor(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = None

    def forward(self, x):
        self.last = x.mean(0)
        return x - self.last


def script_weight_kept_and_used(x):
    model = WeightSetToATracedTensor()
    om.trace(model, x, axes=BATCH)

    def reader(x):
        return x + model.last  # <-

    return om.trace(reader, x, axes=BATCH), reader


def script_two_tracers_mixed(x):
    with om.Tracer.begin() as tracer:
        first = tracer.input("x", x) * 2
    with om.Tracer.begin() as tracer:
        second = tracer.input("x", x) * 2
        return tracer.finish({"y": first + second}), None  # <-


def script_generator_after_finish(x):
    def steps(x):
        y = x * 2
        yield y
        yield y + 1

    with om.Tracer.begin() as tracer:
        running = steps(tracer.input("x", x))
        tracer.finish({"y": next(running)})
    late = next(running)
    with om.Tracer.begin() as tracer:
        return tracer.finish({"y": tracer.input("x", x) + late}), lambda x: x + late


def script_task_after_finish(x):
    async def step(x, done):
        await done.wait()
        return x * 2

    async def main():
        done = asyncio.Event()
        with om.Tracer.begin() as tracer:
            traced_x = tracer.input("x", x)
            task = asyncio.create_task(step(traced_x, done))
            await asyncio.sleep(0)
            tracer.finish({"y": traced_x + 1})
        done.set()
        return await task

    late = asyncio.run(main())
    with om.Tracer.begin() as tracer:
        return tracer.finish({"y": tracer.input("x", x) + late}), lambda x: x + late


def users_error(x):
    raise KeyError("mine")


def users_error_after_a_refusal(x):
    try:
        scale = float(x.sum())
    except om.TraceException:
        scale = None
    return x * scale.real


def script_interrupted(x):
    tracer = om.Tracer.begin()
    try:
        tracer.input("x", x)
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    return om.trace(lambda x: x * 2, x), None  # <-


def script_interrupted_and_reset(x):
    om.Tracer.begin()
    om.Tracer.reset()
    return om.trace(lambda x: x * 2, x, axes=BATCH), lambda x: x * 2


def script_no_grad_before(x):
    with om.no_grad():
        return om.trace(lambda x: x * 2, x), None  # <-
