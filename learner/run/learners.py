"""The learner of a run's settings, with the user's features."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from games.contract import Game
from games.feature_file import load_features
from games.features import FeatureSet
from games.problem import Problem
from learner.frame import Learner
from learner.models.model import inputs_of
from learner.run.folder import FEATURES
from learner.run.recipes import recipe_of
from learner.run.settings import ZERO, RunSettings, code_in

__all__ = ["feature_file", "make_learner"]


def feature_file(settings: RunSettings, folder: Path, *, resume: bool) -> Path | None:
    """Returns the user's file of features, or None if the settings name none.

    folder: the folder of the run, which has a copy.
    resume: whether the run has begun.

    Raises FileNotFoundError if the file does not exist, and ValueError if it is not the file that a
    resumed run began with.
    """
    if not code_in("features", settings.features):
        return None
    path, copy = Path(settings.features or ""), folder / FEATURES
    if not path.is_file():
        raise FileNotFoundError(f"{path}: expected a file with features, found none")
    if resume and (not copy.is_file() or path.read_bytes() != copy.read_bytes()):
        raise ValueError(
            f"{path}: expected the file that the run began with, of which {copy} is a copy"
        )
    return path


def make_learner(
    game: Any, settings: RunSettings, workers: Any, *, file: Path | None = None
) -> Learner:
    """Returns the learner that the settings name; a file adds its terms to the usual feature set.

    Raises ValueError for a file or a set of features that the learner cannot learn over, and the
    errors of `load_features`.
    """
    kind = recipe_of(settings.learner, game).load()
    options = dict(settings.options)
    usual = kind().get_params(deep=False)
    if isinstance(game, Problem):
        base = () if settings.start in (None, ZERO) else tuple(str(settings.start).split("+"))
        options = {"encoding": settings.features, "base": base, **options}
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
