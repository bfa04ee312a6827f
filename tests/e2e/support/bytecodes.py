"""The bytecodes of a program's methods, from the files of its classes."""
import re

from .class_file import Class
from .class_path import ClassPath

# Made while the program runs: no file has them.
_GENERATED = re.compile(r"/0x|\$\$Lambda|\$\$\$|LambdaForm\$|\$Proxy\d|/\d+$|BoundMethodHandle\$Species_")


class Bytecodes:
    """Those of the classes that a JVM of a JDK finds on a class path."""

    def __init__(self, home, class_path):
        self._path = ClassPath(home, class_path)
        self._classes = {}

    def of(self, name):
        """The class (class_file.py), or None: it is not there, or made while the program ran."""
        if name not in self._classes:
            has_file = name and not name.endswith("[]") and not _GENERATED.search(name)
            data = self._path.find(name) if has_file else None
            self._classes[name] = Class(data) if data else None
        return self._classes[name]

    def methods(self, class_name, name):
        """All of the name in the class: a report does not say which of those that share one. Empty when it is not known."""
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
