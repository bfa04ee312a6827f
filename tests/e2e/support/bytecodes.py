"""The bytecodes of a program's methods, as the JDK's javap prints them. Kept by class below the build, since a JVM a class
is slow; many classes are asked for at once."""
import collections
import dataclasses
import hashlib
import os
import re
import subprocess

from lib import BUILD, jdks

# Classes of one javap: what a command line holds.
AT_ONCE = 200
NO_SUCH = "no such class"

# Made while the program runs: no file has them.
_GENERATED = re.compile(r"/0x|\$\$Lambda|\$\$\$|LambdaForm\$|\$Proxy\d|/\d+$|BoundMethodHandle\$Species_")

_HEAD = re.compile(r"^  \S.*;$|^  static \{\};$")
_CODE = re.compile(r"^\s+(\d+): ([a-z]\w*)(.*)$")
_SUPER = re.compile(r"^  super_class: #\d+\s+// (\S+)", re.MULTILINE)
_MEMBER = re.compile(r'(?:(?P<owner>[^.:"]+|"[^"]*")\.)?(?P<name>"<\w+>"|[^.:]+):(?P<descriptor>\S+)$')


@dataclasses.dataclass(frozen=True)
class Bytecode:
    """what: the sort of thing that it names ("Field", "Method", "class", "") or, of newarray, "type"; owner: of a member, a
    class's name with dots, or the class itself."""

    bci: int
    op: str
    what: str = ""
    owner: str = ""
    name: str = ""
    descriptor: str = ""


@dataclasses.dataclass
class Method:
    name: str
    descriptor: str
    flags: str = ""
    intrinsic: bool = False
    code: list = dataclasses.field(default_factory=list)

    @property
    def native(self):
        return "ACC_NATIVE" in self.flags


@dataclasses.dataclass
class Class:
    name: str
    parent: str  # "" of Object
    methods: dict  # lists, by name: a report does not say which of those that share one


class Bytecodes:
    """Those of the classes that a JVM of a JDK finds on a class path."""

    def __init__(self, home, class_path):
        self.home, self.class_path = home, class_path
        with open(os.path.join(home, "release"), encoding="utf-8") as f:
            release = f.read()
        self.release = re.search(r'JAVA_VERSION="(?:1\.)?(\d+)', release).group(1)
        # A test's copy of the workloads lies elsewhere each time.
        stamps = [(os.path.basename(p), os.path.getmtime(p)) for p in class_path.split(":") if os.path.exists(p)]
        key = hashlib.sha256(repr((home, release, stamps)).encode()).hexdigest()[:20]
        self.directory = os.path.join(BUILD, "tests/javap", key)
        os.makedirs(self.directory, exist_ok=True)
        self.classes = {}

    def of(self, name):
        """The class, or None: it is not there, or made while the program ran."""
        if name not in self.classes:
            self.fetch([name])
        return self.classes[name]

    def methods(self, class_name, name):
        """All of the name in the class; empty when it is not known."""
        found = self.of(class_name)
        return found.methods.get(name, []) if found else []

    def is_below(self, name, ancestor):
        """Is the class the ancestor, or a subclass of it? Also where that is not known."""
        while name and name != ancestor:
            found = self.of(name)
            if not found:
                return True
            name = found.parent
        return name == ancestor

    def fetch(self, names):
        """Has them ready."""
        wanted = []
        for name in sorted(set(names) - set(self.classes)):
            text = self._kept(name)
            if _GENERATED.search(name) or name.endswith("[]") or not name:
                self.classes[name] = None
            elif text is None:
                wanted.append(name)
            else:
                self.classes[name] = _parse(name, text)
        for i in range(0, len(wanted), AT_ONCE):
            self._ask(wanted[i:i + AT_ONCE])

    def _path(self, name):
        return os.path.join(self.directory, hashlib.sha256(name.encode()).hexdigest()[:24])

    def _kept(self, name):
        try:
            with open(self._path(name), encoding="utf-8") as f:
                return f.read()
        except OSError:
            return None

    def _ask(self, names):
        # One of a tree of its own may not run here.
        home = self.home if self.home in [j.home for j in jdks()] else jdks()[-1].home
        javap = os.path.join(home, "bin/javap")
        command = [javap, "-c", "-p", "-v", "--system", self.home, "--multi-release", self.release, "-cp", self.class_path]
        environment = {k: v for k, v in os.environ.items() if "JAVA" not in k}
        said = subprocess.run([*command, *names], env=environment, capture_output=True, text=True, check=False).stdout
        texts = {}
        for text in re.split(r"^(?=Classfile )", said, flags=re.MULTILINE):
            this = re.search(r"^  this_class: #\d+\s+// (\S+)", text, re.MULTILINE)
            if this:
                texts[_dots(this.group(1))] = text
        for name in names:
            text = texts.get(name, NO_SUCH)
            with open(self._path(name), "w", encoding="utf-8") as f:
                f.write(text)
            self.classes[name] = _parse(name, text)


def _dots(name):
    return name.strip('"').replace("/", ".")


def _operand(own, op, rest):
    """What a bytecode names: of "#7   // Field count:I", and so on."""
    if op == "newarray":
        return "type", rest.split()[-1], "", ""
    words = re.search(r"// (Field|Method|InterfaceMethod|InvokeDynamic|class|String) (.*)$", rest)
    if not words:
        return "", "", "", ""
    what, text = words.groups()
    if what == "class":
        return what, _dots(text), "", ""
    member = _MEMBER.match(text) if what in ("Field", "Method", "InterfaceMethod") else None
    if not member:
        return what, "", "", ""
    return what, _dots(member["owner"] or own), member["name"].strip('"'), member["descriptor"]


def _name_in(head, class_name):
    """The method's name, of javap's line for it."""
    if head == "  static {};":
        return "<clinit>"
    name = head.partition("(")[0].split()[-1]
    return "<init>" if name == class_name else name


def _parse(name, text):
    if text == NO_SUCH:
        return None
    parent = _SUPER.search(text)
    methods = collections.defaultdict(list)
    head, method, in_code = None, None, False
    for line in text.splitlines():
        if _HEAD.match(line):
            head, method, in_code = line, None, False
        elif line.startswith("    descriptor: ("):
            method = Method(_name_in(head, name), line.split()[1])
            methods[method.name].append(method)
        elif not method:
            continue
        elif line.startswith("    flags: "):
            method.flags = line
        elif line == "    Code:":
            in_code = True
        elif "vm.annotation.IntrinsicCandidate" in line or "jdk.internal.HotSpotIntrinsicCandidate" in line:
            method.intrinsic = True
        elif in_code and re.match(r"^ {4,6}[A-Z]\w+:", line):
            in_code = False
        elif in_code and (code := _CODE.match(line)):
            method.code.append(Bytecode(int(code[1]), code[2], *_operand(name, code[2], code[3])))
    return Class(name, _dots(parent.group(1)) if parent else "", dict(methods))
