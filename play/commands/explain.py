"""The command `python -m play explain`: one position as one or two evaluators value it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from play.commands.options import START, add_game, check_writable, load_game, read_situation, refuse
from programs.arguments import in_range
from programs.phrases import counted

if TYPE_CHECKING:
    from games.contract import Game
    from games.problem import Problem
    from play.players.seats import Seat
    from search import Evaluator

__all__ = ["add_explain_options", "run_explain"]

MOST_MOVES = 8

#: The title, the seat and the result of each evaluator.
Rows = Sequence[tuple[str, Any, Any]]


def add_explain_options(command: argparse.ArgumentParser) -> None:
    """Add the options of the command to its parser."""
    add_game(command)
    add = command.add_argument
    add("position", help="PDN FEN, position ID, XGID, tiles, nested lists and so on, or 'start'")
    add(
        "first",
        metavar="A",
        nargs="?",
        help="an evaluator or heuristic: a name or a file (default: the one that people play"
        " against, or a problem's first; optional with --tree)",
    )
    add("second", metavar="B", nargs="?", help="a second evaluator to compare with")
    add(
        "--roll",
        help="with dice: show the best moves for a roll such as 31 (default: the one in"
        " the position's text, if any)",
    )
    add("--depth", type=int, metavar="PLIES", help="greatest depth (default 8, with dice 1)")
    add(
        "--tree",
        action="store_true",
        help="show instead the tree of alpha-beta, or of max^n for more than two players, with"
        " every window, value and cutoff (default --depth: 3, or to the end of the game"
        " without an evaluator)",
    )
    add(
        "--order",
        metavar="ORDER",
        help="with --tree, the order of moves: as the game lists them (game, the default),"
        " best static value first (evaluation), or best backed-up value first (perfect)",
    )
    add("--svg", type=Path, metavar="FILE", help="with --tree: write a picture of the tree")
    add(
        "--most",
        type=in_range(0),
        default=16,
        metavar="N",
        help="maximum number of parts to show (default 16; 0 for all)",
    )
    command.set_defaults(run=run_explain)


def run_explain(options: argparse.Namespace) -> int:
    """Run `explain`: contributions, values by depth, principal variations or best moves."""
    from games.extras import extra
    from games.problem import Problem
    from games.tree import Explicit
    from play.players.limits import Limits
    from play.players.opponents import usual_evaluator
    from play.players.parse import seated

    game = load_game(options, problems=True)
    options.tree |= extra(game, Explicit) is not None
    kind = _WithDice() if game.dice else _Plain()
    if not options.tree:
        for name in ("order", "svg"):
            if getattr(options, name) is not None:
                raise ValueError(f"--{name}: expected --tree as well, found none")
        if options.first is None:
            options.first = usual_evaluator(game)
    game, position, roll, left_out = kind.read(options, game)
    if isinstance(game, Problem):
        return _show_estimates(options, game, position)
    depth = kind.depth if options.depth is None else options.depth
    if options.tree:
        return _show_tree(options, game, position)
    names = [name for name in (options.first, options.second) if name is not None]
    thinkers = [seated(game, name, Limits(depth=depth), techniques="exact") for name in names]
    titles = _titles(thinkers)
    print(game.show(position))
    if left_out:
        print(f"\n{left_out}")
    if game.outcome(position) is not None:
        print("\nThe game is over: there is nothing to explain.")
        return 0
    print("\nWhat makes up the static value, for the side to move\n")
    _show_parts(options, position, titles, [thinker.evaluator for thinker in thinkers])
    for line in kind.values(game, titles, thinkers, position, roll):
        print(line)
    return 0


def _show_parts(
    options: argparse.Namespace, position: Any, titles: list[str], evaluators: list[Any]
) -> None:
    """Show what makes up the values of a position by evaluators that are sums or that see parts."""
    from play.judging.explanation import contribution_table, explain

    parts = {}
    for title, evaluator in zip(titles, evaluators, strict=True):
        try:
            parts[title] = explain(evaluator, position)
        except TypeError:  # the game has no pieces to remove
            print(f"{title}: not a sum, and {evaluator.game.name} has no pieces to take away")
    if parts:
        for line in contribution_table(list(parts), list(parts.values()), options.most):
            print(line)


def _show_estimates(options: argparse.Namespace, problem: Problem, position: Any) -> int:
    """Show what makes up heuristics' values of a position, and their values after each move."""
    from search import as_evaluator

    refuse(options, ("depth",), "a game of two sides", problem)
    if options.tree:
        raise ValueError(f"--tree: expected a game of two sides, found {problem.name}")
    names = [name for name in (options.first, options.second) if name is not None]
    evaluators = [as_evaluator(problem, name) for name in names]
    titles = _titles(evaluators)
    print(problem.show(position))
    reason = problem.why_unsolvable(position)
    if reason:
        print(f"\nThere is no solution: {reason}.")
    print("\nWhat makes up the estimated cost to the goal\n")
    _show_parts(options, position, titles, evaluators)
    print("\nEstimates: cost of the move + that to the goal after it")
    width = max(map(len, ["move", *titles]))
    moves = problem.legal_moves(position)
    texts = [problem.move_text(position, move) for move in moves]
    print(f"{'move':>{width}}" + "".join(f"{text:>12}" for text in ["", *texts]))
    for title, evaluator in zip(titles, evaluators, strict=True):
        cells = [f"{evaluator(position):.4g}"]
        for move in moves:
            left = evaluator(problem.play(position, move))
            cells.append(f"{problem.cost(position, move):g} + {left:.4g}")
        print(f"{title:>{width}}" + "".join(f"{cell:>12}" for cell in cells))
    return 0


def _show_tree(options: argparse.Namespace, game: Game, position: Any) -> int:
    """Show the tree of textbook alpha-beta or max^n with the first evaluator."""
    from games.kinds import WITHOUT_DICE
    from play.judging.search_tree import search_tree
    from search import as_evaluator

    WITHOUT_DICE.expect(game, where="--tree")
    if options.second is not None:
        raise ValueError(f"--tree: expected one evaluator, found {options.second!r} as well")
    evaluator = None if options.first is None else as_evaluator(game, options.first)
    depth = 3 if options.depth is None and evaluator is not None else options.depth
    if options.svg is not None:
        check_writable("--svg", options.svg)
    tree = search_tree(game, position, depth, evaluator, order=options.order or "game")
    print(game.show(position))
    many = bool(tree.root.vector)
    whose = "Values are those of all players" if many else "Values and windows are those of MAX"
    print(f"\n{whose}.\n")
    for line in tree.lines:
        print(line)
    print(
        f"\nvalue {tree.root.value_text}; {counted(tree.leaves, 'position')} valued, of the"
        f" {tree.all_leaves} that {'max^n' if many else 'minimax'} values"
    )
    if options.svg is not None:
        tree.save_svg(options.svg)
        print(f"written: {options.svg}")
    return 0


def _titles(named: Sequence[Seat | Evaluator]) -> list[str]:
    titles = [one.name for one in named]
    return titles if len(set(titles)) == len(titles) else ["A", "B"]


class _Plain:
    """A game without dice: its values by depth, and principal variations."""

    #: The usual depth, and the depths that stand for no search at all.
    depth: int = 8
    static_depths: tuple[int, ...] = (0,)
    title = "Values for the side to move"

    def read(self, options: argparse.Namespace, game: Any) -> tuple[Any, Any, int | None, str]:
        """Returns the game, the position, the roll and what its text has besides."""
        from games.extras import extra
        from games.tree import Explicit

        refuse(options, ("roll",), "a game with dice", game)
        text = options.position.strip()
        explicit = extra(game, Explicit) or Explicit(lambda text: (game, game.parse_position(text)))
        return *((game, game.start()) if text == START else explicit.read(text)), None, ""

    def values(
        self, game: Any, titles: list[str], thinkers: list[Seat], position: Any, roll: Any
    ) -> list[str]:
        """Values at each depth, and the moves that the search would play."""
        width = max(map(len, titles))
        statics = [thinker.evaluator(position) for thinker in thinkers]
        results = [thinker.think(position) for thinker in thinkers]
        depths = sorted({one.depth for result in results for one in result.history})
        depths = [*self.static_depths, *depths]
        lines = ["", self.title]
        lines.append(f"{'depth':>{width}}" + "".join(f"{depth:>11}" for depth in depths))
        rows = list(zip(titles, thinkers, results, strict=True))
        for (title, thinker, result), static in zip(rows, statics, strict=True):
            values = {0: static, **{one.depth: one.value for one in result.history}}
            cells = (_value(thinker.evaluator, values[d]) if d in values else "" for d in depths)
            lines.append(f"{title:>{width}}" + "".join(f"{cell:>11}" for cell in cells))
        return lines + self.moves(game, rows, position, roll)

    def moves(self, game: Any, rows: Rows, position: Any, roll: Any) -> list[str]:
        """Principal variations, and chances."""
        lines, width = ["", "Principal variations"], max(len(title) for title, _, _ in rows)
        for title, thinker, result in rows:
            drawn = None in result.drawn
            reached = "drawn" if drawn else _value(thinker.evaluator, result.value)
            lines.append(f"{title:>{width}}  {reached}  {result.pv_text}")
        if any(result.chances_text for _, _, result in rows):
            lines += ["", "Chances at the last depth"]
            for title, _, result in rows:
                lines.append(f"{title:>{width}}  {result.chances_text or 'not known'}")
        return lines


class _WithDice(_Plain):
    """A game with dice: its values before the roll, and the best moves with a roll."""

    depth, static_depths = 1, ()
    title = "Values for the side to move, before the roll"

    def read(self, options: argparse.Namespace, game: Any) -> tuple[Any, Any, int | None, str]:
        position, roll, left_out = read_situation(game, options.position.strip(), options.roll)
        return game, position, roll, left_out

    def moves(self, game: Any, rows: Rows, position: Any, roll: Any) -> list[str]:
        """Outcomes, and the best moves with the roll."""
        from play.players.chances import chances_text

        lines = []
        for title, thinker, result in rows:
            if thinker.evaluator.gives_outcomes and result.outcomes is not None:
                lines += ["", f"Outcomes by {title}"]
                static = thinker.evaluator.outcomes([position])[0]
                outcomes = zip(game.outcomes.names, static, result.outcomes, strict=True)
                for name, now, later in outcomes:
                    at = f", at depth {result.depth} {100 * later:6.2f} %" if result.depth else ""
                    lines.append(f"{name:>16}  {100 * now:6.2f} %{at}")
        for title, thinker, _ in rows if roll is not None else ():
            found = thinker.think(position, roll=roll, all_moves=True)
            lines += ["", f"Moves with {game.dice.text(roll)} by {title}, depth {found.depth}"]
            best = found.moves[0][1]
            given: Any = found.move_outcomes or [None] * len(found.moves)
            best_moves = zip(found.moves, given, strict=True)
            for (move, value), chances in islice(best_moves, MOST_MOVES):
                loss = f"{value - best:+.4f}" if value < best else ""
                text = chances_text(thinker.evaluator, position, value, found.nodes, chances)
                line = f"  {game.move_text(position, move):<24} {value:+.4f}  {loss:7}  {text}"
                lines.append(line.rstrip())
        return lines


def _value(evaluator: Evaluator, value: float) -> str:
    from games.values import value_text

    text = value_text(evaluator.in_units(value))
    return text.replace(" plies", "").replace(" ply", "")
