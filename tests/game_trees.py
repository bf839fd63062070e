"""Games of GNU Backgammon as .sgf files, in the Smart Game Format (FF[4], GM[6]): what it read.

A file holds one tree for each game of a match. Of each tree the main line is read: match, score,
rules, positions that are set up, rolls with their moves, and the cube. `B[31lpqp]` is the roll 31
and two moves of Black; the letters `a` to `x` are White's points 1 to 24 for both sides, `y` is the
bar and `z` is off. White is X (colour 0), as in the .mat files that GNU Backgammon writes of the
same games. GNU Backgammon's analysis is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from games.backgammon.replay import Action, Heading, ReplayedGame, replay
from games.backgammon.rules import BAR, Position
from games.backgammon.situation import checker_counts, position_of
from games.contract import DiceGame
from games.errors import PositionError

__all__ = ["TreeGame", "is_game_tree", "read_game_trees"]

#: Tags that are shown, by the property that holds them.
TAGS = {
    "DT": "Date",
    "EV": "Event",
    "RO": "Round",
    "PC": "Place",
    "AN": "Annotator",
    "GC": "Comment",
}
_COLOURS = {"W": 0, "B": 1}
_TOKEN = re.compile(r"[(;)]|([A-Za-z]+)|(\[)")
_VALUE_END = re.compile(r"[\]\\]")
_MOVES = re.compile(r"([1-6]{2})((?:[a-y][a-z]){0,4})")
_RESULT = re.compile(r"([BW])\+([0-9]{1,7})\s*(R?).*", re.I)


@dataclass
class _Node:
    """A node of a tree: its line, and the values of its properties by name."""

    line: int
    values: dict[str, list[str]] = field(default_factory=dict)

    def first(self, name: str) -> str:
        return self.values.get(name, [""])[0].strip()


@dataclass
class TreeGame:
    """A game of a file: the game itself, the players (X first), and other tags."""

    game: ReplayedGame
    players: tuple[str, str]
    tags: Mapping[str, str]


def is_game_tree(text: str) -> bool:
    """Whether a text begins as a file in the Smart Game Format does."""
    return re.match(r"\ufeff?\s*\(\s*;", text) is not None


def read_game_trees(text: str, game: DiceGame) -> Iterator[TreeGame]:
    """Yields the games of backgammon in a text, in order; `game` is backgammon.

    A damaged game never raises an exception: it comes without a record, and reading goes on with
    the next one.
    """
    earlier: list[ReplayedGame] = []
    for nodes, problem in _trees(text):
        root = nodes[0]
        if root.first("GM") not in ("", "6"):
            read = _damaged(root.line, "backgammon (GM[6])", f"GM[{root.first('GM')[:20]}]")
        else:
            read = _read(nodes, game, earlier, problem)
        earlier.append(read)
        tags = {tag: root.first(name) for name, tag in TAGS.items() if root.first(name)}
        yield TreeGame(read, (root.first("PW"), root.first("PB")), tags)


def _damaged(line: int, expected: str, found: str) -> ReplayedGame:
    return ReplayedGame(None, [f"line {line}: expected {expected}, found {found}"])


def _trees(text: str) -> Iterator[tuple[list[_Node], list[str]]]:
    """Yields the main line of each tree that has a node, and a problem if the tree has no end."""
    nodes: list[_Node] = []
    depth, skipped = 0, 0  # open brackets; the depth from which on a variation is skipped
    name, place, line, counted = "", 0, 1, 0
    while (token := _TOKEN.search(text, place)) is not None:
        line += text.count("\n", counted, token.start())
        counted = place = token.start()
        place = token.end()
        sign = token[0]
        if token[2]:
            value, place = _value(text, place)
            if nodes and name and not skipped:
                nodes[-1].values.setdefault(name, []).append(value)
        elif token[1]:
            name = "".join(letter for letter in sign if letter.isupper())
        elif sign == "(":
            depth += 1
        elif sign == ";":
            name = ""
            if depth and not skipped:
                nodes.append(_Node(line))
        elif depth:
            depth -= 1
            # The first branch that ends is the main line; all others follow it.
            skipped = depth
            if depth == 0:
                if nodes:
                    yield nodes, []
                nodes = []
    if nodes:
        problem = f"line {line}: expected ) after a game, found the end of the file"
        yield nodes, [] if skipped else [problem]


def _value(text: str, place: int) -> tuple[str, int]:
    """Returns the text of a value that begins at `place`, and the place after its bracket."""
    parts: list[str] = []
    while True:
        found = _VALUE_END.search(text, place)
        if found is None:
            return "".join([*parts, text[place:]]), len(text)
        parts.append(text[place : found.start()])
        if found[0] == "]":
            return "".join(parts), found.end()
        parts.append(text[found.end() : found.end() + 1].replace("\n", ""))
        place = found.end() + 1


def _read(
    nodes: list[_Node], game: DiceGame, earlier: list[ReplayedGame], problems: list[str]
) -> ReplayedGame:
    """Returns the game of a main line."""
    root = nodes[0]
    line = root.line
    try:
        start = _start(nodes, game)
    except PositionError as error:
        return ReplayedGame(None, [f"line {line}: {error}", *problems])
    actions: list[Action] = []
    for node in nodes:
        colour = next((colour for colour in _COLOURS if colour in node.values), None)
        if colour is None:
            if actions and any(name in node.values for name in ("AE", "AW", "AB")):
                return _damaged(node.line, "a position before the first move only", "one after it")
            continue
        text = node.first(colour)
        action = _action(text, _COLOURS[colour], node.line)
        if action is None:
            return _damaged(
                node.line, "a roll with its moves, double, take or drop", repr(text[:40])
            )
        actions.append(action)
    said = _RESULT.fullmatch(root.first("RE"))
    if said is not None:
        actions.append(Action("wins", said[2], "", _COLOURS[said[1].upper()], line))
    facts = {
        key: value for key, _, value in (text.partition(":") for text in root.values.get("MI", []))
    }
    rules = ":".join(root.values.get("RU", [])).lower()
    length = _number(facts.get("length", ""))
    heading = Heading(
        line,
        length,
        (_number(facts.get("ws", "")), _number(facts.get("bs", ""))) if "ws" in facts else None,
        crawford=bool(length) and "crawfordgame" in rules,
        jacoby=not length and "jacoby" in rules,
        start=start,
    )
    return replay(game, heading, actions, earlier, problems)


def _number(text: str) -> int:
    return int(text) if re.fullmatch(r"[0-9]{1,5}", text.strip()) else 0


def _action(text: str, side: int, line: int) -> Action | None:
    """Returns the action of a node; None if its text is not one."""
    word = text.lower()
    if word in ("double", "take", "drop"):
        return Action(word, "", "", side, line)
    found = _MOVES.fullmatch(text)
    if found is None:
        return None
    steps = [found[2][place : place + 2] for place in range(0, len(found[2]), 2)]
    moves = " ".join("/".join(str(_point(letter, side)) for letter in step) for step in steps)
    return Action("roll", found[1], moves, side, line)


def _point(letter: str, side: int) -> int:
    """Returns the point of a letter as a side counts its points: 25 for the bar, 0 for off."""
    number = ord(letter) - ord("a") + 1
    if number > 24:
        return BAR if letter == "y" else 0
    return BAR - number if side else number


def _start(nodes: list[_Node], game: DiceGame) -> Position:
    """Returns the first position, with the side to move.

    Raises PositionError if a position that is set up is impossible.
    """
    start = game.start()
    boards = [checker_counts(*start[:2]), checker_counts(*start[2:4])]
    found = False
    side: int | None = None
    for node in nodes:
        if any(colour in node.values for colour in _COLOURS):
            side = next(_COLOURS[c] for c in _COLOURS if c in node.values) if side is None else side
            break
        for letter in _letters(node.values.get("AE", [])):
            found = True
            for colour in (0, 1):
                boards[colour][_point(letter, colour)] = 0
        for name, colour in (("AW", 0), ("AB", 1)):
            for letter in _letters(node.values.get(name, [])):
                found = True
                boards[colour][_point(letter, colour)] += 1
        side = _COLOURS.get(node.first("PL")[:1].upper(), side)
    side = side or 0
    if not found:
        return (*start[:4], side)
    return position_of(boards[side], boards[1 - side], side)


def _letters(values: list[str]) -> Iterator[str]:
    """Yields the points of a list such as `[a][c:e]`; skips letters that are not points."""
    for value in values:
        first, _, last = value.strip().partition(":")
        ends = (first[:1], (last or first)[:1])
        if all("a" <= end <= "y" for end in ends):
            for code in range(ord(ends[0]), ord(ends[1]) + 1):
                yield chr(code)
