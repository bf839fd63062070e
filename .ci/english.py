#!/usr/bin/env python3
"""Counts habits of speech in the product's texts and in the pages, and holds them to allowances.

english.toml has the habits and the allowances. A count above its allowance fails; one below asks
for a lower allowance. `--list HABIT` prints each place.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
PRODUCT = ("programs/", "games/", "search/", "play/", "learner/", "train.py", "plysmith.py")
Texts = Iterator[tuple[int, str]]


def comments(source: str) -> Texts:
    """Yields the first line and the text of each block of comments."""
    first, block = 0, ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            if not block or token.line.split("#")[0].strip():
                yield first, block
                first, block = token.start[0], ""
            block += token.string.lstrip("#: ") + " "
        elif token.type not in (tokenize.NL, tokenize.INDENT):
            yield first, block
            block = ""


def strings(tree: ast.AST) -> Texts:
    """Yields the line and the text of each string; the values in an f-string become `…`."""
    parts: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts |= {id(part) for part in node.values}
            values = [getattr(part, "value", "") for part in node.values]
            yield node.lineno, "".join(v if isinstance(v, str) else "…" for v in values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, "" if id(node) in parts else node.value


def variables(tree: ast.AST) -> Texts:
    """Yields the lines and names of variables and parameters."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def places(path: str, habits: dict[str, dict[str, str]]) -> Iterator[tuple[str, int, str]]:
    """Yields the habit, the line and the words of each place in a file."""
    source = (HERE.parent / path).read_text("utf-8")
    if path.endswith(".py"):
        tree = ast.parse(source)
        texts = [*comments(source), *strings(tree)]
        for row, name in variables(tree):
            yield from ((one, row, name) for one in habits if name in habits[one].get("names", ""))
    elif path.endswith(".md"):
        prose = re.sub(r"```.*?```", lambda code: "\n" * code[0].count("\n"), source, flags=re.S)
        parts = re.finditer(r"(?:.+\n?)+?(?=\n|\s*[-|*] |\Z)", prose)
        texts = [(prose.count("\n", 0, part.start()) + 1, part[0]) for part in parts]
    else:
        lines = enumerate(source.split("\n"), 1)
        words = re.compile(r"// .*|[\"`][^\"`]* [^\"`]* [^\"`]*[\"`]")
        texts = [(row, one.strip('/"` ')) for row, line in lines for one in words.findall(line)]
    for row, text in texts:
        for part in re.split(r"\n+(?= *[-*] | *[`\w]+: |\n)", text):
            plain = " ".join(part.split())
            for habit, about in habits.items():
                pattern = about.get("pattern", "$.")
                yield from ((habit, row, one[0]) for one in re.finditer(pattern, plain))


def main() -> int:
    """Returns 1 if a habit is more frequent than its allowance."""
    habits = tomllib.loads((HERE / "english.toml").read_text("utf-8"))
    counts: Counter[tuple[str, str]] = Counter()
    for path in subprocess.check_output(["git", "ls-files"], cwd=HERE.parent, text=True).split():
        kind = "product" if path.startswith(PRODUCT) and path.endswith((".py", ".js")) else "pages"
        if kind == "product" or (path.endswith(".md") and path != "CHANGELOG.md"):
            for habit, row, words in places(path, habits):
                counts[habit, kind] += 1
                if sys.argv[1:] == ["--list", habit]:
                    print(f"{path}:{row}: {words}")
    allowed = {(habit, kind): habits[habit][kind] for habit in habits for kind in habits[habit]}
    allowed = {key: most for key, most in allowed.items() if isinstance(most, int)}
    for key in sorted(allowed):
        if counts[key] != allowed[key]:
            advice = "lower it" if counts[key] < allowed[key] else habits[key[0]]["instead"]
            print(*key, f"{counts[key]}, allowance {allowed[key]} in .ci/english.toml: {advice}")
    return int(any(counts[key] > most for key, most in allowed.items()))


if __name__ == "__main__":
    sys.exit(main())
