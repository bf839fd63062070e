"""Runs that are repeated, begun from several seeds or from a file, and listed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from errors import errors_of

from games import kernels
from learner.run import command_line, runs
from learner.run.repeat import compared
from learner.run.request import settings_of, with_config
from learner.run.seeds import lines_of, seeds_of
from learner.run.settings import RunSettings, write_settings

pytestmark = pytest.mark.skipif(not kernels.compiled, reason="takes too long uncompiled")

TINY = [
    *("tic_tac_toe", "--learner", "td", "--games", "20", "--depth", "1", "--quiet"),
    *("--snapshots", "1", "--snapshot-games", "2", "--final-games", "2", "--match-games", "4"),
]


def train(*arguments: object) -> int:
    return command_line.main([str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of runs by seeds 3 and 4."""
    folder = tmp_path_factory.mktemp("runs") / "seeds"
    assert train(*TINY, "--seeds", "3..4", "--run", folder) == 0
    return folder


@pytest.mark.whole_run
def test_a_run_is_repeated_from_its_folder_alone(seeds: Path, tmp_path: Path, capsys: Any) -> None:
    again = tmp_path / "again"
    assert train("--repeat", seeds / "3", "--run", again, "--quiet") == 0
    assert f"files are those of {seeds / '3'}, bit for bit" in capsys.readouterr().out
    assert (again / "best.json").read_bytes() == (seeds / "3" / "best.json").read_bytes()
    # files that differ are named
    (again / "log.csv").write_text("other")
    assert "1 of " in compared(seeds / "3", again)
    # a second time the folder is not empty
    assert train("--repeat", seeds / "3", "--run", again, "--quiet") == 2
    assert "expected a new folder, found one that holds files" in capsys.readouterr().err
    # other code is told, and is a reason to stop
    record = seeds / "3" / "provenance.json"
    kept = record.read_text()
    content = json.loads(kept)
    content[-1]["learner"]["learner.gradient.temporal_difference"] = "0"
    record.write_text(json.dumps(content))
    assert train("--repeat", seeds / "3", "--run", tmp_path / "other", "--quiet") == 2
    said = capsys.readouterr().err
    assert "found module learner.gradient.temporal_difference changed" in said
    record.write_text(kept)


@pytest.mark.whole_run
def test_each_seed_is_a_run_of_its_own(seeds: Path, tmp_path: Path, capsys: Any) -> None:
    assert train(*TINY, "--seed", "4", "--run", tmp_path / "one") == 0
    assert (seeds / "4/best.json").read_bytes() == (tmp_path / "one/best.json").read_bytes()
    capsys.readouterr()
    # finished seeds are not run again, and others join
    assert train(*TINY, "--seeds", "3..5", "--run", seeds) == 0
    told = capsys.readouterr().out
    assert f"{seeds}/4 was finished before" in told
    scores = []
    for seed, score in ((3, 0.5), (4, 0.75), (5, 1.0)):
        report = json.loads((seeds / f"{seed}/report.json").read_text())
        scores.append(report["matches"][0]["score"])
        report["matches"] = [{**report["matches"][0], "score": score}]
        (tmp_path / str(seed)).mkdir()
        (tmp_path / str(seed) / "report.json").write_text(json.dumps(report))
    assert f"3 seeds: {', '.join(f'{score:.1%}' for score in scores)}" in told
    # Student's t with two degrees of freedom: 4.303 * 0.25 / sqrt(3), within 0 and 1
    assert lines_of([tmp_path / str(seed) for seed in (3, 4, 5)]) == [
        "against   random: 75.0% [12.9%, 100.0%] of the points, 3 seeds: 50.0%, 75.0%, 100.0%"
    ]
    # other settings are not mixed with these
    assert train(*TINY, "--set", "rate=0.25", "--seeds", "3..5", "--run", seeds) == 2
    assert "found one with another rate; give another --run" in capsys.readouterr().err


@pytest.mark.plain
def test_seeds_are_two_numbers(capsys: Any) -> None:
    assert [*seeds_of("0..9")] == [*range(10)]
    for text in ("3", "4..3", "a..b", "0..1000", "-1..2"):
        with pytest.raises(ValueError, match=r"--seeds: expected A..B with at most 1000 seeds"):
            seeds_of(text)
    assert lines_of([]) == ["no matches were played"]
    assert train("nim", "--seeds", "0..1", "--seed", "1") == 2
    assert "--seed: expected none with --seeds, found 1" in capsys.readouterr().err


@pytest.mark.whole_run
def test_a_file_of_options_is_what_would_be_typed(seeds: Path, tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(
        'game = "tic_tac_toe"\nlearner = "td"\ngames = 7\ndepth = 1\nquiet = true\nseed = 3\n'
        "snapshots = 1\nsnapshot_games = 2\nfinal-games = 2\nmatch_games = 4\n"
        'opponents = ["random"]\n'
        "[set]\nrate = 0.125\n"
    )
    run = tmp_path / "run"
    assert train("--config", file, "--games", "6", "--run", run) == 0
    kept = json.loads((run / "options.json").read_text())
    assert (kept["games"], kept["seed"], kept["opponents"]) == (6, 3, ["random"])
    assert kept["options"]["rate"] == 0.125


@pytest.mark.plain
def test_a_file_of_options_is_read_by_the_program_itself(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run.toml").write_text('game = "nim"\nlearner = "magic"\n')
    monkeypatch.setattr("sys.argv", ["train.py", "--config", str(tmp_path / "run.toml")])
    assert command_line.main() == 2
    assert "--learner: expected one of samuel, " in capsys.readouterr().err


@pytest.mark.plain
def test_options_that_differ_are_named_whether_read_from_a_file_or_typed(tmp_path: Path) -> None:
    def asked(*more: str) -> RunSettings:
        typed = ["chinese_checkers", "--learner", "network", *more]
        return settings_of(command_line.parser().parse_args(typed))

    assert asked().options["hidden"] == (16,)  # a list in the file
    write_settings(tmp_path, asked())
    kept = RunSettings.read(tmp_path)
    assert asked().unlike(kept) == []
    other = asked("--seed", "3", "--set", "hidden=[8]", "--set", "rate=0.5")
    assert other.unlike(kept) == kept.unlike(other) == ["seed", "hidden", "rate"]


@pytest.mark.plain
def test_tuples_take_the_place_of_the_usual_inputs_and_start() -> None:
    def asked(typed: str) -> RunSettings:
        return settings_of(command_line.parser().parse_args(typed.split()))

    walks = " --learner td --set tuples=walks:40,5"
    assert asked("checkers --learner td").start == "material"
    assert asked(f"checkers{walks}").start is None
    assert asked(f"checkers{walks} --from mine.json").start == "mine.json"
    assert "inputs" in asked("backgammon --learner td").options
    assert "inputs" not in asked(f"backgammon{walks}").options


#: Wrong arguments, by the modules that are not imported for them; later ones need more.
EARLY = {
    ("numpy", "search"): [
        "checkers --learner magic", "checkers --set magic=3", "checkers --set epochs=many",
        "checkers --learner td --set rate=7", "checkers --learner rote --set rate=0.5",
        "checkers --games 0", "checkers --seed -1", "checkers --jobs 0", "checkers --depth -1",
        "checkers --snapshots 0", "chess", "checkers --changed",
        "--resume nowhere", "--config nowhere",
    ],
    ("search", "sklearn", "torch"): ["checkers --set rate=0.5", "sliding8 --depth 5"],
    ("sklearn", "torch"): [
        "checkers --opponents nobody", "checkers --backend magic", "sliding8 --from nobody",
        "checkers --learner rote --jobs 2",
    ],
}  # fmt: skip
REFUSE = """
import sys, train
for line in sys.stdin.read().splitlines():
    try:
        status = train.main(line.split())
    except SystemExit as left:
        status = left.code
    print(status, *sys.modules)
"""


@pytest.mark.plain
def test_wrong_arguments_are_refused_before_anything_slow_is_imported() -> None:
    lines = [line for lines in EARLY.values() for line in lines]
    done = subprocess.run(
        [sys.executable, "-c", REFUSE], input="\n".join(lines), capture_output=True, text=True,
        timeout=300, check=True,
    )  # fmt: skip
    assert len(done.stderr.splitlines()) == len(lines)
    for line, told in zip(lines, done.stdout.splitlines(), strict=True):
        status, *modules = told.split()
        (late,) = [names for names, some in EARLY.items() if line in some]
        assert status == "2" and not set(late) & {*modules}, line


def configured(tmp_path: Path, text: str) -> None:
    """Reads a file of options as the program does."""
    (tmp_path / "run.toml").write_text(text)
    arguments = ["--config", str(tmp_path / "run.toml")]
    read = command_line.parser()
    with_config(read, read.parse_args(arguments), arguments)


@pytest.mark.whole_run
def test_runs_are_listed(seeds: Path, capsys: Any) -> None:
    assert runs.main([str(seeds), "--sort", "folder", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["folder"] for row in rows][:2] == ["3", "4"]
    first = rows[0]
    assert (first["game"], first["learner"], first["state"]) == ("tic_tac_toe", "td", "finished")
    assert {"seed": 3, "games": 20, "match_games": 4}.items() <= first["options"].items()
    assert first["hours"] >= 0
    assert first["matches"] == json.loads((seeds / "3/report.json").read_text())["matches"]
    assert runs.main([str(seeds), "--against", "random", "--sort", "strength"]) == 0
    told = capsys.readouterr().out
    assert "against   random:" in told
    assert "open_lines:" not in told
    assert runs.main([str(seeds / "nothing")]) == 2
    assert "expected a folder with runs, found none" in capsys.readouterr().err
    assert runs.main([str(seeds), "--game", "nim"]) == 0
    assert capsys.readouterr().out == f"no runs to list in {seeds}\n"
    assert runs.main([str(seeds), "--against", "nobody"]) == 0
    assert capsys.readouterr().out == f"no runs to list in {seeds}\n"


MATCH = {"opponent": "random", "games": 4, "wins": 2, "draws": 0, "losses": 2, "score": 0.5,
         "value": 0.0, "low": None, "high": 9.0, "unit": "Elo"}  # fmt: skip
WRONG = ("1e400", "-1e400", "NaN", "null", '"x"', "[]", "{}", '"\x1b[31m"', "true", "-7")


def test_one_bad_folder_does_not_end_the_list(tmp_path: Path, capsys: Any) -> None:
    options = {"game": "nim", "learner": "td", "games": 20, "seed": 1}
    texts = {"good": (json.dumps(options), json.dumps({"matches": [MATCH]}), "game,hours\n4,1.5\n")}
    for i, wrong in enumerate(WRONG):
        for name in ("games", "seed", "learner"):
            bad = json.dumps({**options, name: "?"}).replace('"?"', wrong)
            texts[f"option-{name}-{i}"] = (bad, *texts["good"][1:])
        for name in ("games", "score", "value", "low", "unit", "opponent"):
            bad = json.dumps({"matches": [{**MATCH, name: "?"}]}).replace('"?"', wrong)
            texts[f"match-{name}-{i}"] = (texts["good"][0], bad, texts["good"][2])
        bad = '{"matches": ?}'.replace("?", wrong)
        texts[f"matches-{i}"] = (texts["good"][0], bad, f"game,hours\n4,{wrong}\n")
    for name, (asked, report, hours) in texts.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "log.csv").write_text("game\n")
        for file, text in (("options", asked), ("report", report)):
            (tmp_path / name / f"{file}.json").write_text(text)
        (tmp_path / name / "hours.csv").write_text(hours)
    os.mkfifo(tmp_path / "good" / "snapshots.csv")
    (tmp_path / "matches-0" / "report.json").unlink()
    os.mkfifo(tmp_path / "matches-0" / "report.json")
    for more in ([], ["--sort", "strength"], ["--sort", "hours"], ["--against", "random"]):
        assert runs.main([str(tmp_path), *more]) == 0
        out, err = capsys.readouterr()
        assert "against   random:  50.0 % of 4 games" in out and err == ""
        assert not any(word in out for word in ("inf %", "nan %", "inf h", "nan h", "\x1b"))


test_errors = errors_of(globals())
