"""The programs of the loops' suite, and what is true of the one loop that each is about.

The line of a loop is found by the comment '// LOOP name' at its header. Of a library's the method is enough.
"""
import dataclasses
import os

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "programs")

RESULTLESS, NONE, UNDECIDED, WAITING = "resultless", "none", "undecided", "waiting"
INSTANCES, ITERATIONS = "redundant_instances", "redundant_iterations"
HARMLESS = (NONE, UNDECIDED)

# From there on a loop that does things again must be told for one.
OFTEN = 0.7
# A loop of Rates has so many turns in each operation, and as many results as the program's argument says.
TURNS = 1 << 18
CHUNK = 4096
LOOPS_OF_RATES = {"warmedStore": "store", "late": "store", "conditionalMove": "local", "threads": "store"}

# What the advice for a type is about.
DELETE, DATA_STRUCTURE, SKIP, MEMOIZE, BATCH = "delete", "data_structure", "skip", "memoize", "batch"


@dataclasses.dataclass
class Program:
    """rate: results for each turn; turns: of an instance; instances and iterations: what part of what they go by is as in the
    instance before, or in other turns. None: not known, or it changes."""

    name: str
    main: str
    arguments: tuple = ()
    loop: str = ""  # the name in the comment, or for libraries 'Class.method', or several
    types: tuple = ()  # the true one first, then what is known to be said instead
    rate: float = None
    turns: float = None
    verdicts: tuple = (NONE,)  # the true one first, then what may be said instead
    advice: str = None
    instances: float = None
    iterations: float = None
    recursion: str = ""  # the method that calls itself, instead of a loop
    why: str = ""  # of what is said instead
    options: tuple = ()  # of the JVM
    libraries: bool = False
    newest: int = None  # release of a JDK that it still runs on
    calls: bool = False  # its time is in what it calls: there may be no row of it

    @property
    def control(self):
        """No verdict may be said of any of its loops."""
        return self.verdicts == (NONE,)

    @property
    def meant(self):
        """Is there to be a row of its loop, or its recursion?"""
        return bool(self.loop or self.recursion)

    def place(self):
        """Class, methods and line of its loop. Line is None where any loop of the methods is meant."""
        if self.recursion:
            return self.main, [self.recursion], None
        if not self.loop:
            return None
        if self.libraries:
            of, _, methods = self.loop.rpartition(".")
            return of, methods.split("|"), None
        with open(os.path.join(SOURCES, f"{self.main}.java"), encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                if line.rstrip().endswith(f"// LOOP {self.loop}"):
                    return self.main, None, number
        raise ValueError(f"no loop '{self.loop}' in {self.main}.java")


def search(name, turns, **more):
    facts = {"verdicts": (RESULTLESS,), "advice": DATA_STRUCTURE, **more}
    return Program(name, "Searches", (name,), name, ("0*1?",), 1 / turns, turns, **facts)


def rate(name, what, results, types=("[0|1]*",), **more):
    facts = {"turns": CHUNK, "verdicts": (NONE,), **more}
    if results / TURNS <= 3e-4 and "verdicts" not in more:
        facts.update(verdicts=(RESULTLESS, INSTANCES), advice=SKIP, why="it goes through the same numbers each time, too")
    loop = LOOPS_OF_RATES.get(what, what)
    return Program(name, "Rates", (what, str(results)), loop, types, results / TURNS, **facts)


def repeat(name, loop, turns, **more):
    """Each turn has a result."""
    facts = {}
    if more.get("instances", 0) > OFTEN:
        facts.update(verdicts=(INSTANCES,), advice=MEMOIZE)
    elif more.get("iterations", 0) > OFTEN:
        facts.update(verdicts=(ITERATIONS,), advice=MEMOIZE)
    facts.update(more)
    return Program(name, "Repeats", (name,), loop, ("1*",), 1.0, turns, **facts)


# No control: what they go by is the same each time.
AGAIN = {"verdicts": (NONE, INSTANCES), "why": "it goes through the same numbers each time"}

CONSTRUCTED = [
    # Nothing comes of any turn.
    Program("walk", "Turns", ("walk",), "walk", ("0*",), 0.0, 8192, (RESULTLESS,), DELETE),
    rate("zero", "store", 0, verdicts=(RESULTLESS,), advice=SKIP,
         why="its store was never reached, and compiled to a trap"),
    rate("warmedZero", "warmedStore", 0),
    # Of the last.
    search("array", 4096.5),
    search("list", 4096.5),
    search("iterator", 4096.5),
    search("map", 4096.5),
    # Of the last, which never comes: what is looked for is not there.
    *(dataclasses.replace(search(name, 8192.0), rate=0.0) for name in ("miss", "missCall", "missFlag", "missEquals")),
    # The table is the same again, what is looked for is not.
    search("nested", 4097.0, instances=0.5),
    search("few", 8.0, verdicts=(NONE,), advice=None),
    # Of some.
    rate("rate5e-5", "store", 13),
    rate("rate1/4096", "store", 64),
    rate("rate1/64", "store", 4096, **AGAIN),
    rate("rate1/4", "store", TURNS // 4, **AGAIN),
    rate("rate1", "store", TURNS, ("1*",), **AGAIN),
    rate("local", "local", 64),
    rate("conditionalMove", "conditionalMove", 64, verdicts=(UNDECIDED, RESULTLESS, INSTANCES),
         why="whether a conditional move moved is not seen; it goes through the same numbers each time"),
    rate("onStack", "onStack", 64, turns=TURNS),
    rate("threads", "threads", 64),
    dataclasses.replace(rate("late", "late", 16384, verdicts=(*HARMLESS, INSTANCES),
                             why="it goes through the same numbers each time"), rate=None),
    dataclasses.replace(rate("turns100", "store", 4096, turns=100, **AGAIN), arguments=("store", "4096", "100")),
    dataclasses.replace(rate("turns1000", "store", 4096, turns=1000, **AGAIN), arguments=("store", "4096", "1000")),
    Program("pure", "Turns", ("pure",), "pure", ("[0|1]*", "1*"), 2 / 8192, 8192, (RESULTLESS, NONE), SKIP,
            why="a call of one of many methods is taken for a result", calls=True),
    # Of all.
    Program("sum", "Turns", ("sum",), "sum", ("1*",), 1.0, 8192, **AGAIN),
    Program("fill", "Turns", ("fill",), "fill", ("1*",), 1.0, 8192),
    Program("effect", "Turns", ("effect",), "effect", ("1*",), 1.0, 8192, calls=True),
    Program("fib", "Turns", ("fib",), recursion="fib", verdicts=(ITERATIONS,), advice=MEMOIZE, iterations=1.0),
    Program("wait", "Turns", ("wait",), "await", verdicts=(WAITING, *HARMLESS)),
    # Whose results are the same again, or not.
    repeat("queue", "queue", 8192, iterations=1.0),
    repeat("longQueue", "longQueue", 8192, iterations=1.0),
    repeat("distinct", "queue", 8192, instances=0.0, iterations=0.0),
    repeat("ring", "ring", 8192, why="an index goes into each turn"),
    repeat("bytes", "bytes", 8192, why="few bytes are alike again, but nothing is computed of them"),
    Program("tree", "Repeats", ("tree",), recursion="hash", iterations=0.0),
    # Its calls are handed the same expressions, and go by the row that they are at.
    Program("evaluate", "Repeats", ("evaluate",), recursion="evaluate"),
    repeat("same", "scan", 8192, instances=1.0),
    repeat("growing", "scan", 4096 + 32.5, instances=1.0),
    repeat("half", "scan", 8192, instances=0.5, verdicts=(NONE, INSTANCES)),
    repeat("keyed", "keyed", 8192, instances=0.5, why="the same table, with another key"),
    repeat("fresh", "scan", 8192, instances=1.0),
    repeat("different", "scan", 8192, instances=0.0),
    repeat("siblings", "siblings", 255.5, instances=1.0),
    repeat("write", "write", 8192, verdicts=(ITERATIONS, INSTANCES), advice=BATCH, calls=True),
]


def fault(name, loop, types, turns_of_result, **more):
    """A library's, and beside it what a developer would make of it."""
    facts = {"verdicts": (RESULTLESS,), "advice": DATA_STRUCTURE, **more}
    arguments = () if more.get("main") else (name,)
    main = facts.pop("main", "Real")
    of_result = 1 / turns_of_result if turns_of_result else None
    return [
        Program(name, main, arguments, loop, types, of_result, libraries=True, **facts),
        Program(name + "Repaired", main, (*arguments, "repaired"), libraries=True),
    ]


LIBRARIES = [
    # Half of them are found, where half of the list is; the others' search goes through what is left, the other half.
    *fault("subtract", "java.util.ArrayList.remove", ("0*1?",), 6000),
    *fault("retain", "java.util.ArrayList.indexOf|indexOfRange", ("0*1?",), 3000.5),
    *fault("timeline", "org.jfree.chart.axis.SegmentedTimeline.getExceptionSegmentCount", ("[0|1]*",), 20000 / 5,
           advice=SKIP),
    *fault("series", "org.jfree.data.xy.XYSeries.findBoundsByIteration", ("1*",), None, verdicts=(INSTANCES, NONE), advice=MEMOIZE,
           why="an instance has more points than the one before"),
    *fault("orderedMap", "java.util.ArrayList.remove", ("0*1?",), 4001),
    *fault("linkedList", "java.util.LinkedList.node", ("0*1?",), 2000, turns=2000),
    *fault("copyOnWrite", "java.util.concurrent.CopyOnWriteArrayList.indexOf|indexOfRange", ("0*1?",), 5997),
    *fault("getEdge", "org.jgrapht.graph.AbstractBaseGraph$UndirectedSpecifics.getEdge", ("0*1?",), 6000,
           main="GraphEdges"),
    # Hot, and as they should be.
    *(Program(name, "Healthy", (name,), libraries=True)
      for name in ("sorting", "sortingObjects", "xml", "compression", "regex", "matrix")),
    *(Program(name, main, libraries=True)
      for name, main in (("fft", "StridedFft"), ("h2", "H2Queries"), ("jython", "JythonScript"), ("batik", "BatikPaint"))),
    Program("fop", "FopRender", libraries=True, newest=21),
]

PROGRAMS = {p.name: p for p in [*CONSTRUCTED, *LIBRARIES]}

# Names for several.
GROUPS = {
    "constructed": [p.name for p in CONSTRUCTED],
    "libraries": [p.name for p in LIBRARIES],
    "repeats": ["nested", "fib", "queue", "longQueue", "distinct", "ring", "bytes", "tree", "evaluate", "same", "growing", "half", "keyed", "fresh",
                "different", "siblings", "write"],
    "rates": ["zero", "rate5e-5", "rate1/4096", "rate1/64", "rate1/4", "rate1", "turns100", "turns1000"],
}
