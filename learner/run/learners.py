"""The learner of a run's settings, with the user's features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from games.contract import Game
from games.feature_file import file_digest, load_features
from games.features import FeatureSet
from games.problem import Heuristic, Problem
from learner.frame import Learner
from learner.models.model import inputs_of
from learner.run.asked import ZERO
from learner.run.recipes import recipe_of
from learner.run.settings import RunSettings

__all__ = ["checked_options", "feature_file", "make_learner"]

#: Options of learners that train.py has options of its own for, or that a run decides.
RESERVED = {"game", "games", "depth", "nodes", "seed", "workers", "store"}


def checked_options(kind: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options as given.

    Raises ValueError for an option that the learner lacks, or of a wrong type.
    """
    hints = get_type_hints(kind)
    valid = set(kind().get_params(deep=False)) - RESERVED
    unknown = set(options) - valid
    if unknown:
        raise ValueError(
            f"--set: expected one of {', '.join(sorted(valid))}; found {', '.join(sorted(unknown))}"
        )
    for name, value in options.items():
        if not _fits(value, hints[name]):
            hint = hints[name]
            expected = hint.__name__ if type(hint) is type else hint
            raise ValueError(f"--set {name}: expected {expected}, found {value!r}")
    return dict(options)


def _fits(value: Any, hint: Any) -> bool:
    """Returns whether a value is of the type that an option is declared with."""
    if hint is Any:
        return True
    parts = get_args(hint) if get_origin(hint) is UnionType else (hint,)
    kinds = [get_origin(part) or part for part in parts]
    if isinstance(value, int) and not isinstance(value, bool):
        return int in kinds or float in kinds
    return type(value) in kinds or (isinstance(value, list) and tuple in kinds)


def feature_file(settings: RunSettings, *, resume: bool) -> tuple[RunSettings, Path | None]:
    """Returns the settings with the digest of the user's file of features, and the file.

    The file is None if the user gave none. Raises FileNotFoundError if the file does not exist, and
    ValueError if it is not the file that a resumed run began with.
    """
    if not (settings.features or "").endswith(".py"):
        return settings, None
    path = Path(settings.features or "")
    if not path.is_file():
        raise FileNotFoundError(f"{path}: expected a file with features, found none")
    digest = file_digest(path)
    if resume and digest != settings.feature_digest:
        raise ValueError(
            f"{path}: expected the file that the run began with (SHA-256"
            f" {(settings.feature_digest or 'unknown')[:12]}), found one with {digest[:12]}"
        )
    return replace(settings, feature_digest=digest), path


def make_learner(
    game: Any, settings: RunSettings, workers: Any, *, file: Path | None = None
) -> Learner:
    """Returns the learner that the settings name; a file adds its terms to the usual feature set.

    Raises ValueError for options that the learner does not take, for an unknown encoding or
    heuristic of a problem, and the errors of `load_features`.
    """
    kind = recipe_of(settings.learner, game).load()
    options = checked_options(kind, settings.options)
    usual = kind().get_params(deep=False)
    if isinstance(game, Problem):
        options = _problem_options(game, settings, options)
    else:
        options = _game_options(game, settings, {**usual, **options}, options, file)
    given = {"games": settings.games, "depth": settings.depth, "nodes": settings.nodes}
    given |= {"seed": settings.seed, "workers": workers}
    options |= {name: value for name, value in given.items() if name in usual}
    made: Learner = kind(game, **options)
    return made


def _game_options(
    game: Game,
    settings: RunSettings,
    whole: Mapping[str, Any],
    options: dict[str, Any],
    file: Path | None,
) -> dict[str, Any]:
    """Returns the options of a learner of games, with the inputs that the settings ask for.

    whole: all options of the learner, `options` among them.
    """
    name = "inputs" if "inputs" in whole else "features"
    named = inputs_of(game) if name == "inputs" else dict(game.features)
    if name not in whole:
        if settings.features is not None:
            raise ValueError(
                f"--features: expected none for {settings.learner}, which learns no weights over"
                f" terms; found {settings.features!r}"
            )
    elif file is None and settings.features is not None:
        options[name] = settings.features
    elif options.get("tuples") is not None:
        pass  # a layout names its inputs itself
    elif name not in options and not _known(whole[name], named) and (named or file is None):
        if not named:
            raise ValueError(f"expected a game with features, found {game.name}, which has none")
        options[name] = next(iter(named))
    if file is not None:
        options |= _with_file(game, settings.learner, name, {**whole, **options}, file)
    return options


def _problem_options(
    problem: Problem, settings: RunSettings, options: dict[str, Any]
) -> dict[str, Any]:
    """Returns the options of a learner of a heuristic.

    The `start` of the settings names the heuristics to begin from, with + between them.
    """
    start = settings.start
    base = () if start in (None, ZERO) else tuple(str(start).split("+"))
    for name in (*base, *settings.opponents):
        if not isinstance(problem.evaluators.get(name), Heuristic):
            named = [n for n, e in problem.evaluators.items() if isinstance(e, Heuristic)]
            raise ValueError(
                f"expected heuristics of {problem.name} ({', '.join(named) or 'none'}) or {ZERO},"
                f" found {name!r}"
            )
    return {"encoding": settings.features, "base": base, **options}


def _known(name: Any, known: dict[str, Any]) -> bool:
    """Returns whether a game has the feature set or encodings that NAME or NAME+NAME names."""
    return all(part in known for part in str(name).split("+"))


def _with_file(
    game: Game, learner: str, name: str, options: dict[str, Any], file: Path
) -> dict[str, Any]:
    """Returns the options with which a learner adds the terms of a file to its feature set."""
    chosen: Any = options[name]
    if chosen in game.encodings:
        sets = ", ".join(game.features) or "of your own"
        raise ValueError(
            f"--features {file}: {learner} reads the encoding {chosen} of a position and no terms:"
            f" expected --set {name}=NAME for a feature set ({sets}) instead, or a learner of"
            " weights over terms (samuel, td, tdleaf, rootstrap, treestrap, batch)"
        )
    if game.features and chosen not in game.features:
        raise ValueError(
            f"--set {name}: expected one of {', '.join(game.features)}, found {chosen!r}"
        )
    base: FeatureSet | None = game.features.get(chosen)
    features = load_features(file, game, base)
    result: dict[str, Any] = {name: features}
    if "library" in options and options["library"] is None and base is not None:
        # else they would wait in the reserve, behind all others
        own = [term for term in features.names if term not in base.terms]
        result["library"] = (*own, *(term for term in features.names if term not in own))
    return result
