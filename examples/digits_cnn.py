"""Train a small convolutional net on handwritten digits, then turn it into an ONNX file.

    python examples/digits_cnn.py [digits.onnx]

The data are the 1,797 images of 8 x 8 pixels that come with scikit-learn; nothing is
downloaded. It takes a few seconds.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.datasets import load_digits

import onemodel as om
from onemodel import nn, training

SEED = 7
CLASSES = 10


class DigitsCNN(nn.Module):
    """Scores of the ten digits for images [N, 1, 8, 8]."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, kernel_size=3, padding=1),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, kernel_size=3, padding=1),
            nn.BatchNorm2d(2 * width),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(2),
        )
        self.classifier = nn.Linear(2 * width * 4, CLASSES)

    def forward(self, images: om.Tensor) -> om.Tensor:
        return self.classifier(self.features(images).flatten(1))


def digits() -> tuple[training.TensorDataset, training.TensorDataset]:
    """Images and labels, 1,500 to learn from and 297 to be judged by."""
    bundle = load_digits()
    order = np.random.default_rng(SEED).permutation(len(bundle.target))
    images = (bundle.images[order] / 16).astype(np.float32)[:, None]
    labels = bundle.target[order]
    return (
        training.TensorDataset(images[:1500], labels[:1500]),
        training.TensorDataset(images[1500:], labels[1500:]),
    )


def train(epochs: int = 4, progress: bool = True) -> tuple[DigitsCNN, training.History]:
    """A trained model, and what happened on the way. The same every time."""
    om.manual_seed(SEED)  # initial weights
    model = DigitsCNN()
    learn, judge = digits()
    history = training.fit(
        model,
        training.DataLoader(learn, batch_size=50, shuffle=True, generator=SEED),
        nn.CrossEntropyLoss(),
        training.Adam(model.parameters(), lr=3e-3),
        epochs=epochs,
        progress=progress,
        metrics={"accuracy": training.accuracy},
        validation=training.DataLoader(judge, batch_size=100),
    )
    return model, history


def main(path: str | None = None) -> None:
    model, history = train()
    print(f"accuracy on unseen digits: {history.epochs[-1]['validation_accuracy']:.1%}")

    model.eval()  # batch norm by its running statistics; a trace refuses anything else
    _, judge = digits()
    images, _ = judge.batch(range(5))
    traced = model.trace(images, axes={"images": {0: "batch"}})
    print(traced)
    if path is not None:
        traced.save_onnx(path)
        print(f"written to {path}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
