"""Thirty-two architectures with their inputs, axes and sizes.

Each one is traced with symbolic axes at ``traced`` (sizes that differ from each other, as a
trace asks for) and judged there and at ``sizes``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from onemodel import nn
from tests.zoo import sequences, small, vision

Draw = Callable[[np.random.Generator, Mapping[str, int]], np.ndarray]


@dataclass(frozen=True, eq=False)
class Architecture:
    """A model, its inputs as functions of the symbols' sizes, and what tracing shall give.

    ``axes``: per input {axis: symbol}, ``"4*H"`` for a multiple; ``traced`` and ``sizes`` hold the
    sizes of whole axes, ``N``, ``H`` ... ``refused``: the code of the refusal, which points at the
    line marked ``# offence``; empty where the graph shall be right.
    """

    name: str
    build: Callable[[], nn.Module]
    inputs: tuple[Draw, ...]
    axes: tuple[Mapping[int, str], ...]
    traced: Mapping[str, int]
    sizes: tuple[Mapping[str, int], ...]
    refused: str = ""

    def __str__(self) -> str:
        return self.name

    def module(self) -> nn.Module:
        """The model in inference mode, with statistics of BatchNorm that are not the identity."""
        model = self.build().eval()
        generator = np.random.default_rng(3)
        for name, buffer in model.named_buffers():
            if name.endswith("running_mean"):
                buffer.copy_(generator.normal(0.0, 0.2, buffer.shape).astype(np.float32))
            elif name.endswith("running_var"):
                buffer.copy_(generator.uniform(0.5, 1.5, buffer.shape).astype(np.float32))
        return model

    def draw(self, sizes: Mapping[str, int], seed: int = 1) -> list[np.ndarray]:
        """Inputs at ``sizes``."""
        generator = np.random.default_rng(seed)
        return [draw(generator, sizes) for draw in self.inputs]


def _shape(dims: Sequence[str | int], sizes: Mapping[str, int]) -> list[int]:
    return [d if isinstance(d, int) else sizes[d] for d in dims]


def normal(*dims: str | int) -> Draw:
    return lambda generator, sizes: generator.normal(size=_shape(dims, sizes)).astype(np.float32)


def positive(*dims: str | int) -> Draw:
    return lambda generator, sizes: np.abs(normal(*dims)(generator, sizes))


def tokens(below: int | str, *dims: str | int) -> Draw:
    """Integers from 1 to ``below`` (a number, or the size of a symbol) less 1."""
    return lambda generator, sizes: generator.integers(
        1, sizes[below] if isinstance(below, str) else below, size=_shape(dims, sizes)
    )


def mask(generator: np.random.Generator, sizes: Mapping[str, int]) -> np.ndarray:
    """1 for tokens, 0 for the padding: the first row is two shorter."""
    kept = np.ones((sizes["N"], sizes["T"]), np.int64)
    kept[0, -2:] = 0
    return kept


def offsets(generator: np.random.Generator, sizes: Mapping[str, int]) -> np.ndarray:
    """The beginnings of N bags, some of which may be empty, in L tokens."""
    inner = np.sort(generator.integers(0, sizes["L"], size=sizes["N"] - 1))
    return np.concatenate([np.zeros(1, np.int64), inner])


def at(names: str, *sizes: Sequence[int]) -> tuple[Mapping[str, int], ...]:
    """``at("N T", (2, 3), (4, 5))``: assignments of the symbols."""
    return tuple(dict(zip(names.split(), one, strict=True)) for one in sizes)


def on_images(
    name: str,
    build: Callable[[], nn.Module],
    channels: int,
    traced: Sequence[int],
    *sizes: Sequence[int],
    multiple: str = "",
) -> Architecture:
    return Architecture(
        name,
        build,
        (normal("N", channels, "H", "W"),),
        ({0: "N", 2: f"{multiple}H", 3: f"{multiple}W"},),
        at("N H W", traced)[0],
        at("N H W", *sizes),
    )


def on_tokens(
    name: str,
    build: Callable[[], nn.Module],
    below: int,
    traced: Sequence[int],
    *sizes: Sequence[int],
    masked: bool = False,
) -> Architecture:
    draws: tuple[Draw, ...] = (tokens(below, "N", "T"),)
    return Architecture(
        name,
        build,
        (*draws, mask) if masked else draws,
        ({0: "N", 1: "T"},) * (2 if masked else 1),
        at("N T", traced)[0],
        at("N T", *sizes),
    )


def on_rows(
    name: str,
    build: Callable[[], nn.Module],
    dims: Sequence[str | int],
    traced: Sequence[int],
    *sizes: Sequence[int],
    refused: str = "",
    draw: Callable[..., Draw] = normal,
) -> Architecture:
    symbols = [d for d in dims if isinstance(d, str)]
    names = " ".join(symbols)
    return Architecture(
        name,
        build,
        (draw(*dims),),
        ({axis: d for axis, d in enumerate(dims) if isinstance(d, str)},),
        at(names, traced)[0],
        at(names, *sizes),
        refused,
    )


_BERT = ((2, 12), (2, 12), (3, 20), (1, 5))
_GPT = ((2, 12), (2, 12), (1, 20), (4, 3))
_TAGS = ((3, 8), (3, 8), (1, 15), (5, 2))

ARCHITECTURES: tuple[Architecture, ...] = (
    on_images(
        "resnet18ish", vision.ResNet, 3, (3, 96, 80), (2, 64, 64), (1, 64, 64), (3, 96, 80)
    ),
    on_images(
        "mobilenetish", vision.MobileNet, 3, (2, 48, 40), (2, 32, 32), (5, 32, 32), (1, 48, 40)
    ),
    on_images(
        "unet", vision.UNet, 1, (2, 16, 48), (2, 32, 32), (1, 64, 32), (3, 16, 48),
        multiple="4*",
    ),
    on_images("unet_odd", vision.UNetOdd, 1, (3, 21, 47), (2, 32, 32), (1, 35, 38), (3, 21, 47)),
    on_tokens("bert_sdpa", sequences.Bert, 60, *_BERT, masked=True),
    on_tokens("bert_manual", partial(sequences.Bert, True), 60, *_BERT, masked=True),
    on_tokens("gpt_manual", sequences.Gpt, 60, *_GPT),
    on_tokens("gpt_sdpa", partial(sequences.Gpt, False), 60, *_GPT),
    on_tokens("llama_rope", sequences.Llama, 40, (2, 9), (2, 9), (1, 17), (3, 4)),
    on_rows(
        "torch_transformer", sequences.LibraryTransformer, ("N", "T", 32),
        (2, 9), (2, 9), (1, 17), (3, 4),
    ),
    on_tokens("lstm_tagger", partial(sequences.Tagger, nn.LSTM), 50, *_TAGS),
    on_tokens("gru_tagger", partial(sequences.Tagger, nn.GRU), 50, *_TAGS),
    on_tokens("rnn_tagger", partial(sequences.Tagger, nn.RNN), 50, *_TAGS),
    Architecture(
        "lstm_state",
        sequences.LstmState,
        (normal("T", "N", 6), normal(1, "N", 10), normal(1, "N", 10)),
        ({0: "T", 1: "N"}, {1: "N"}, {1: "N"}),
        {"T": 7, "N": 2},
        at("T N", (7, 2), (3, 1), (11, 4)),
    ),
    on_rows(
        "lstmcell_loop", sequences.LstmCellLoop, ("N", "T", 6),
        (2, 9), (2, 6), (3, 6), (2, 9), refused="OM402",
    ),
    on_images(
        "groupnorm_dilated", vision.GroupNormNet, 3,
        (3, 9, 13), (2, 16, 16), (1, 24, 16), (3, 9, 13),
    ),
    on_rows("wavenet1d", vision.WaveNet, ("N", 1, "L"), (2, 40), (2, 40), (1, 64), (3, 23)),
    on_images(
        "superres_pixelshuffle", vision.SuperResolution, 1,
        (3, 7, 9), (1, 12, 12), (2, 20, 12), (3, 7, 9),
    ),
    on_images("upsampler", vision.Upsampler, 2, (3, 5, 7), (2, 8, 8), (1, 12, 8), (3, 5, 7)),
    on_tokens("bag_mask", small.BagMask, 80, (3, 7), (3, 7), (1, 12), (5, 2)),
    Architecture(
        "embedding_bag",
        small.EmbeddingBagNet,
        (tokens(80, "L"), offsets),
        ({0: "L"}, {0: "N"}),
        {"L": 10, "N": 3},
        at("L N", (10, 3), (16, 2), (6, 4)),
    ),
    Architecture(
        "vae", small.Vae, (normal("N", 20), normal("N", 4)), ({0: "N"}, {0: "N"}),
        {"N": 3}, at("N", (3,), (1,), (8,)),
    ),
    on_rows("vit", sequences.ViT, ("N", 3, 16, 16), (2,), (2,), (1,), (5,)),
    Architecture(
        "swin_window", sequences.SwinWindow, (normal("N", "H", "W", 8),),
        ({0: "N", 1: "4*H", 2: "4*W"},), at("N H W", (2, 12, 20))[0],
        at("N H W", (2, 8, 8), (1, 16, 8), (3, 12, 20)),
    ),
    Architecture(
        "gcn_index_add",
        small.GraphConvolution,
        (normal("V", 5), tokens("V", 2, "E")),
        ({0: "V"}, {1: "E"}),
        {"V": 6, "E": 9},
        at("V E", (6, 9), (10, 21), (3, 4)),
    ),
    on_rows("index_zoo", small.IndexZoo, ("N", "T", 4), (2, 6), (2, 6), (1, 9), (3, 4)),
    on_rows(
        "branch_data", small.BranchOnData, ("N", 4), (2,), (2,), (2,), (5,),
        refused="OM101", draw=positive,
    ),
    on_rows(
        "branch_shape", small.BranchOnShape, ("N", "T", 3), (2, 8), (2, 8), (2, 4), (3, 12),
        refused="OM405",
    ),
    on_rows(
        "python_scalar", small.PythonScalar, ("N", 4), (3,), (3,), (3,), (6,), refused="OM102"
    ),
    on_rows(
        "inplace_index", small.InPlaceIndex, ("N", 4), (3,), (3,), (1,), (6,), refused="OM201"
    ),
    on_rows("size_arith", small.SizeArithmetic, ("N", "T", 2), (3, 4), (3, 4), (1, 7), (6, 2)),
    on_images("pad_same", vision.PadSame, 2, (3, 8, 11), (1, 8, 8), (2, 9, 8), (1, 11, 13)),
)  # fmt: skip
"""The zoo."""
