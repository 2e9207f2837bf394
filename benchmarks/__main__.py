"""Run the benchmarks and print a table of ratios; ``--write`` puts it into the documents."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

# Before NumPy: one thread, and whatever kernels the processor has.
for _name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(_name, None)
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from benchmarks import eager, layers, sessions, tracing  # noqa: E402
from benchmarks.harness import Result, machine, text  # noqa: E402

SUITES = {
    "eager": eager.run,
    "layers": layers.run,
    "tracing": tracing.run,
    "sessions": sessions.run,
}
PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"

HEAD = """# Benchmarks

Ratios of process time, ours over the peer's, measured in turn in one process on one thread
(`python -m benchmarks --write`). A smaller number is better; a goal is the ratio not to exceed.
The peer of an eager operator is the bare NumPy call on arrays of 2 x 8. An operator costs about two
thirds of a microsecond more than that call, so the goal is met where NumPy takes a fifth of one or
more, and missed by what NumPy does in less: views above all. The first row says what a Python
method and a tensor cost by themselves.

"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure ratios against peers.")
    parser.add_argument("suites", nargs="*", help=f"of {', '.join(SUITES)}; all by default")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    unknown = [name for name in options.suites if name not in SUITES]
    if unknown:
        parser.error(f"no suite {unknown[0]!r}; there are {', '.join(SUITES)}")
    results: list[Result] = []
    print(machine(), flush=True)
    for name in options.suites or SUITES:
        for result in SUITES[name]():
            results.append(result)
            print(text([result]).splitlines()[-1], flush=True)
    if options.write:
        PAGE.write_text(HEAD + machine() + ".\n\n" + text(results) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
