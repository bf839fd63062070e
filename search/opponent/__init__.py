"""Search against an opponent who errs, by a model of the moves that he chooses."""
