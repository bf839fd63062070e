"""Tests the gain of search techniques: `python -m benchmarks.techniques [NAME ...] [options]`.

Each technique plays, at the same time a move, against the same engine without it: a sequential
test of normalised Elo 0 against 10, of 4,000 games at most. A technique that passes is on in
`selective` (`search.alphabeta.techniques`), the others are off. The base is `exact` for the first
three tests; for the others it includes late-move reductions, because these change the shape of
trees. If two techniques pass that may affect each other, they are also tested together.

Results are saved after every hundred games (--results), and each pair as it ends in a journal
along with them. The same command continues a test that was stopped. --game and --evaluator test
another game, or another evaluator; give them --results of their own.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from tqdm import tqdm

import games
from play.matches.driver import play_match
from play.matches.journal import MatchJournal
from play.matches.openings import Openings
from play.players.grammar import quoted
from play.players.limits import Limits
from play.players.parse import parse_player
from play.ratings.sprt import Sprt
from play.ratings.statistics import Estimate, MatchSummary
from programs.ending import exit_status
from programs.whole_files import write_atomically
from search.evaluators.samples import value_mark

PROGRAM = "python -m benchmarks.techniques"
TEST = Sprt(0.0, 10.0)
#: The tests: name, the engine with the technique, the same engine without it.
TESTS: dict[str, tuple[str, str]] = {
    "null window": ("exact", "exact,-null_window"),
    "aspiration": ("exact", "exact,-aspiration"),
    "late-move reductions": ("exact,late_moves=1.2", "exact"),
    "singular extensions": ("exact,late_moves=1.2,singular=6", "exact,late_moves=1.2"),
}
CHUNK = 100


def test(name: str, options: argparse.Namespace, kept: dict[str, Any]) -> dict[str, Any]:
    """Play a test to its end, from where it stopped; returns its figures."""
    game = games.load(options.game)
    limit = {"seconds": options.seconds} if options.nodes is None else {"nodes": options.nodes}
    first, second = (
        parse_player(game, f"{quoted(options.evaluator)}@{techniques}")
        for techniques in TESTS[name]
    )
    setting = {
        "evaluator": options.evaluator,
        "mark": value_mark(game, first.evaluator),
        "seed": options.seed,
        "with": TESTS[name][0],
        "without": TESTS[name][1],
        **limit,
        "plies": options.plies,
    }
    entry: dict[str, Any] = kept.get(name, {})
    if any(entry.get(key) != value for key, value in setting.items()):
        entry = {**setting, "pairs": [], "verdict": "continue"}
    pairs: list[Any] = [tuple(pair) for pair in entry["pairs"]]
    with tqdm(total=options.games, initial=2 * len(pairs), unit=" games", desc=name) as bar:
        while entry["verdict"] == "continue" and 2 * len(pairs) < options.games:
            number = 2 * len(pairs) // CHUNK
            journal = options.results.with_name(f"{options.results.name}.journal")
            head = {"test": name, "chunk": number, **setting}
            with MatchJournal.open(journal, head, resume=None) as kept_pairs:
                match = play_match(
                    game,
                    first,
                    second,
                    limits=Limits(**limit),
                    games=CHUNK,
                    openings=Openings(game, plies=options.plies, seed=options.seed + number),
                    threads=options.threads,
                    journal=kept_pairs,
                )
            if match.interrupted:
                raise KeyboardInterrupt
            pairs += match.scores
            summary = MatchSummary.of_pairs(pairs)
            entry |= {
                "pairs": pairs,
                "verdict": TEST.verdict(summary.tally),
                "llr": TEST.llr(summary.tally),
                "games": summary.games,
                "wins": summary.wins,
                "draws": summary.draws,
                "losses": summary.losses,
                "elo": summary.elo.plain(),
                "normalised_elo": summary.normalised_elo.plain(),
            }
            kept[name] = entry
            write_atomically(options.results, json.dumps(kept) + "\n")
            journal.unlink(missing_ok=True)
            bar.update(CHUNK)
            bar.set_postfix_str(f"LLR {entry['llr']:.2f}")
    return entry


def line(name: str, entry: dict[str, Any]) -> str:
    """Returns a row of the table."""
    verdict = {"accept H1": "on", "accept H0": "off"}.get(entry["verdict"], "off (undecided)")
    elo = Estimate(*entry["elo"]).text("+.0f")
    return (
        f"| {name} | `{entry['with']}` v `{entry['without']}` | {entry['games']} | {entry['wins']}"
        f" / {entry['draws']} / {entry['losses']} | {elo} |"
        f" {entry['llr']:.2f} | {verdict} |"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run the named tests, and print a row for each; returns the exit status."""
    parser = argparse.ArgumentParser(prog=PROGRAM, description=__doc__)
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help=f"of {', '.join(TESTS)} (all)")
    add("--game", default="checkers")
    add("--evaluator", default="data/checkers/network.safetensors")
    add("--seconds", type=float, default=0.02, help="time for a move (0.02)")
    add("--nodes", type=int, help="nodes for a move, instead of time")
    add("--games", type=int, default=4000, help="maximum number of games (4000)")
    add("--plies", type=int, default=6, help="length of the openings (6)")
    add("--seed", type=int, default=0)
    add("--threads", type=int, default=2)
    add("--results", type=Path, default=Path("runs/techniques.json"))
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in TESTS]
    if unknown:
        parser.error(f"expected names among {', '.join(TESTS)}, found {', '.join(unknown)}")
    return exit_status(PROGRAM, lambda: run(options), stopped="stopped; the same command continues")


def run(options: argparse.Namespace) -> int:
    """Run the tests that the options name."""
    options.results.parent.mkdir(parents=True, exist_ok=True)
    kept = json.loads(options.results.read_text()) if options.results.is_file() else {}
    for name in options.names or TESTS:
        print(line(name, test(name, options, kept)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
