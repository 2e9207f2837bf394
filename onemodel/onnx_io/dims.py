"""Names of symbolic sizes in files: a plain symbol, or an expression over symbols.

What the writer wrote (``2*batch``, ``floor((width - 1)/2)``) and what exporters write alike
becomes an extent of the same algebra again; everything else is one symbol of that name. Text
is parsed by hand: it comes from files that are not trusted.
"""

from __future__ import annotations

import re

from onemodel.axes.extent import AxesError, Extent

MAX_LENGTH = 200
"""Longer texts are taken as one symbol."""

MAX_NESTING = 16
"""How deep parentheses may nest."""

# A minus sign inside of a name is common (seq-len), so sums need their spaces.
_TOKEN = re.compile(
    r"(?P<name>[A-Za-z_][A-Za-z0-9_.]*)|(?P<number>\d{1,18})"
    r"|(?P<operator> \+ | - | % |\s?//\s?|\s?\*\s?|/|,\s?|[()]|^-)"
)
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def read_dim(text: str) -> Extent:
    """The extent that the ``dim_param`` ``text`` stands for; never fails for a non-empty text."""
    if _PLAIN.fullmatch(text) or len(text) > MAX_LENGTH:
        return Extent.symbol(text)
    try:
        return _Parser(text).whole()
    except (_NoExpression, AxesError, ZeroDivisionError, RecursionError):
        return Extent.symbol(text)


class _NoExpression(Exception):
    pass


class _Parser:
    """Recursive descent: sum of terms, terms of factors, factors of names and calls."""

    def __init__(self, text: str) -> None:
        self._tokens: list[str] = []
        place = 0
        while place < len(text):
            match = _TOKEN.match(text, place)
            if match is None:
                raise _NoExpression
            self._tokens.append(match[0].strip())
            place = match.end()
        self._tokens.append("")
        self._place = 0
        self._depth = 0

    def whole(self) -> Extent:
        found = self._sum()
        if self._next:
            raise _NoExpression
        return found

    @property
    def _next(self) -> str:
        return self._tokens[self._place]

    def _take(self, wanted: str | None = None) -> str:
        token = self._next
        if not token or (wanted is not None and token != wanted):
            raise _NoExpression
        self._place += 1
        return token

    def _sum(self) -> Extent:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise _NoExpression
        negative = self._next == "-" and bool(self._take())
        found = self._term()
        found = -found if negative else found
        while self._next in ("+", "-"):
            sign = self._take()
            right = self._term()
            found = found + right if sign == "+" else found - right
        self._depth -= 1
        return found

    def _term(self) -> Extent:
        found = self._factor()
        while self._next in ("*", "//", "%"):
            match self._take():
                case "*":
                    found = found * self._factor()
                case "//":
                    found = found // self._factor()
                case _:
                    found = found % self._factor()
        return found

    def _factor(self) -> Extent:
        token = self._take()
        if token == "(":
            found = self._sum()
            self._take(")")
            return found
        if token.isdigit():
            return Extent.of(int(token))
        if not (token[0].isalpha() or token[0] == "_"):
            raise _NoExpression
        if self._next != "(":
            return Extent.symbol(token)
        return self._call(token)

    def _call(self, function: str) -> Extent:
        self._take("(")
        first = self._sum()
        if function in ("floor", "ceil"):
            self._take("/")
            second = self._factor()
            found = first // second if function == "floor" else first.ceildiv(second)
        elif function in ("max", "min"):
            found = first
            while self._next == ",":
                self._take()
                other = self._sum()
                found = found.maximum(other) if function == "max" else found.minimum(other)
        else:
            raise _NoExpression
        self._take(")")
        return found
