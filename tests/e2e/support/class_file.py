"""A class file's methods and their bytecodes (JVMS 4), each method's only when it is asked for."""
import dataclasses
import functools
import struct

ACC_STATIC, ACC_SYNCHRONIZED, ACC_NATIVE = 0x8, 0x20, 0x100

INVOKES = ("invokevirtual", "invokespecial", "invokestatic", "invokeinterface", "invokedynamic")

OPS = """nop aconst_null iconst_m1 iconst_0 iconst_1 iconst_2 iconst_3 iconst_4 iconst_5 lconst_0 lconst_1 fconst_0 fconst_1
fconst_2 dconst_0 dconst_1 bipush sipush ldc ldc_w ldc2_w iload lload fload dload aload iload_0 iload_1 iload_2 iload_3 lload_0
lload_1 lload_2 lload_3 fload_0 fload_1 fload_2 fload_3 dload_0 dload_1 dload_2 dload_3 aload_0 aload_1 aload_2 aload_3 iaload
laload faload daload aaload baload caload saload istore lstore fstore dstore astore istore_0 istore_1 istore_2 istore_3 lstore_0
lstore_1 lstore_2 lstore_3 fstore_0 fstore_1 fstore_2 fstore_3 dstore_0 dstore_1 dstore_2 dstore_3 astore_0 astore_1 astore_2
astore_3 iastore lastore fastore dastore aastore bastore castore sastore pop pop2 dup dup_x1 dup_x2 dup2 dup2_x1 dup2_x2 swap
iadd ladd fadd dadd isub lsub fsub dsub imul lmul fmul dmul idiv ldiv fdiv ddiv irem lrem frem drem ineg lneg fneg dneg ishl
lshl ishr lshr iushr lushr iand land ior lor ixor lxor iinc i2l i2f i2d l2i l2f l2d f2i f2l f2d d2i d2l d2f i2b i2c i2s lcmp
fcmpl fcmpg dcmpl dcmpg ifeq ifne iflt ifge ifgt ifle if_icmpeq if_icmpne if_icmplt if_icmpge if_icmpgt if_icmple if_acmpeq
if_acmpne goto jsr ret tableswitch lookupswitch ireturn lreturn freturn dreturn areturn return getstatic putstatic getfield
putfield invokevirtual invokespecial invokestatic invokeinterface invokedynamic new newarray anewarray arraylength athrow
checkcast instanceof monitorenter monitorexit wide multianewarray ifnull ifnonnull goto_w jsr_w""".split()
NUMBER = {op: n for n, op in enumerate(OPS)}
TABLESWITCH, LOOKUPSWITCH, WIDE, NEWARRAY = (NUMBER[op] for op in ("tableswitch", "lookupswitch", "wide", "newarray"))


def _lengths():
    """By opcode; those of switches and wide are not fixed."""
    lengths = [1] * len(OPS)
    for n, op in enumerate(OPS):
        if op in ("bipush", "ldc", "newarray", "ret") or op in [f"{t}{way}" for t in "ilfda" for way in ("load", "store")]:
            lengths[n] = 2
        elif op in ("goto_w", "jsr_w", "invokeinterface", "invokedynamic"):
            lengths[n] = 5
        elif op == "multianewarray":
            lengths[n] = 4
        elif (op in ("sipush", "ldc_w", "ldc2_w", "iinc", "goto", "jsr", "getstatic", "putstatic", "getfield", "putfield", "new",
                     "anewarray", "checkcast", "instanceof", *INVOKES) or op.startswith("if")):
            lengths[n] = 3
    return lengths


LENGTH = _lengths()
OF_MEMBER = {NUMBER[op] for op in ("getstatic", "putstatic", "getfield", "putfield", *INVOKES[:-1])}
OF_CLASS = {NUMBER[op] for op in ("new", "anewarray", "checkcast", "instanceof", "multianewarray")}
PRIMITIVE = {4: "boolean", 5: "char", 6: "float", 7: "double", 8: "byte", 9: "short", 10: "int", 11: "long"}
# Bytes of a constant behind its tag.
CONSTANT_BYTES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
UTF8, LONG, DOUBLE = 1, 5, 6
INTRINSIC = ("Ljdk/internal/vm/annotation/IntrinsicCandidate;", "Ljdk/internal/HotSpotIntrinsicCandidate;")


@dataclasses.dataclass(frozen=True)
class Bytecode:
    """owner: of the member that it names, a class's name with dots, or the class itself, or the type of newarray."""

    bci: int
    op: str
    owner: str = ""
    name: str = ""
    descriptor: str = ""


class Method:
    """Of a Class."""

    def __init__(self, of, flags, name, descriptor, attributes):
        self.name, self.descriptor = name, descriptor
        self.static, self.native = bool(flags & ACC_STATIC), bool(flags & ACC_NATIVE)
        self.synchronized = bool(flags & ACC_SYNCHRONIZED)
        self._of, self._attributes = of, attributes

    @functools.cached_property
    def intrinsic(self):
        """May the compiler have code of its own for it?"""
        at = self._attributes.get("RuntimeVisibleAnnotations")
        return at is not None and any(a in INTRINSIC for a in self._of.annotations(at))

    @functools.cached_property
    def code(self):
        """Its bytecodes."""
        at = self._attributes.get("Code")
        return list(self._of.bytecodes(at)) if at is not None else []


class Class:
    """name, and parent, which is "" of Object, with dots; methods: lists, by name."""

    def __init__(self, data):
        self._data = data
        self._at = self._constants()
        at = self._end_of_constants
        self.name, self.parent = self._class(self._u2(at + 2)), self._class(self._u2(at + 4))
        at += 8 + 2 * self._u2(at + 6)
        at = self._members(at, lambda *_: None)
        self.methods = {}
        self._members(at, self._add_method)

    def _u2(self, at):
        return int.from_bytes(self._data[at:at + 2], "big")

    def _u4(self, at):
        return int.from_bytes(self._data[at:at + 4], "big")

    def _constants(self):
        """Where each begins."""
        data, at, count = self._data, 10, self._u2(8)
        found = [0] * count
        number = 1
        while number < count:
            found[number] = at
            tag = data[at]
            at += 3 + self._u2(at + 1) if tag == UTF8 else 1 + CONSTANT_BYTES[tag]
            number += 2 if tag in (LONG, DOUBLE) else 1
        self._end_of_constants = at
        return found

    def _text(self, number):
        at = self._at[number]
        return self._data[at + 3:at + 3 + self._u2(at + 1)].decode("utf-8", "replace")

    def _class(self, number):
        return self._text(self._u2(self._at[number] + 1)).replace("/", ".") if number else ""

    def _member(self, number):
        """Owner, name and descriptor."""
        at = self._at[number]
        named = self._at[self._u2(at + 3)]
        return self._class(self._u2(at + 1)), self._text(self._u2(named + 1)), self._text(self._u2(named + 3))

    def _attributes(self, at):
        """Where the contents of each are, by name, and where they end."""
        found = {}
        count = self._u2(at)
        at += 2
        for _ in range(count):
            found[self._text(self._u2(at))] = at + 6
            at += 6 + self._u4(at + 2)
        return found, at

    def _members(self, at, add):
        """Of the fields or of the methods; returns where they end."""
        count = self._u2(at)
        at += 2
        for _ in range(count):
            attributes, end = self._attributes(at + 6)
            add(self._u2(at), self._u2(at + 2), self._u2(at + 4), attributes)
            at = end
        return at

    def _add_method(self, flags, name, descriptor, attributes):
        method = Method(self, flags, self._text(name), self._text(descriptor), attributes)
        self.methods.setdefault(method.name, []).append(method)

    def _end_of_value(self, at):
        """Of an annotation's element_value."""
        tag, at = chr(self._data[at]), at + 1
        if tag == "@":
            return self._end_of_annotation(at)
        if tag == "[":
            count, at = self._u2(at), at + 2
            for _ in range(count):
                at = self._end_of_value(at)
            return at
        return at + (4 if tag == "e" else 2)

    def _end_of_annotation(self, at):
        count, at = self._u2(at + 2), at + 4
        for _ in range(count):
            at = self._end_of_value(at + 2)
        return at

    def annotations(self, at):
        """Descriptors of the types of an attribute's."""
        count, at = self._u2(at), at + 2
        for _ in range(count):
            yield self._text(self._u2(at))
            at = self._end_of_annotation(at)

    def _switch_length(self, op, code, bci):
        at = code + bci + 4 - bci % 4
        if op == LOOKUPSWITCH:
            return at + 8 + 8 * self._u4(at + 4) - code - bci
        low, high = struct.unpack(">ii", self._data[at + 4:at + 12])
        return at + 12 + 4 * (high - low + 1) - code - bci

    def bytecodes(self, at):
        """Those of a Code attribute."""
        data, size, code = self._data, self._u4(at + 4), at + 8
        bci = 0
        while bci < size:
            op = data[code + bci]
            operand = code + bci + 1
            if op in OF_MEMBER:
                yield Bytecode(bci, OPS[op], *self._member(self._u2(operand)))
            elif op in OF_CLASS:
                yield Bytecode(bci, OPS[op], self._class(self._u2(operand)))
            else:
                yield Bytecode(bci, OPS[op], PRIMITIVE[data[operand]] if op == NEWARRAY else "")
            if op in (TABLESWITCH, LOOKUPSWITCH):
                bci += self._switch_length(op, code, bci)
            elif op == WIDE:
                bci += 6 if OPS[data[operand]] == "iinc" else 4
            else:
                bci += LENGTH[op]
