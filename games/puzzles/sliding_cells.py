"""The cells of sliding tiles: what a tile is by where its home lies from the square it is on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games.features.cells import Cells, Kind
from games.kernels import family
from games.puzzles import sliding_kernels

__all__ = ["cells_of_tiles"]

#: The direction of a tile's home, down and to the right, as signs; 2 for either but 0.
WAYS = {
    "tile at home": (0, 0),
    "tile due right": (0, 1),
    "tile due left": (0, -1),
    "tile due down": (1, 0),
    "tile due up": (-1, 0),
    "tile astray": (2, 2),
}
#: Steps are counted one by one on boards of so few squares, on larger ones by twos.
FEW = 16


def cells_of_tiles(constants: Mapping[str, Any]) -> Cells:
    """Returns the cells of the board and the goal that the constants of its kernels describe."""

    def kernel_of(*names: str, **more: Any) -> Any:
        functions = [getattr(sliding_kernels, name) for name in names]
        return getattr(family(*functions, **constants, **more), names[-1])

    width, height = constants["WIDTH"], constants["HEIGHT"]
    few = width * height <= FEW
    nothing = kernel_of("nothing")
    kinds = {
        name: Kind(kernel_of("tile_at", "is_way", "due", DOWN=down, RIGHT=right), nothing)
        for name, (down, right) in WAYS.items()
    }
    steps = kernel_of("tile_at", "manhattan", "steps_to_go", TOGETHER=1 if few else 2)
    kinds["blank"] = Kind(kernel_of("free"), nothing)
    kinds["step to go" if few else "two steps to go"] = Kind(steps, nothing, amount=True)
    return Cells(
        rows=height,
        columns=width,
        bits={square: square for square in range(width * height)},
        kinds=kinds,
        swap=kernel_of("at_goal"),
        alone=True,
    )
