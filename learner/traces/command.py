"""Fit the weights of an evaluation function, of whatever engine, to traces of its positions."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from learner.options import LOSSES
from play.commands.options import check_writable
from programs.arguments import Parser
from programs.ending import exit_status

if TYPE_CHECKING:
    from learner.traces.fitted import Fitted
    from learner.traces.traces import Traces

PROGRAM = "python -m learner.traces.command"


def parser(program: str = PROGRAM) -> argparse.ArgumentParser:
    """Returns the command line."""
    result = Parser(prog=program, description=__doc__)
    add = result.add_argument
    add("traces", nargs="+", type=Path, help="files .npz or .csv; see docs/authors.md")
    add("--game", help="the files are games, or a .csv with positions, of this game")
    add("--features", metavar="NAME", help="with --game: a feature set, or a file of your own")
    add("--output", type=Path, default=Path("fit"), metavar="FOLDER", help="default: fit")
    add("--terms", type=Path, metavar="FILE", help="weights to start from, bounds, groups: a .csv")
    add("--loss", choices=LOSSES, default="cross_entropy", help="default: cross_entropy")
    add(
        "--blend",
        type=float,
        default=0.5,
        help="share of the result, the rest is the value's (default 0.5)",
    )
    add("--alpha", type=float, help="penalty of squares (default: chosen)")
    add("--scale", type=float, metavar="K", help="a value's logit is K times it (default: fitted)")
    add("--unit", metavar="TERM=NUMBER", help="write weights in a unit in which TERM has this one")
    add("--held-out", type=float, default=0.1, help="share of the games that judge (default 0.1)")
    add("--seed", type=int, default=0, help="decides which games these are (default 0)")
    add("--integers", action="store_true", help="round the weights for C and Rust")
    add("--patch", type=Path, action="append", default=[], metavar="FILE",
        help="a source file with comments fit:NAME, whose numbers are replaced")  # fmt: skip
    add(
        "--play",
        metavar="WORDS",
        help="the words of a match, such as 'checkers hub:{}/engine --nodes 2000'; {} is a copy of"
        " --source, with the fitted weights and without",
    )
    add("--source", type=Path, metavar="FOLDER", help="with --play: your engine's folder; it stays")
    add("--build", metavar="COMMAND", help="with --play: builds the engine, in each copy")
    add("--quiet", action="store_true", help="no line for each step")
    return result


def main(arguments: list[str] | None = None, program: str = PROGRAM) -> int:
    """Run the command; returns its exit status. `program` is the name in usage and errors."""
    options = parser(program).parse_args(arguments)
    return exit_status(program, lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    from learner.traces.engine_match import EngineMatch
    from learner.traces.fit import Settings, fit_traces
    from learner.traces.output import patched, report, spots, write_all
    from learner.traces.parameters import Term, read_terms
    from learner.traces.traces import TraceError
    from programs.whole_files import write_atomically

    settings = Settings(
        loss=options.loss, blend=options.blend, alpha=options.alpha, scale=options.scale,
        held_out=options.held_out, seed=options.seed,
    )  # fmt: skip
    unit = None if options.unit is None else _unit(options.unit)
    contest = None
    if options.play is not None:
        if options.source is None or not options.build or not options.patch:
            raise ValueError("--play: expected --source, --build and --patch as well, found fewer")
        contest = EngineMatch(options.play, options.build, options.source, options.patch)
    traces = _traces(options)
    written = [spot for path in options.patch for spot in spots(path, traces.names)[1]]
    asked = {spot.term: Term(float(spot.text)) for spot in written}
    asked |= {} if options.terms is None else read_terms(options.terms)
    if unit is not None and unit[0] not in traces.names:
        raise TraceError(
            f"--unit: expected a term of {', '.join(traces.names[:8])}, found {unit[0]}"
        )
    fixed = {name: f"{term.weight:g}" for name, term in asked.items() if term.fixed and term.weight}
    if unit is not None and fixed and fixed.get(unit[0]) != f"{unit[1]:g}":
        held = ", ".join(f"{name} {weight}" for name, weight in fixed.items())
        raise TraceError(f"--unit: expected the unit of the fixed terms, found {held}")

    check_writable("--output", options.output / "report.txt")

    def say(text: str) -> None:
        if not options.quiet:
            print(text, file=sys.stderr, flush=True)

    fitted = fit_traces(traces, asked, settings, say=say)
    if unit is not None:
        fitted = _in_unit(fitted, *unit)
    changes = [(path, *patched(path, fitted)) for path in options.patch]
    write_all(options.output, fitted, options.integers)
    print(report(fitted))
    for path, _, difference in changes:
        print(difference or f"{path}: nothing to change")
    sys.stdout.flush()  # where nobody reads on, no file is changed
    print(f"written: {options.output}")
    if contest is not None:
        print(contest.play({path: new for path, new, _ in changes}, options.output, say))
        return 0
    for path, new, _ in changes:
        write_atomically(path, new)
    return 0


def _traces(options: argparse.Namespace) -> Traces:
    import games
    from games.feature_file import add_features
    from games.features import FeatureSet
    from games.problem import refuse_problem
    from learner.traces.positions import traces_of
    from learner.traces.reading import read_traces

    if options.game is None:
        if options.features is not None:
            raise ValueError("--features: expected --game as well, found none")
        return read_traces(options.traces)
    game = games.load(options.game)
    refuse_problem(game)
    name = options.features
    if name is not None and name.endswith(".py"):
        game = add_features(game, name)
        name = Path(name).stem
    sets = {own: one for own, one in game.features.items() if isinstance(one, FeatureSet)}
    if name is None and sets:
        name = next(iter(sets))
    if name not in sets:
        raise ValueError(f"--features: expected one of {', '.join(sets) or 'none'}, found {name}")
    return traces_of(options.traces, game, sets[name])


def _unit(text: str) -> tuple[str, float]:
    name, _, number = text.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        value = 0.0
    if not name or not value or value - value != 0:
        raise ValueError(f"--unit: expected TERM=NUMBER, such as men=100, found {text!r}")
    return name, value


def _in_unit(fitted: Fitted, name: str, number: float) -> Fitted:
    """Returns the same fit in a unit in which the weight of a term is `number`."""
    from learner.traces.doubts import great_entries
    from learner.traces.traces import TraceError

    weight = next(term.weight for term in fitted.terms if term.name == name)
    factor = number / weight if weight else 0.0
    if not factor > 0:
        raise TraceError(f"--unit: expected a weight of the sign of {number:g}, found {weight:.4g}")
    terms = tuple(
        replace(
            term,
            start=term.start * factor,
            weight=term.weight * factor,
            error=term.error * factor,
            pull=term.pull * factor,
        )  # fmt: skip
        for term in fitted.terms
    )
    told = (*fitted.doubts, *great_entries(terms, name, number))
    return replace(fitted, terms=terms, scale=fitted.scale / factor, doubts=told)


if __name__ == "__main__":
    sys.exit(main())
