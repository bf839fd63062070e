"""An engine that dies ends a match of any kind; the games before stay, and are summed up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from play.__main__ import main
from play.players import parse
from play.players.player import Player

DEAD = "engine doomed: expected an answer, found that it has ended"


class Doomed:
    """A program that plays at random, and dies when it begins another game than its last."""

    def __init__(self, games: int) -> None:
        self.left = games

    def __call__(self, game: Any, limits: Any) -> Any:
        seat = Player("random").seat(game, limits)
        begin = seat.begin

        def counted(*arguments: int) -> None:
            self.left -= 1
            if self.left < 0:
                raise ChildProcessError(DEAD)
            begin(*arguments)

        seat.begin = counted
        return seat


class WithCube:
    """Seats with the cube that never double and always take."""

    def __init__(self, seat: Any) -> None:
        self.seat, self.begin = seat, seat.begin

    def decision(self, situation: Any) -> Any:
        return type("Decision", (), {"double": False, "take": True})

    def choose_at(self, situation: Any) -> Any:
        return self.seat.choose(situation.position, situation.roll)


@pytest.fixture
def doom(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Makes the player `doomed`, which dies after a number of games."""
    usual = parse.parse_player

    def doomed(games: int) -> None:
        program = Doomed(games)

        def parsed(game: Any, text: str, **options: Any) -> Player:
            return Player(text, program=program) if text == "doomed" else usual(game, text)

        monkeypatch.setattr(parse, "parse_player", parsed)
        sit = Player.seat

        def seat(player: Player, game: Any, limits: Any, *, cube: bool = False, **more: Any) -> Any:
            seated = sit(player, game, limits, **more)
            return WithCube(seated) if cube else seated

        monkeypatch.setattr(Player, "seat", seat)

    return doomed


KINDS = {
    "two": ("tic_tac_toe random", "games 4: won"),
    "dice": ("backgammon random", "games 4: won"),
    "cube": ("backgammon random --match 1", "matches 4: won"),
    "many": ("chinese_checkers hand hand --depth 1", "95 % intervals over 1 opening"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_match_keeps_the_games_played_before(
    kind: str, doom: Callable[[int], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, summary = KINDS[kind]
    game, *others = words.split()
    file = tmp_path / "games"
    command = ["match", game, "doomed", *others, "--games", "12", "--jobs", "1", "--quiet"]
    doom(4)
    assert main([*command, "--save", str(file)]) == 2
    out, err = capsys.readouterr()
    assert summary in out and DEAD in err
    assert f"the games that ended are in {file}; the same command with --resume continues" in err
    assert len(Path(f"{file}.journal").read_text().splitlines()) == (2 if kind == "many" else 3)
    # without a game there is nothing to keep
    doom(0)
    assert main(command) == 2
    assert DEAD in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["two", "dice", "many"])
def test_a_ladder_names_the_match_that_failed(
    kind: str, doom: Callable[[int], None], capsys: pytest.CaptureFixture[str]
) -> None:
    players = {
        "two": ["tic_tac_toe", "random", "open_lines", "doomed"],
        "dice": ["backgammon", "random", "wide", "doomed"],
        "many": ["chinese_checkers", "random", "hand", "steps", "doomed", "--depth", "1"],
    }[kind]
    doom(0)
    # one that cannot be started again ends it with --recover, too
    command = ["ladder", *players, "--games", "4", "--jobs", "1", "--quiet", "--json", "--recover"]
    assert main(command) == 2
    out, err = capsys.readouterr()
    seated = "random, hand, doomed" if kind == "many" else "random against doomed"
    assert f"stopped in {seated}: {DEAD}" in out and DEAD in err
    assert '"failure": ""' in out
