"""The texts that name players: valid and invalid ones, in games with and without dice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from errors import errors_of

import games
from games import kernels
from games.checkers import Checkers
from games.contract import DiceGame
from games.kernels import kernel
from games.rolls import Rolls
from games.tic_tac_toe import TicTacToe
from play.__main__ import main
from play.matches.driver import play_match
from play.matches.openings import Openings
from play.players.grammar import GRAMMAR, PlayerText, quoted, split
from play.players.limits import STATIC, Limits
from play.players.parse import parse_player, seated
from play.players.player import Player
from search import as_evaluator, parse_techniques
from search.lookups.database import Databases
from search.lookups.rote import RoteMemory

pytestmark = pytest.mark.plain

CHECKERS = Checkers()
TIC_TAC_TOE = TicTacToe()


@kernel
def ahead(position):
    """Steps more than the other side."""
    return 1.0 * (position[0] - position[1])


class Race(DiceGame):
    """Two runners; a roll of one or two steps, and the first one home wins."""

    name = "race"
    dice = Rolls((0.5, 0.5))
    evaluators = {"ahead": ahead}

    def start(self) -> Any:
        return (0, 0)

    def legal_moves(self, position: Any, roll: int | None = None) -> list[Any]:
        return [1 + (roll or 0)]

    def play(self, position: Any, move: Any) -> Any:
        return (position[1], position[0] + move)

    def outcome(self, position: Any) -> float | None:
        return -1.0 if position[1] >= 6 else None

    def to_move(self, position: Any) -> int:
        return 0


RACE = Race()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("classic", PlayerText("classic")),
        ("classic+a+b", PlayerText("classic", ("a", "b"))),
        ("classic@selective,-singular", PlayerText("classic", (), ("selective", "-singular"))),
        ("a+b@c,d=1", PlayerText("a", ("b",), ("c", "d=1"))),
        # everything after the first @ is options, whatever characters it contains
        ("a@late_moves=1e+1", PlayerText("a", (), ("late_moves=1e+1",))),
        ("a@b@c", PlayerText("a", (), ("b@c",))),
        (r"C:\eval\one.json", PlayerText(r"C:\eval\one.json")),
        (
            r"C:\one.json+D:\two.safetensors@2",
            PlayerText(r"C:\one.json", (r"D:\two.safetensors",), ("2",)),
        ),
        ('"a+b@c,d"+"e+f"@x', PlayerText('"a+b@c,d"', ('"e+f"',), ("x",))),
        ('a@filters="b,c",singular', PlayerText("a", (), ('filters="b,c"', "singular"))),
        ('"say ""+"" so"', PlayerText('"say ""+"" so"')),
        ("", PlayerText("")),
    ],
)
def test_texts_are_taken_apart(text: str, parts: PlayerText) -> None:
    assert split(text) == parts


@pytest.mark.parametrize(
    "path", ["plain.json", "a+b.json", "a@b", "a,b", "C:/x.json", 'say "so"+.json', "two words"]
)
def test_quoted_paths_come_out_as_they_went_in(path: str) -> None:
    parts = split(f"{quoted(path)}+{quoted(path)}@selective")
    assert str(parts.source) == path
    assert parts.lookups == (quoted(path),) and parts.options == ("selective",)
    assert quoted("plain.json") == "plain.json"


def test_names_for_people_have_no_folders() -> None:
    assert split("/data/one.json+/data/two.safetensors@2").short == "one.json+two.safetensors@2"
    assert split('"/a+b/one.json"@selective').short == "one.json@selective"


@pytest.mark.parametrize(
    ("text", "limits", "options"),
    [
        ("open_lines", None, {}),
        ("open_lines@3", Limits(3), {}),
        ("open_lines@depth=3", Limits(3), {}),
        ("open_lines@nodes=500,seconds=0.25", Limits(nodes=500, seconds=0.25), {}),
        ("open_lines@exact", None, {"techniques": parse_techniques("exact", TIC_TAC_TOE)}),
        (
            "open_lines@-singular,4",
            Limits(4),
            {"techniques": parse_techniques("selective,-singular", TIC_TAC_TOE)},
        ),
        (
            "open_lines@exact,-aspiration,threads=2,table=0.5,4",
            Limits(4),
            {
                "techniques": parse_techniques("exact,-aspiration", TIC_TAC_TOE),
                "threads": 2,
                "table_mib": 0.5,
            },
        ),
    ],
)
def test_options_without_dice(text: str, limits: Limits | None, options: dict[str, Any]) -> None:
    player = parse_player(TIC_TAC_TOE, text)
    options = {"techniques": parse_techniques("selective", TIC_TAC_TOE), **options}
    assert (player.name, player.limits, player.options) == (text, limits, options)
    assert (player.lookup, player.program) == (None, None)
    assert player.within(Limits(7)) == (limits or Limits(7))


@pytest.mark.parametrize(
    ("text", "limits", "options"),
    [
        ("ahead", None, {}),
        ("ahead@0", Limits(0), {}),
        ("ahead@2:normal", Limits(2), {"filters": "normal"}),
        ("ahead@depth=2,filters=normal,threads=2", Limits(2), {"filters": "normal", "threads": 2}),
        ("ahead@nodes=500", Limits(nodes=500), {}),
    ],
)
def test_options_with_dice(text: str, limits: Limits | None, options: dict[str, Any]) -> None:
    player = parse_player(RACE, text)
    assert (player.name, player.limits, player.options) == (text, limits, options)


@pytest.mark.parametrize(
    ("limits", "mib"),
    [
        (Limits(99), 4), (Limits(nodes=262_144), 4), (Limits(nodes=300_000), 8),
        (Limits(99, nodes=1_000_000), 16), (Limits(seconds=0.05), 4), (Limits(seconds=0.5), 32),
        (Limits(nodes=1000, seconds=9.0), 4), (Limits(seconds=3600.0), 64),
    ],
)  # fmt: skip
def test_the_table_fits_the_limits_unless_the_player_says(limits: Limits, mib: float) -> None:
    seat = parse_player(TIC_TAC_TOE, "open_lines").seat(TIC_TAC_TOE, limits)
    assert seat.engine is not None and seat.engine._shared["table_mib"] == limits.table_mib == mib
    own = parse_player(TIC_TAC_TOE, "open_lines@table=0.25").seat(TIC_TAC_TOE, limits)
    assert own.engine is not None and own.engine._shared["table_mib"] == 0.25


def test_files_whose_names_hold_signs_of_the_grammar(tmp_path: Path) -> None:
    shipped = Path(__file__).resolve().parents[2] / "data" / "checkers" / "rootstrap.json"
    folder = tmp_path / "c++, a@b: 1"
    folder.mkdir()
    evaluator, memory = folder / "e.json", folder / "m.safetensors"
    evaluator.write_bytes(shipped.read_bytes())
    RoteMemory(CHECKERS, capacity=10, direction=0.0).save(memory)
    player = parse_player(CHECKERS, f"{quoted(evaluator)}+{quoted(memory)}@selective,3")
    assert isinstance(player.lookup, RoteMemory)
    assert player.limits == Limits(3)
    start = CHECKERS.start()
    assert player.evaluator is not None
    assert player.evaluator(start) == as_evaluator(CHECKERS, shipped)(start)
    assert seated(CHECKERS, quoted(evaluator), Limits(1)).name == "e.json"
    with pytest.raises(ValueError, match=r"expected EVALUATOR\+LOOKUP"):
        parse_player(CHECKERS, str(evaluator))


def test_the_limits_of_a_player_go_before_those_of_the_match() -> None:
    deep, shallow = (parse_player(TIC_TAC_TOE, f"open_lines@{depth}") for depth in (5, 1))
    openings = Openings(TIC_TAC_TOE, plies=1)
    match = play_match(
        TIC_TAC_TOE, deep, shallow, limits=Limits(3), games=2, openings=openings, threads=1
    )
    for number, record in enumerate(match.units[0].games):
        for ply, note in enumerate(record.annotations):
            if note.depth is not None:
                assert note.depth <= (5, 1)[(ply + number) % 2]
    assert any(note.depth > 1 for note in match.units[0].games[0].annotations[::2] if note.depth)


def test_seats_with_dice() -> None:
    assert parse_player(RACE, "ahead@0").seat(RACE, Limits(3)).limits == STATIC
    seat = parse_player(RACE, "ahead@nodes=50").seat(RACE, Limits(0))
    assert seat.limits == Limits(nodes=50)
    assert seat.choose((0, 0), 1) == 2
    assert Player("chance").seat(RACE, Limits(0)).random


@pytest.mark.parametrize("command", ["match", "rollout"])
def test_help_describes_players(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])
    contest = command in ("match", "ladder")  # elsewhere only evaluators are taken
    wanted = GRAMMAR if contest else GRAMMAR[GRAMMAR.index("EVALUATOR is") :]
    assert wanted in capsys.readouterr().out


@pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled")
def test_evaluators_consult_the_usual_database_where_it_pays() -> None:
    game = games.load("backgammon")
    for of, text, name in (
        (game, "wide", "bearoff"), (game, "wide@1", "bearoff"), (game, "hand+bearoff", "bearoff"),
        (game, "wide+none", None), (game, "wide+none@1", None), (game, "hand", None),
        (CHECKERS, "quantised", "results5"), (CHECKERS, "quantised@2", "results5"),
        (CHECKERS, "quantised+none", None), (CHECKERS, "classic", None),
        (CHECKERS, "level10", "results5"), (CHECKERS, "level9", None),
    ):  # fmt: skip
        lookup = parse_player(of, text).lookup
        assert getattr(lookup, "name", None) == name, text
    # in a race at home the seat of a match then plays what the tables say
    here = game.parse_position("XGID=-BBBB---------------bbbb--:0:0:1:21:0:0:0:0:10")
    values = {}
    for text in ("wide", "wide+none", "wide+bearoff"):
        seat = parse_player(game, text).seat(game, Limits(depth=0))
        values[text] = seat.think(here).whole().value
    assert values["wide"] == values["wide+bearoff"] != values["wide+none"]


def test_a_name_is_the_same_player_in_matches_at_the_board_over_hub_and_for_judges() -> None:
    game = games.load("checkers")
    for name in ("quantised", "classic", "classic@exact"):
        player = parse_player(game, name)
        thinker = seated(game, name, Limits(depth=2))
        assert thinker.engine.techniques == player.options["techniques"]
    assert player.options["techniques"].exact


def test_the_help_names_every_database() -> None:
    words = set(GRAMMAR.replace(",", " ").split())
    for name in games.names():
        named = Databases.of(games.load(name)).named
        assert {*named} - {"endgame2", "endgame3", "endgame4"} <= words


test_errors = errors_of(globals())
