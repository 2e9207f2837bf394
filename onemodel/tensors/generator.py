"""Where random numbers come from: a seeded generator that can be passed around."""

from __future__ import annotations

from typing import Any

import numpy as np


class Generator(np.random.Generator):
    """A source of random numbers with its own state (NumPy's, on PCG64).

    ``seed``: an integer for numbers that repeat, None for ones that do not. Pass it as
    ``generator=`` to whatever draws. Source: ``torch.Generator``.
    """

    def __init__(self, seed: int | None = None) -> None:
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1)[0])
        super().__init__(np.random.PCG64(seed))
        self._seed = int(seed)

    def manual_seed(self, seed: int) -> Generator:
        """Start again from ``seed``. Raises ValueError for a negative one."""
        self.bit_generator.state = np.random.PCG64(seed).state
        self._seed = int(seed)
        return self

    def initial_seed(self) -> int:
        """The seed it was started from."""
        return self._seed

    def get_state(self) -> dict[str, Any]:
        """The state at this moment, for :meth:`set_state`."""
        return dict(self.bit_generator.state)

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from a state that :meth:`get_state` gave."""
        self.bit_generator.state = state

    def __reduce__(self) -> Any:
        return _rebuild, (self._seed, self.get_state())

    def __repr__(self) -> str:
        return f"Generator(seed={self._seed})"

    __str__ = __repr__


def _rebuild(seed: int, state: dict[str, Any]) -> Generator:
    generator = Generator(seed)
    generator.set_state(state)
    return generator


default_generator = Generator()
"""What draws where no generator is passed."""


def manual_seed(seed: int) -> Generator:
    """Seed the default generator and return it. Source: ``torch.manual_seed``."""
    return default_generator.manual_seed(seed)
