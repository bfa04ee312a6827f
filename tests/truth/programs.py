"""The programs of the truth suite, and the kinds that each is about.

A program states more than these, mostly fractions of 0 and 1. A window is of one kind, as a user would who follows
up on a finding; TRUTH_KINDS=all has windows of all kinds at once.
"""

PROGRAMS = {
    "IntMasked": ["silent_store"],
    "LongDead": ["dead_store"],
    "DoubleNear": ["silent_store"],
    "FloatPartial": ["silent_load"],
    "ObjectRefs": ["silent_store"],
    "Fields": ["dead_store"],
    "Counters": ["dead_store"],
    "Spills": ["silent_load"],
    "Vectors": ["silent_load"],
    "ArrayCopies": ["silent_store"],
    "Fills": ["silent_store"],
    "Bytes": ["silent_store"],
    "Unaligned": ["silent_store"],
    "Strided": ["silent_store"],
    "LinkedNodes": ["silent_load"],
    "DirectBuffer": ["silent_store"],
    "LongDistance": ["silent_load"],
    "FarDead": ["dead_store"],
    "NearAndFar": ["silent_load"],
    "CostlyPhases": ["dead_store"],
    "SlowLoads": ["silent_load"],
    "InStep": ["silent_store"],
    "FewDead": ["dead_store"],
    "MostlyDead": ["dead_store"],
    "Threads": ["silent_store"],
    "Garbage": ["silent_store"],
    "Moving": ["silent_load"],
    "DoubleFills": ["silent_store"],
    "FloatCopies": ["silent_store"],
    "IntCopies": ["silent_store"],
    "NearFields": ["silent_store"],
    "MostlyElsewhere": ["silent_store"],
    "PartOfTime": ["dead_store", "silent_load"],
    "FillsAndSums": ["dead_store"],
    "ConstantFills": ["dead_store"],
    "SideBySide": ["silent_store"],
    "RowHeaders": ["dead_store"],
    "RowSums": ["silent_load"],
    "TripleNest": ["silent_store"],
}

# Those with several loops in one compiled method, or without one: which access stands for a point in time is decided by the nest of
# loops that it lies in. C1 lays loops out in another way than C2, so they run with both.
SHAPES = ["FillsAndSums", "ConstantFills", "SideBySide", "RowHeaders", "RowSums", "TripleNest"]

# Of these one run more, with a collector for which C2 does not divide long loops into strips with a safepoint poll each.
WITHOUT_STRIPS = ["SideBySide", "RowHeaders"]

# What the JVM needs so that a program is compiled into its shape. Loops in small methods are to be in the method that calls them.
_NO_CALLS = ["-XX:CompileCommand=quiet"]


def _inlined(name, *methods):
    return _NO_CALLS + [f"-XX:CompileCommand=inline,{name}.{m}" for m in (*methods, "work")]


OPTIONS = {
    "SideBySide": _inlined("SideBySide", "fill", "look"),
    "RowHeaders": _inlined("RowHeaders", "rows", "fill"),
    "RowSums": _inlined("RowSums", "rows", "sum"),
    "TripleNest": _inlined("TripleNest", "nest", "fill"),
}

# On every collector: what collectors treat differently.
EVERY_COLLECTOR = ["ObjectRefs", "LinkedNodes", "Garbage", "Moving", "FewDead"]

# Those of which it is known, too, what part of the CPU time is spent at wasteful accesses. In every phase of theirs that makes
# accesses of a kind each loop makes some, so that all of its time counts for them; pairs are complete long before a
# window ends or a collection comes; and the kernel has next to nothing to do for them.
SHARE_KNOWN = [
    "IntMasked", "DoubleNear", "Fields", "Counters", "Spills", "Vectors", "ArrayCopies", "Fills", "Bytes", "Unaligned",
    "Strided", "LinkedNodes", "DirectBuffer", "LongDistance", "FarDead", "NearAndFar", "CostlyPhases", "SlowLoads",
    "Threads", "DoubleFills", "FloatCopies", "IntCopies", "NearFields", "MostlyElsewhere", "PartOfTime",
    *SHAPES,
]
