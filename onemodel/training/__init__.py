"""Training: optimisers, learning rates, data, and a loop that can be interrupted."""

from onemodel.training import lr_scheduler, optim
from onemodel.training.clip import clip_grad_norm_, clip_grad_value_
from onemodel.training.data import (
    DataLoader,
    Dataset,
    Subset,
    TensorDataset,
    default_collate,
    random_split,
)
from onemodel.training.loop import History, accuracy, evaluate, fit
from onemodel.training.lr_scheduler import (
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    LRScheduler,
    MultiStepLR,
    OneCycleLR,
    ReduceLROnPlateau,
    StepLR,
)
from onemodel.training.optim import SGD, Adam, AdamW, Optimizer, RMSprop

__all__ = [
    "SGD",
    "Adam",
    "AdamW",
    "CosineAnnealingLR",
    "DataLoader",
    "Dataset",
    "ExponentialLR",
    "History",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "OneCycleLR",
    "Optimizer",
    "RMSprop",
    "ReduceLROnPlateau",
    "StepLR",
    "Subset",
    "TensorDataset",
    "accuracy",
    "clip_grad_norm_",
    "clip_grad_value_",
    "default_collate",
    "evaluate",
    "fit",
    "lr_scheduler",
    "optim",
    "random_split",
]
