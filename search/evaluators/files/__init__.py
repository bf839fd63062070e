"""The files of evaluators: their header, arrays, inputs and layers, and those that are shipped."""
