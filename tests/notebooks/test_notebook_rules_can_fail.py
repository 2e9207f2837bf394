"""A fault planted in a sound notebook is found by its rule, and by no other."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.notebooks import rules


def cell(count: int, source: str, *outputs: dict[str, Any], tags: tuple[str, ...] = ()) -> Any:
    return {
        "cell_type": "code",
        "execution_count": count,
        "metadata": {"tags": list(tags)},
        "source": source,
        "outputs": list(outputs),
    }


def sound() -> Any:
    view = {
        rules.WIDGET_VIEW: {"model_id": "0" * 32},
        "text/html": ['<svg class="om-svg"></svg>', f'<img {rules.FALLBACK}AA==">'],
        "image/png": f"{rules.PNG_IN_BASE64}AA==\n",
        "text/plain": "graph of 3 nodes",
    }
    error = {
        "output_type": "error",
        "ename": "TraceException",
        "evalue": "DataDependent OM101",
        "traceback": ["DataDependent OM101", "  --> In[3]:4"],
    }
    return {
        "metadata": {},
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": "# Tour"},
            cell(1, "x = 1\nx", {"output_type": "execute_result", "data": {"text/plain": "1"}}),
            cell(2, "view", {"output_type": "execute_result", "data": view}),
            cell(3, "model(x)", error, tags=("raises-exception",)),
            cell(4, "print(x)", {"output_type": "stream", "name": "stdout", "text": ["1\n"]}),
        ],
    }


def clear_outputs(notebook: Any) -> None:
    for each in notebook["cells"]:
        if each["cell_type"] == "code" and not each["metadata"]["tags"]:
            each["outputs"] = []


def forget_counts(notebook: Any) -> None:
    notebook["cells"][2]["execution_count"] = None


def run_twice(notebook: Any) -> None:
    notebook["cells"][4]["execution_count"] = 9


def lose_the_error(notebook: Any) -> None:
    notebook["cells"][3]["outputs"] = []


def lose_the_traceback(notebook: Any) -> None:
    notebook["cells"][3]["outputs"][0]["traceback"] = []


def lose_the_tag(notebook: Any) -> None:
    notebook["cells"][3]["metadata"] = {}


def lose_the_page(notebook: Any) -> None:
    del notebook["cells"][2]["outputs"][0]["data"]["text/html"]


def lose_the_picture(notebook: Any) -> None:
    del notebook["cells"][2]["outputs"][0]["data"]["image/png"]


def lose_the_fallback(notebook: Any) -> None:
    notebook["cells"][2]["outputs"][0]["data"]["text/html"].pop()


def lose_the_text(notebook: Any) -> None:
    notebook["cells"][2]["outputs"][0]["data"]["text/plain"] = " "


def shows(text: str) -> Callable[[Any], None]:
    def plant(notebook: Any) -> None:
        notebook["cells"][1]["outputs"][0]["data"]["text/plain"] = text

    plant.__name__ = text[:24]
    return plant


def keep_widget_state(notebook: Any) -> None:
    notebook["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": {}}


def grow(notebook: Any) -> None:
    notebook["cells"][1]["outputs"][0]["data"]["text/plain"] = "x " * rules.LARGEST


FAULTS: list[tuple[Callable[[Any], None], Callable[[Any], list[str]]]] = [
    (clear_outputs, rules.outputs_are_there),
    (forget_counts, rules.was_run_from_top_to_bottom),
    (run_twice, rules.was_run_from_top_to_bottom),
    (lose_the_error, rules.exceptions_are_meant),
    (lose_the_traceback, rules.exceptions_are_meant),
    (lose_the_tag, rules.exceptions_are_meant),
    (lose_the_page, rules.widgets_have_a_static_form),
    (lose_the_picture, rules.widgets_have_a_picture),
    (lose_the_fallback, rules.widgets_have_a_picture),
    (lose_the_text, rules.widgets_have_a_static_form),
    (shows("<Model object at 0x7f1aa2b3c4d0>"), rules.nothing_changes_from_run_to_run),
    (shows("/tmp/ipykernel_812/1234.py"), rules.nothing_changes_from_run_to_run),
    (shows("saved to /home/ada/model.onnx"), rules.nothing_changes_from_run_to_run),
    (shows("id-" + "5e" * 16), rules.nothing_changes_from_run_to_run),
    (keep_widget_state, rules.no_widget_state_is_needed),
    (grow, rules.is_small),
]


def test_a_sound_notebook_breaks_no_rule() -> None:
    assert {rule.__name__: rule(sound()) for rule in rules.RULES} == {
        rule.__name__: [] for rule in rules.RULES
    }


@pytest.mark.parametrize("plant, rule", FAULTS, ids=lambda part: part.__name__)
def test_a_planted_fault_is_found_by_its_rule_alone(
    plant: Callable[[Any], None], rule: Callable[[Any], list[str]]
) -> None:
    notebook = copy.deepcopy(sound())
    plant(notebook)
    assert [each for each in rules.RULES if each(notebook)] == [rule]
