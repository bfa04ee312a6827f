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
    "CalleeFlat": ["dead_store"],
    "CalleeFills": ["dead_store"],
    "CalleeReads": ["dead_store"],
    "AfterCalls": ["dead_store"],
    "BytesAndLongs": ["dead_store"],
    "TwoWidths": ["silent_store"],
    "StraightCode": ["silent_store"],
    "OddLengths": ["silent_store"],
    "Searches": ["dead_store"],
    "RareExceptions": ["dead_store"],
    "CopiesBeside": ["silent_load"],
    "MarkedNodes": ["silent_store"],
    "Recursion": ["dead_store"],
    "ManyTypes": ["dead_store"],
    "NeverReturns": ["dead_store"],
}

# Those with several loops in one compiled method, or without one: which access stands for a point in time is decided by
# the nest of loops that it lies in. C1 lays loops out in another way than C2, so they run with both.
SHAPES = [
    "FillsAndSums", "ConstantFills", "SideBySide", "RowHeaders", "RowSums", "TripleNest", "CalleeFlat", "CalleeFills",
    "CalleeReads", "AfterCalls", "BytesAndLongs", "TwoWidths", "StraightCode", "OddLengths", "Searches", "RareExceptions",
    "CopiesBeside", "MarkedNodes", "Recursion", "ManyTypes", "NeverReturns",
]

# In C1's code the JVM itself accesses memory: each turn of a loop polls by two loads, each method begins with a store
# below its stack frame. These have too few accesses of their own between those.
C2_ONLY = ["RowSums", "CopiesBeside", "CalleeFlat", "CalleeFills", "CalleeReads"]

# Of these one run more, with a collector for which C2 does not divide long loops into strips with a safepoint poll each.
WITHOUT_STRIPS = ["SideBySide", "RowHeaders"]


def _inlined(name, *methods):
    """Loops in small methods are to be in the method that calls them."""
    return [f"-XX:CompileCommand=inline,{name}.{m}" for m in (*methods, "work")]


def _called(name, method):
    return [f"-XX:CompileCommand=dontinline,{name}.{method}"]


# What the JVM needs so that a program is compiled into its shape.
OPTIONS = {
    "ConstantFills": _called("ConstantFills", "fill"),
    "SideBySide": _inlined("SideBySide", "fill", "look"),
    "RowHeaders": _inlined("RowHeaders", "rows", "fill"),
    # C2's loops have safepoint polls, which load, unless counted loops have none at all.
    "RowSums": _inlined("RowSums", "rows", "sum") + ["-XX:-UseCountedLoopSafepoints", "-XX:LoopStripMiningIter=0"],
    "TripleNest": _inlined("TripleNest", "nest", "fill"),
    "CalleeFlat": _inlined("CalleeFlat", "fill") + _called("CalleeFlat", "put"),
    "CalleeFills": _called("CalleeFills", "fill"),
    "AfterCalls": _called("AfterCalls", "fill"),
    "CalleeReads": _inlined("CalleeReads", "fill") + _called("CalleeReads", "read"),
    "BytesAndLongs": _inlined("BytesAndLongs", "fillBytes", "look", "fillLongs"),
    "StraightCode": _inlined("StraightCode", "compute", "fill"),
    "OddLengths": _inlined("OddLengths", "pass"),
    "Searches": _inlined("Searches", "fill", "find"),
    "RareExceptions": _inlined("RareExceptions", "risky", "fill", "look"),
    "CopiesBeside": _inlined("CopiesBeside", "add", "compute"),
    "MarkedNodes": _inlined("MarkedNodes", "mark", "compute", "fill"),
    "Recursion": _inlined("Recursion", "fill"),
}

# On every collector: what collectors treat differently.
EVERY_COLLECTOR = ["ObjectRefs", "LinkedNodes", "Garbage", "Moving", "FewDead"]

# Those of which it is known, too, what part of the CPU time is spent at wasteful accesses. In every phase of theirs that makes
# accesses of a kind each loop makes some, so that all of its time counts for them; pairs are complete long before a
# window ends or a collection comes; and the kernel has next to nothing to do for them. Not of TwoWidths, since the part of the bytes
# is another one there, not where calls and the JVM's own stores with them take much of the time, and not of OddLengths, a third of whose
# time is spent between its loops.
SHARE_KNOWN = [
    "IntMasked", "DoubleNear", "Fields", "Counters", "Spills", "Vectors", "ArrayCopies", "Fills", "Bytes", "Unaligned",
    "Strided", "LinkedNodes", "DirectBuffer", "LongDistance", "FarDead", "NearAndFar", "CostlyPhases", "SlowLoads",
    "Threads", "DoubleFills", "FloatCopies", "IntCopies", "NearFields", "MostlyElsewhere", "PartOfTime",
    *(name for name in SHAPES if name not in ("TwoWidths", "ManyTypes", "Recursion", "OddLengths", "RowSums")),
]
