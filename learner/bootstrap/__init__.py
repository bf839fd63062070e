"""Self-play in batches; values follow search: TD, TDLeaf, RootStrap, TreeStrap."""
