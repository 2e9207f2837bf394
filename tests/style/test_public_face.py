"""What a caller meets first: every public name is there and says what it does."""

from __future__ import annotations

import inspect
from types import ModuleType

import pytest

import onemodel
import onemodel_widgets

FACE = [(package, name) for package in (onemodel, onemodel_widgets) for name in package.__all__]


@pytest.mark.parametrize(
    ("package", "name"), FACE, ids=[f"{package.__name__}.{name}" for package, name in FACE]
)
def test_a_public_name_exists_and_explains_itself(package: ModuleType, name: str) -> None:
    thing = getattr(package, name)
    if not (inspect.isclass(thing) or inspect.isroutine(thing) or inspect.ismodule(thing)):
        return  # a dtype explains itself by its value
    text = inspect.getdoc(thing) or ""
    assert len(text.split()) >= 4, f"{name} says only {text!r}"


@pytest.mark.parametrize("package", [onemodel, onemodel_widgets], ids=lambda p: p.__name__)
def test_completion_offers_every_public_name_once(package: ModuleType) -> None:
    assert len(package.__all__) == len(set(package.__all__))
    assert set(package.__all__) <= set(dir(package))


def test_a_wrong_name_is_told() -> None:
    with pytest.raises(AttributeError, match="no attribute 'sofmax'"):
        _ = onemodel.sofmax  # type: ignore[attr-defined]
