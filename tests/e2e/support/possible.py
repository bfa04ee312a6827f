"""Can the method that a report names have made the access? By its bytecodes: one that accesses that field, or an element of
that type, a length, or a word of the header, in that direction.

Verdicts:

  CAN          one of its bytecodes can
  ALLOCATES    it makes such objects: the compiler clears them, and stores what is put into them early
  INTRINSIC    it is native or an intrinsic, or calls one, which the compiler puts in its place
  IMPOSSIBLE   none of these
  NOT_NAMED    it is inlined somewhere in the method that is named, as the report says
  UNKNOWN      no file has the class: it was made while the program ran
  NO_PLACE     what was accessed is no field, element or header: a spill, say
"""
import collections
import dataclasses

from .class_file import INVOKES

CAN, ALLOCATES, INTRINSIC, IMPOSSIBLE = "can", "allocates", "intrinsic", "impossible"
NOT_NAMED, UNKNOWN, NO_PLACE = "not named", "unknown", "no place"
VERDICTS = (CAN, ALLOCATES, INTRINSIC, IMPOSSIBLE, NOT_NAMED, UNKNOWN, NO_PLACE)

LOAD, STORE, EITHER = "load", "store", "load or store"
DIRECTION_OF = {"silent_load": LOAD, "silent_store": STORE, "dead_store": STORE}

LETTER_OF = {"byte": "b", "boolean": "b", "char": "c", "short": "s", "int": "i", "long": "l", "float": "f", "double": "d"}
DESCRIPTOR_OF = {"byte": "B", "boolean": "Z", "char": "C", "short": "S", "int": "I", "long": "J", "float": "F", "double": "D"}
ELEMENT_OPS = {LOAD: [f"{c}aload" for c in "bcsilfda"], STORE: [f"{c}astore" for c in "bcsilfda"]}
# Of calls, those that profile what they are given and what they give, too.
READ_CLASS = {"checkcast", "instanceof", "aastore", "athrow", *INVOKES}
ARRAYS_MADE = ("newarray", "anewarray", "multianewarray")
READ_LENGTH = {"arraylength", *ELEMENT_OPS[LOAD], *ELEMENT_OPS[STORE]}
# What may touch an object for nothing but to see that it is one; the word that lies there is the mark.
CHECK_NULL = {"getfield", "putfield", "monitorenter", "monitorexit", "invokevirtual", "invokeinterface", "invokespecial", "athrow",
              *READ_LENGTH}
# Where a method's code begins it is held against the class that the caller expects; the receiver lies in this register.
OF_RECEIVER = "[rsi+0x08]"
# Of intrinsics, those that access no memory of the heap.
PURE = ("java.lang.Math", "java.lang.StrictMath", "java.lang.Integer", "java.lang.Long", "java.lang.Short",
        "java.lang.Character", "java.lang.Byte", "java.lang.Boolean", "java.lang.Float", "java.lang.Double",
        "jdk.internal.util.Preconditions", "java.util.Objects")
# And those that access whatever they are given; of the rest each knows its own class, and arrays.
ANYTHING = ("jdk.internal.misc.Unsafe", "sun.misc.Unsafe")
ANYTHING_IN = ("java.lang.invoke.", "java.lang.ref.", "java.lang.reflect.", "jdk.internal.reflect.")
OF_LAMBDA = "$$Lambda"
LIBRARY = ("java.", "jdk.", "sun.")
# How sure a row is that is the compiled method's, with what is inlined in it.
OF_CODE = "method"


@dataclasses.dataclass(frozen=True)
class Access:
    """A row's, as a report has it. frame: the innermost one."""

    where: str
    direction: str
    location: tuple  # (kind, class, field, declared_in, type)
    frame: tuple  # (class, method, bci, tier); bci -1: not said
    attribution: str
    instruction: str
    count: int

    def words(self):
        kind, of, field, declared_in, kind_of = self.location
        return (f"{self.frame[0]}.{self.frame[1]} @{self.frame[2]} ({self.frame[3]}, {self.attribution or 'not said'}): "
                f"{self.direction} of {kind} {field} {kind_of} of {declared_in or of}, {self.where}, {self.instruction}")


# ---------------------------------------------------------------- what a report says


def _access(where, direction, location, access, frame, count):
    instruction = access.get("instruction", "")
    # One that adds to memory is a load and a store, and stands for the bytecodes of both.
    if _changes(instruction):
        direction = EITHER
    place = tuple(location.get(key) or "" for key in ("kind", "class", "field", "declared_in", "type"))
    of = (frame["class"], frame["method"], frame.get("bci", -1), frame.get("tier", ""))
    said = access.get("attribution") or frame.get("attribution", "")
    return Access(where, direction, place, of, said, instruction, count)


def _changes(instruction):
    op, _, operands = instruction.removeprefix("lock ").partition(" ")
    return "[" in operands.partition(",")[0] and not op.startswith(("mov", "vmov", "cmp", "test", "set", "vpmaskmov"))


def accesses(report):
    """Every row's, whose frames are known."""
    for kind in report["inefficiency"]:
        direction = DIRECTION_OF[kind["kind"]]
        for pair in kind["pairs"]:
            for which in ("watch", "trap"):
                access = pair[which]
                if access["frames"]:
                    yield _access(f"{kind['kind']} {which}", direction, access["location"], access, access["frames"][0],
                                  pair["count"])
    for site in report["objects"]:
        for access in site["accesses"]:
            if access["frames"]:
                yield _access("objects", EITHER, access["location"], access, access["frames"][0], access["samples"])
    for of in report["classes"]:
        for field in of["fields"]:
            for access in field["accesses"]:
                if access["frames"]:
                    yield _access("classes", EITHER, {"class": of["class"], **field}, access, access["frames"][0],
                                  access["samples"])


def line_accesses(report):
    """Those of rows that add up pairs by their lines."""
    for kind in report["inefficiency"]:
        for row in kind.get("by_lines", ()):
            for which in ("watch", "trap"):
                if row[which]:
                    yield _access(f"{kind['kind']} by line, {which}", DIRECTION_OF[kind["kind"]], row["location"], row[which],
                                  row[which], row["count"])


# ---------------------------------------------------------------- what bytecodes can


def _descriptor(type_name):
    """Of Java's name of a type."""
    depth = type_name.count("[]")
    base = type_name.removesuffix("[]" * depth)
    return "[" * depth + DESCRIPTOR_OF.get(base, f"L{base.replace('.', '/')};")


def _is_reference(type_name):
    return type_name not in DESCRIPTOR_OF


def _element_matches(op, direction, type_name):
    letter = LETTER_OF.get(type_name, "a")
    loads, stores = f"{letter}aload", f"{letter}astore"
    if direction == LOAD:
        # Before a reference is stored, some collectors' barriers load what was there.
        return op == loads or (op == stores and letter == "a")
    return op == stores or (direction == EITHER and op == loads)


def _field_matches(code, bytecodes, access):
    _, _, field, declared_in, type_name = access.location
    static = access.location[0] == "static"
    loads, stores = ("getstatic", "putstatic") if static else ("getfield", "putfield")
    ops = {LOAD: (loads,), STORE: (stores,), EITHER: (loads, stores)}[access.direction]
    if access.direction == LOAD and _is_reference(type_name):
        ops = (loads, stores)
    return (code.op in ops and code.name == field and (not type_name or code.descriptor == _descriptor(type_name))
            and (not declared_in or bytecodes.is_below(code.owner, declared_in)))


def _header_matches(method, code, access):
    word = access.location[2]
    if access.direction == STORE:
        return word == "mark" and code.op in ("monitorenter", "monitorexit")
    if word == "class":
        return code.op in READ_CLASS
    if word == "length":
        return code.op in READ_LENGTH
    return code.op in CHECK_NULL or method.synchronized


def code_can(bytecodes, method, code, access):
    """Can the bytecode make the access?"""
    kind, _, _, _, type_name = access.location
    if kind == "element":
        return _element_matches(code.op, access.direction, type_name)
    if kind == "header":
        return _header_matches(method, code, access)
    return _field_matches(code, bytecodes, access)


def _enters(method, access):
    """Is the access what is done where the method begins?"""
    if access.location[0] != "header":
        return False
    if access.location[2] == "mark":
        return method.synchronized
    return access.location[2] == "class" and not method.static and OF_RECEIVER in access.instruction


def _makes(bytecodes, code, access):
    """Does it make such an object? Clearing it, what its constructor stores, and the copy of an array that a clone is of."""
    kind, of, _, declared_in, type_name = access.location
    cloned = code.op == "invokevirtual" and code.name == "clone"
    array = kind == "element" or of.endswith("[]")
    if access.direction == LOAD:
        return cloned and array
    if array:
        return code.op in ARRAYS_MADE or cloned
    if code.op != "new":
        return code.name == "clone"
    return code.owner == of or bytecodes.is_below(code.owner, declared_in or of)


def _lambda_can(access):
    """Of the classes that the JVM makes for lambdas: they have what was captured, check classes, and call."""
    kind, _, field, declared_in, _ = access.location
    if kind == "header":
        return field != "length" and access.direction != STORE
    return kind == "field" and OF_LAMBDA in declared_in


def _intrinsic_can(owner, name, access):
    """Can what the compiler puts in the place of a method of the owner make the access?"""
    kind, _, field, declared_in, type_name = access.location
    if (owner, name) == ("java.lang.Object", "clone"):
        return True
    if owner in PURE:
        return False
    if owner in ANYTHING or owner.startswith(ANYTHING_IN):
        return True
    if kind in ("field", "static"):
        return declared_in.startswith(LIBRARY)
    if kind == "header":
        return field != "mark" or owner in ("java.lang.Object", "java.lang.System")
    return not owner.startswith("java.lang.String") or type_name in ("byte", "char")


def _leads_to_intrinsic(bytecodes, owner, name, deep=3):
    """Is the method one? Those of ANYTHING check what they are given, and then call another of their class that is."""
    methods = bytecodes.methods(owner, name)
    return any(m.intrinsic for m in methods) or (owner in ANYTHING and deep > 0 and any(
        _leads_to_intrinsic(bytecodes, owner, c.name, deep - 1)
        for m in methods for c in m.code if c.op in INVOKES and c.owner == owner))


def _calls_intrinsic(bytecodes, method, access):
    for code in method.code:
        if code.op in INVOKES and code.owner.startswith(LIBRARY):
            called = code.owner
            while called:  # A method may be its superclass's.
                if _leads_to_intrinsic(bytecodes, called, code.name) and _intrinsic_can(called, code.name, access):
                    return True
                found = bytecodes.of(called)
                called = found.parent if found else ""
    return False


def _is_or_calls_intrinsic(bytecodes, owner, method, access):
    return (method.native or (method.intrinsic and _intrinsic_can(owner, method.name, access))
            or _calls_intrinsic(bytecodes, method, access))


def verdict(bytecodes, access):
    """(verdict, whether the bytecode at the frame's bci is one that can)."""
    owner, name, bci, _ = access.frame
    if access.location[0] not in ("field", "static", "element", "header"):
        return NO_PLACE, False
    if access.attribution == OF_CODE:
        return NOT_NAMED, False
    if OF_LAMBDA in owner:
        return (CAN if _lambda_can(access) else IMPOSSIBLE), False
    methods = bytecodes.methods(owner, name)
    if not methods:
        return UNKNOWN, False
    able = [(m, c) for m in methods for c in m.code if code_can(bytecodes, m, c, access)]
    if able or any(_enters(m, access) for m in methods):
        return CAN, any(c.bci == bci for _, c in able)
    if any(_makes(bytecodes, c, access) for m in methods for c in m.code):
        return ALLOCATES, False
    if any(_is_or_calls_intrinsic(bytecodes, owner, m, access) for m in methods):
        return INTRINSIC, False
    return IMPOSSIBLE, False


# ---------------------------------------------------------------- all of a report


@dataclasses.dataclass
class Tally:
    """Samples by verdict; at_bci: of those that can, whose very bytecode does."""

    counts: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    by_attribution: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    at_bci: int = 0
    impossible: collections.Counter = dataclasses.field(default_factory=collections.Counter)

    @property
    def checked(self):
        """Those that a bytecode could be asked for."""
        return sum(self.counts[v] for v in (CAN, ALLOCATES, INTRINSIC, IMPOSSIBLE))

    def share(self, which):
        return self.counts[which] / self.checked if self.checked else 0.0

    def lines(self):
        yield (f"{self.checked} checked of {sum(self.counts.values())}: "
               + ", ".join(f"{v} {self.counts[v]}" for v in VERDICTS))
        yield (f"impossible {self.share(IMPOSSIBLE):.3f} of what was checked; the very bytecode can "
               f"{self.at_bci / self.checked if self.checked else 0:.3f}")
        for attribution in sorted({a for a, _ in self.by_attribution}):
            row = ", ".join(f"{v} {self.by_attribution[attribution, v]}" for v in VERDICTS
                            if self.by_attribution[attribution, v])
            yield f"attribution {attribution or 'not said'}: {row}"


def tally_of(bytecodes, rows):
    """The Tally of Accesses, of which each is counted as often as it was sampled."""
    tally = Tally()
    for access in rows:
        found, at_bci = verdict(bytecodes, access)
        tally.counts[found] += access.count
        tally.by_attribution[access.attribution, found] += access.count
        tally.at_bci += at_bci * access.count
        if found == IMPOSSIBLE:
            tally.impossible[access] += access.count
    return tally
