"""The surroundings of programs: arguments, signals, locks, whole files, waiting and phrases.

All other packages may use it; it knows none of them.
"""
