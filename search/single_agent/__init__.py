"""The fast search for a goal, native for any problem with kernels: A*, IDA*, greedy, beam."""
