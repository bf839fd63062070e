"""Gradient steps after a few games each: TD, TDLeaf, RootStrap, TreeStrap."""
