"""Where evaluators meet opponents: matches, ratings, judgements."""

from games.extras import companions

companions(f"{__name__}.extras")
