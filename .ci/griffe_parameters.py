"""Shows parameters in docstrings as lists, because lines `name: meaning` are not Markdown lists."""

from __future__ import annotations

import re
from typing import Any

import griffe

PARAMETER = re.compile(r"^`?((?:\*{0,2}[a-z_]\w*)(?:, [a-z_]\w*)*)`?: (?=\S)", re.MULTILINE)


class Parameters(griffe.Extension):
    """Rewrites every docstring as it is loaded."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Make each line that begins with a parameter's name an item of a list."""
        if obj.docstring is None:
            return
        lines: list[str] = []
        for line in obj.docstring.value.splitlines():
            found = PARAMETER.match(line)
            if found and lines and lines[-1] and not lines[-1].startswith("* "):
                lines.append("")
            lines.append(PARAMETER.sub(r"* `\1`: ", line))
        obj.docstring.value = "\n".join(lines)
