"""Which method makes an access, where the compiler has put many into one.

What a report names must be able to have made it (support/possible.py), which is held against bytecodes first; and it must be
right in programs of which is known who accesses what (support/made_by.py).

  METHODS_PROGRAMS   names of programs, for others than are checked each time ("all": every one)
  METHODS_OPTIONS    more options for their JVMs
"""
# Takes two places: its windows keep both processors busy.
# Estimates: shares, from samples.
import json
import os

from lib import add_test, compile_java, jdks, note, run, test_on_jdks
from support import made_by, possible
from support.bytecodes import Bytecodes
from support.possible import ALLOCATES, CAN, IMPOSSIBLE, INTRINSIC, LOAD, NO_PLACE, NOT_NAMED, STORE, UNKNOWN, Access
from support.profile import Windows, Workload, classes

# ---------------------------------------------------------------- what bytecodes can

SOURCE = {"Known.java": """
class Base { int a; Object ref; static int shared; }
class Known extends Base {
    int b; int[] ints; boolean[] flags;
    int get() { return a; }
    void set(int v) { b = v; }
    void link(Object o) { ref = o; }
    int first() { return ints[0]; }
    void raise() { flags[0] = true; }
    int size() { return ints.length; }
    static int of(Known k) { return k.get(); }
    static void share() { shared = 1; }
    static Known make() { return new Known(); }
    static int[] array() { return new int[8]; }
    static void copy(int[] from, int[] to) { System.arraycopy(from, 0, to, 0, 8); }
    Object twin() throws CloneNotSupportedException { return super.clone(); }
    static int largest(int x, int y) { return Math.max(x, y); }
}
class Other { int a; }
"""}
FIELD_A = ("field", "Known", "a", "Base", "int")
FIELD_B = ("field", "Known", "b", "Known", "int")
REF = ("field", "Known", "ref", "Base", "java.lang.Object")
INTS = ("element", "int[]", "", "", "int")
FLAGS = ("element", "boolean[]", "", "", "boolean")
CLASS, LENGTH = ("header", "Known", "class", "", ""), ("header", "int[]", "length", "", "")
EXPECTED = [
    # method, direction, location, verdict
    ("get", LOAD, FIELD_A, CAN),
    ("get", STORE, FIELD_A, IMPOSSIBLE),
    ("get", LOAD, FIELD_B, IMPOSSIBLE),
    ("get", LOAD, ("field", "Other", "a", "Other", "int"), IMPOSSIBLE),
    ("get", LOAD, ("field", "Known", "a", "Base", "long"), IMPOSSIBLE),
    ("get", LOAD, ("static", "Base", "a", "Base", "int"), IMPOSSIBLE),
    ("set", STORE, FIELD_B, CAN),
    ("set", LOAD, FIELD_B, IMPOSSIBLE),
    ("link", LOAD, REF, CAN),  # a barrier's
    ("first", LOAD, INTS, CAN),
    ("first", STORE, INTS, IMPOSSIBLE),
    ("first", LOAD, ("element", "long[]", "", "", "long"), IMPOSSIBLE),
    ("first", LOAD, LENGTH, CAN),
    ("raise", STORE, FLAGS, CAN),
    ("size", LOAD, LENGTH, CAN),
    ("size", LOAD, INTS, IMPOSSIBLE),
    ("of", LOAD, CLASS, CAN),
    ("of", LOAD, FIELD_A, IMPOSSIBLE),
    ("get", LOAD, CLASS, IMPOSSIBLE),
    ("share", STORE, ("static", "Base", "shared", "Base", "int"), CAN),
    ("make", STORE, FIELD_A, ALLOCATES),
    ("make", LOAD, FIELD_A, IMPOSSIBLE),
    ("array", STORE, INTS, ALLOCATES),
    ("copy", STORE, INTS, INTRINSIC),
    ("copy", STORE, FIELD_A, IMPOSSIBLE),
    ("twin", LOAD, FIELD_A, INTRINSIC),
    ("copy", LOAD, FIELD_A, IMPOSSIBLE),
    ("largest", LOAD, INTS, IMPOSSIBLE),
    ("nobody", LOAD, INTS, UNKNOWN),
    ("get", LOAD, ("spill", "", "", "", ""), NO_PLACE),
]


@test_on_jdks
def bytecodes_tell_what_a_method_can_access(jdk):
    bytecodes = Bytecodes(jdk.home, compile_java(SOURCE))
    for method, direction, location, verdict in EXPECTED:
        access = Access("", direction, location, ("Known", method, 0, "jit"), "", "", 1)
        assert possible.verdict(bytecodes, access)[0] == verdict, (method, direction, location, verdict)
    of_lambda = ("Known$$Lambda/0x0000000012345678", "applyAsInt", 0, "jit")
    assert possible.verdict(bytecodes, Access("", LOAD, FIELD_A, of_lambda, "", "", 1))[0] == IMPOSSIBLE
    assert possible.verdict(bytecodes, Access("", LOAD, CLASS, of_lambda, "", "", 1))[0] == CAN
    unsure = Access("", STORE, FIELD_A, ("Known", "get", 0, "jit"), "method", "", 1)
    assert possible.verdict(bytecodes, unsure)[0] == NOT_NAMED


@test_on_jdks
def a_row_that_names_the_wrong_method_is_seen(jdk):
    """A report of one pair, and the same with another method."""
    bytecodes = Bytecodes(jdk.home, compile_java(SOURCE))
    location = dict(zip(("kind", "class", "field", "declared_in", "type"), FIELD_B))
    frames = [{"class": "Known", "method": "set", "bci": 2, "tier": "jit"}]
    pair = {"count": 7, "watch": {"instruction": "mov [rsi+0x10], edx", "location": location, "frames": frames}}
    pair["trap"] = json.loads(json.dumps(pair["watch"]))
    report = {"inefficiency": [{"kind": "silent_store", "pairs": [pair]}], "objects": [], "classes": []}
    tally = possible.tally_of(bytecodes, possible.accesses(report))
    assert (tally.checked, tally.counts[CAN], tally.at_bci) == (14, 14, 14), tally
    pair["trap"]["frames"][0]["method"] = "first"
    tally = possible.tally_of(bytecodes, possible.accesses(report))
    assert (tally.counts[CAN], tally.counts[IMPOSSIBLE]) == (7, 7), tally


# ---------------------------------------------------------------- who makes the accesses

PROGRAMS = ("InlinedGetters", "InlinedSame", "InlinedLambdas", "InlinedSwitch", "InlinedBoxes", "InlinedLoops",
            "InlinedFills", "InlinedTwins")
# Of these what is said is as right as it is to be.
CHECKED = ("InlinedGetters", "InlinedSame", "InlinedLambdas", "InlinedSwitch", "InlinedBoxes", "InlinedLoops", "InlinedFills")
ASKED = os.environ.get("METHODS_PROGRAMS", "")
OPTIONS = os.environ.get("METHODS_OPTIONS", "").split()

KINDS = ("--kinds", "dead-store,silent-store,silent-load,objects", "--budget", "20%", "--period", "200us")
CPU_S = 3
LEAST = 300
RIGHT_LEAST = 0.98
OFF_MOST = 0.02


def measure(daemon, jdk, program, windows_before=0):
    """The report of a window, and what the program says of itself. windows_before: of the same JVM."""
    jvm = Workload(jdk, program, "-XX:+UseG1GC", *OPTIONS)
    try:
        for _ in range(windows_before):
            daemon.attach(jvm.pid, *KINDS, duration="1s")
        return daemon.attach(jvm.pid, *KINDS, cpu_s=CPU_S), jvm.output()
    finally:
        jvm.stop()


def judge(jdk, result):
    report, output = result.result()
    truth = made_by.truth_of(output)
    rows = list(possible.accesses(report))
    found = made_by.named([r for r in rows if r.where == "classes"], truth)
    of_pairs = made_by.named([r for r in rows if r.where not in ("objects", "classes")], truth)
    tally = possible.tally_of(Bytecodes(jdk.home, classes()), [*rows, *possible.line_accesses(report)])
    met = {of for named in (found, of_pairs) for of, _ in named.said}
    for line in (*found.lines(), f"pairs: {of_pairs.checked}, right {of_pairs.right:.4f}", *tally.lines(),
                 f"not met: {' '.join(sorted(set(truth.values()) - met)) or 'none'}"):
        note(line)
    for access, count in tally.impossible.most_common(5):
        note(f"IMPOSSIBLE {count}: {access.words()}")
    assert not tally.impossible, sum(tally.impossible.values())
    assert found.checked >= LEAST, found.checked
    assert met == set(truth.values()), set(truth.values()) - met
    assert found.right >= RIGHT_LEAST and of_pairs.right >= RIGHT_LEAST, (found.right, of_pairs.right)
    assert found.most_off <= OFF_MOST, found.most_off


# In a JVM's next window its classes have other numbers. Which ones is up to what is met first: where it was told by those of the
# window before, three of four such windows were wrong.
AGAIN = "InlinedSame"


def asked():
    return PROGRAMS if ASKED == "all" else tuple(ASKED.split(",")) if ASKED else CHECKED


def main():
    found = jdks()
    windows = Windows(measure)
    for jdk in [j for j in found if j.release == 17] + [j for j in found[-1:] if j.release != 17]:
        for program in asked():
            result = windows.ask(jdk, program)
            add_test(f"{program}: the methods that make the accesses ({jdk})", lambda j=jdk, r=result: judge(j, r))
        again = windows.ask(jdk, AGAIN, 2)
        add_test(f"{AGAIN}: those of a JVM's third window ({jdk})", lambda j=jdk, r=again: judge(j, r))
    run()


main()
