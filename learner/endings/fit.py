"""A network's phase for endings, fitted to what a database says of them.

The network keeps all other weights, so that it values every other position as before. The phase has
a first layer of its own, through an encoding with inputs for endings
(`games.checkers.encoding`: `ending_squares`, `phase_squares`). Labels are win, draw or loss and the
way to it, without noise. What it brought, and what it did not, stands in docs/results/checkers.md.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from games.contract import Game
from games.features import Encoding
from games.values import WIN
from games.whole_files import write_atomically
from learner.endings.positions import known_values
from learner.models.quantised_model import QuantisedModel
from learner.positions.positions import noisy, standard_keys
from search import Lookup
from search.evaluators.quantised import QuantisedNetwork

__all__ = ["EndingFit", "ending_targets", "taught"]

#: The expectation of a win in no plies; it falls by FALL in FAR plies, and no further.
NEAREST, FALL, FAR = 0.995, 0.1, 120
#: Positions whose expectation is this near to the target already are drawn with chance `share`,
#: and count 1 / sqrt(share) times.
NEAR = 0.1
#: Positions that are set aside and measure the fit.
TESTED = 50_000

Floats = NDArray[np.float64]


def ending_targets(values: Floats) -> Floats:
    """Returns expectations, 0 to 1, for a database's values: 1/2 for draws, nearer wins higher."""
    plies = WIN - np.abs(values)
    far = np.minimum(np.where(values == 0, 0, plies) / FAR, 1.0)
    return np.asarray(0.5 + np.sign(values) * (NEAREST - 0.5 - FALL * far))


class EndingFit:
    """The fit of a phase for endings; `taught` returns the network as it is now.

    game: the game.
    start: the network to teach; it values all other positions.
    lookup: the database, which knows every position with less than `border` inputs that are 1.
    inputs: an encoding of which the second half of the inputs is for endings: each is half its size
        above the input of `start` that it stands for. Or that of `start`, with inputs of their own
        for all positions below `border`.
    border: the first number of pieces (of inputs that are 1) that is no ending.
    positions: positions to learn from, int64 [positions, integers].
    excluded: positions that must not be learned from; nor those that are the same by symmetry.
    share: share of the positions which `start` values well that are learned from.
    folder: keeps the state after each epoch (None: nowhere); a fit with the same arguments goes on
        from there.
    seed: decides the order of the positions and which are tested.

    Raises ValueError for arguments that do not fit.
    """

    def __init__(
        self,
        game: Game,
        start: QuantisedNetwork,
        lookup: Lookup,
        inputs: Encoding,
        border: int,
        positions: NDArray[np.int64],
        *,
        excluded: Any = (),
        share: float = 0.35,
        folder: Path | None = None,
        seed: int = 0,
    ) -> None:
        if inputs == start.encoding:
            if border not in start.phases:
                raise ValueError(
                    f"border: expected one of the network's phases {start.phases}, found {border}"
                )
        elif len(inputs) != 2 * len(start.encoding):
            raise ValueError(
                f"inputs: expected {start.encoding.name} or an encoding of"
                f" {2 * len(start.encoding)} inputs, found {inputs.name} of {len(inputs)}"
            )
        if border < 1 or not 0 < share <= 1:
            raise ValueError(
                f"expected a border of at least 1 and a share from 0 to 1, found {border} and"
                f" {share}"
            )
        self.game, self.start, self.inputs, self.border = game, start, inputs, border
        self.folder, self.seed = folder, seed
        phase = sum(border > known for known in start.phases)
        first, *others = start.layers
        layers = [first, *((w[phase : phase + 1], b[phase : phase + 1]) for w, b in others)]
        alone = QuantisedNetwork(game, start.encoding, layers, scale=start.scale)
        self.model = QuantisedModel(
            game, start.encoding, start.widths[1:-1], scale=start.scale, size=2048, start=alone
        )
        self.model.parameters[1].requires_grad_(False)  # the bias is that of all phases
        random = np.random.default_rng((seed, 0))
        positions = self._usable(positions, excluded)
        values = known_values(game, lookup, positions)
        if np.isnan(values).any():
            raise ValueError("positions: expected such as the database knows, found others")
        targets = ending_targets(values)
        order = random.permutation(len(values))
        tested, learned = np.split(order, [min(TESTED, len(order) // 10)])
        self.tested = positions[tested], targets[tested]
        near = np.abs(self.model.expectations(positions[learned]) - targets[learned]) < NEAR
        chosen = ~near | (random.random(len(learned)) < share)
        self.weights = np.where(near, share**-0.5, 1.0)[chosen]
        self.positions, self.targets = positions[learned[chosen]], targets[learned[chosen]]
        self.epochs_done = 0
        self._resume()

    def _usable(self, positions: NDArray[np.int64], excluded: Any) -> NDArray[np.int64]:
        counts = (self.start.encoding.active_rows(positions) < len(self.start.encoding)).sum(axis=1)
        positions = positions[(counts < self.border) & ~noisy(self.game, positions)]
        keys = standard_keys(self.game, positions)
        _, first = np.unique(keys, return_index=True)
        if len(excluded):
            barred = standard_keys(self.game, np.array(excluded, dtype=np.int64))
            first = first[~np.isin(keys[first], barred)]
        return positions[np.sort(first)]

    def fit(
        self,
        epochs: int,
        *,
        rate: float = 0.001,
        last_rate: float = 0.00001,
        progress: Callable[[int, dict[str, float]], Any] = lambda epoch, figures: None,
    ) -> EndingFit:
        """Pass over the positions until `epochs` passes are done; returns the fit.

        rate, last_rate: step sizes of Adam at the beginning and at the end of all passes.
        progress: called after each pass with its number and figures, see `figures`.
        """
        fall = (last_rate / rate) ** (1 / epochs)
        while self.epochs_done < epochs:
            self.model.fit(
                self.positions,
                self.targets,
                self.weights,
                random=np.random.default_rng((self.seed, 1, self.epochs_done)),
                rate=rate * fall**self.epochs_done,
                last_rate=rate * fall ** (self.epochs_done + 1),
            )
            self.epochs_done += 1
            self._keep()
            progress(self.epochs_done, self.figures())
        return self

    def figures(self) -> dict[str, float]:
        """Returns the root mean square error of expectations and the share told apart right.

        Both are of positions that were not learned from. A draw is told by an expectation from 1/4
        to 3/4.
        """
        positions, targets = self.tested
        found = self.model.expectations(positions)
        right = np.round(2.0 * found) == np.round(2.0 * targets)
        return {"error": float(np.sqrt(np.mean((found - targets) ** 2))), "right": right.mean()}

    def taught(self, *, name: str = "") -> QuantisedNetwork:
        """Returns the network with its new phase as it is now.

        name: its name (default: that of `start`).
        """
        return taught(self.start, self.model.evaluator(), self.inputs, self.border, name=name)

    def _state_file(self) -> Path | None:
        return None if self.folder is None else self.folder / "endings.npz"

    def _keep(self) -> None:
        file = self._state_file()
        if file is not None:
            content = io.BytesIO()
            np.savez(content, epochs=self.epochs_done, **self.model.get_state())  # type: ignore[arg-type]
            write_atomically(file, content.getvalue())

    def _resume(self) -> None:
        file = self._state_file()
        if file is None or not file.is_file():
            return
        with np.load(file, allow_pickle=False) as arrays:
            state = dict(arrays)
        self.epochs_done = int(state.pop("epochs"))
        self.model.set_state(state)


def taught(
    start: QuantisedNetwork, alone: QuantisedNetwork, inputs: Encoding, border: int, name: str = ""
) -> QuantisedNetwork:
    """Returns `start` with the one phase of `alone` for positions with less than `border` inputs.

    The phase of `start` that holds `border` keeps what is above; phases below are dropped.
    """
    phase = sum(border >= known for known in start.phases)
    first = alone.layers[0][0]
    if inputs != start.encoding:
        first = np.concatenate([start.layers[0][0], first])
    layers: list[tuple[Any, Any]] = [(first, start.layers[0][1])]
    for (before, bias), (weights, own) in zip(start.layers[1:], alone.layers[1:], strict=True):
        layers.append(
            (np.concatenate([weights, before[phase:]]), np.concatenate([own, bias[phase:]]))
        )
    network = QuantisedNetwork(
        start.game,
        inputs,
        layers,
        phases=(border, *start.phases[phase:]),
        scale=start.scale,
        name=name or start.name,
        provenance=start.provenance,
    )
    network.calibration = start.calibration
    return network
