"""The programs of the truth suite, and the kinds that each is about.

A program states more than these, mostly fractions of 0 and 1. A window is of one kind, as a user would who follows
up on a finding; TRUTH_KINDS=all has windows of all kinds at once.
"""

PROGRAMS = {
    "IntMasked": ["silent_store"],
    "LongDead": ["dead_store"],
    "DoubleNear": ["silent_store"],
    "FloatPartial": ["silent_load"],
    "ArrayCopies": ["silent_store"],
    "CostlyPhases": ["dead_store"],
}

# On every collector: what collectors treat differently.
EVERY_COLLECTOR = []
