"""Where evaluators meet opponents: matches, ratings, judgements."""
