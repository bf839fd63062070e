"""The fast search for a goal, native over any problem's kernels: A*, IDA*, greedy, beam."""
