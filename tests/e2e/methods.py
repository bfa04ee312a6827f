"""Which method makes an access, where the compiler has put many into one.

What a report names must be able to have made it (support/possible.py), which is held against bytecodes first."""
import json

from lib import add_test, compile_java, jdks, run, test_on_jdks
from support import possible
from support.bytecodes import Bytecodes
from support.possible import ALLOCATES, CAN, IMPOSSIBLE, INTRINSIC, LOAD, NO_PLACE, NOT_NAMED, STORE, UNKNOWN, Access

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


if __name__ == "__main__":
    run()
