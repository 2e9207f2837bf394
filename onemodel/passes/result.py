"""What a pass reports."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class PassResult:
    """``changed`` counts changes; ``notes`` say each in a line (the first hundred)."""

    changed: int = 0
    notes: list[str] = field(default_factory=list)


MOST_NOTES = 100


class Notes:
    """Collects changes while a pass runs."""

    def __init__(self) -> None:
        self._changed = 0
        self._notes: list[str] = []

    def add(self, text: str) -> None:
        """Count one change and keep its line."""
        self._changed += 1
        if self._changed <= MOST_NOTES:
            self._notes.append(text)

    def result(self) -> PassResult:
        """Everything counted so far."""
        return PassResult(self._changed, list(self._notes))
