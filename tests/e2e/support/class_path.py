"""Where the files of a JVM's classes are: in its image of modules (lib/modules), and along a class path."""
import functools
import mmap
import os
import re
import struct
import zipfile

from lib import made_once

MAGIC, HEADER_BYTES = 0xCAFEDADA, 28
HASH = 0x01000193
END, OFFSET, COMPRESSED, SIZE = 0, 5, 6, 7  # of a resource's attributes


class Image:
    """A JDK's modules, as its jlink wrote them."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self._data = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
        magic, _, _, _, self._count, locations, strings = struct.unpack_from("<7I", self._data)
        assert magic == MAGIC, f"{path} is no image of modules"
        self._locations = HEADER_BYTES + 8 * self._count
        self._strings = self._locations + locations
        self._contents = self._strings + strings

    def _number(self, name):
        """Of a resource, or -1."""

        def hashed(seed):
            for byte in name.encode():
                seed = (seed * HASH & 0xFFFFFFFF) ^ byte
            return (seed & 0x7FFFFFFF) % self._count

        redirected, = struct.unpack_from("<i", self._data, HEADER_BYTES + 4 * hashed(HASH))
        return hashed(redirected) if redirected > 0 else -1 - redirected

    def _text(self, at):
        return self._data[self._strings + at:self._data.find(b"\0", self._strings + at)].decode()

    def _attributes(self, number):
        at = self._locations + struct.unpack_from("<I", self._data, HEADER_BYTES + 4 * (self._count + number))[0]
        found = [0] * 32  # Newer JDKs have more of them.
        while self._data[at] >> 3 != END:
            length = (self._data[at] & 7) + 1
            found[self._data[at] >> 3] = int.from_bytes(self._data[at + 1:at + 1 + length], "big")
            at += 1 + length
        return found

    def _resource(self, name):
        """Its bytes, or None: names that are not there have the number of another."""
        number = self._number(name)
        if number < 0:
            return None
        attributes = self._attributes(number)
        module, parent, base, extension = (self._text(a) for a in attributes[1:5])
        if name != (f"/{module}" if module else "") + "/" * bool(parent) + f"{parent}/{base}" + "." * bool(extension) + extension:
            return None
        assert not attributes[COMPRESSED], f"{name} is compressed"
        at = self._contents + attributes[OFFSET]
        return self._data[at:at + attributes[SIZE]]

    def find(self, name):
        """The bytes of a class's file, by its name with slashes, or None."""
        package = self._resource(f"/packages/{os.path.dirname(name).replace('/', '.')}")
        for at in range(0, len(package or b""), 8):
            found = self._resource(f"/{self._text(struct.unpack_from('<I', package, at + 4)[0])}/{name}.class")
            if found:
                return found
        return None


class Jar:
    """A file of the class path, with what its manifest says."""

    def __init__(self, path, release):
        self._zip = zipfile.ZipFile(path)
        self._names = set(self._zip.namelist())
        manifest = self._zip.read("META-INF/MANIFEST.MF").decode() if "META-INF/MANIFEST.MF" in self._names else ""
        manifest = re.sub(r"\r?\n ", "", manifest)
        versions = re.search(r"^Multi-Release: *true", manifest, re.MULTILINE | re.IGNORECASE)
        self._versions = [f"META-INF/versions/{v}/" for v in range(release, 8, -1)] if versions else []
        more = re.search(r"^Class-Path: *(.*?)\r?$", manifest, re.MULTILINE)
        self.more = [os.path.join(os.path.dirname(path), p) for p in (more.group(1).split() if more else ())]

    def find(self, name):
        for path in (f"{v}{name}.class" for v in (*self._versions, "")):
            if path in self._names:
                return self._zip.read(path)
        return None


class Directory:
    """Of the class path."""

    more = ()

    def __init__(self, path, _):
        self._path = path

    def find(self, name):
        try:
            with open(os.path.join(self._path, f"{name}.class"), "rb") as f:
                return f.read()
        except OSError:
            return None


image_of = made_once(Image)


@functools.lru_cache(maxsize=None)
def _place(path, _, release):
    return (Directory if os.path.isdir(path) else Jar)(path, release)


def place_of(path, release):
    """That part of a class path, for a JVM of the release; opened again when it has changed."""
    return _place(path, os.path.getmtime(path), release)


def places_of(class_path, release):
    """The parts of a class path, with what their manifests name. What is not there counts for nothing, as to a JVM."""
    left, met = [p for p in class_path.split(":") if p], set()
    while left:
        path = left.pop(0)
        if path not in met and os.path.exists(path):
            met.add(path)
            place = place_of(path, release)
            left = [*place.more, *left]
            yield path, place


def with_manifests(class_path, release):
    """All paths of it, those that manifests name, too."""
    return [path for path, _ in places_of(class_path, release)]


class ClassPath:
    """Of a JVM of the JDK that is at home."""

    def __init__(self, home, class_path):
        with open(os.path.join(home, "release"), encoding="utf-8") as f:
            release = int(re.search(r'JAVA_VERSION="(?:1\.)?(\d+)', f.read()).group(1))
        self._image = image_of(os.path.join(home, "lib/modules"))
        self._left = places_of(class_path, release)
        self._opened = []  # of the places, in their order: when what is before them has no such class

    def _places(self):
        yield from self._opened
        for _, place in self._left:
            self._opened.append(place)
            yield place

    def find(self, name):
        """The bytes of a class's file, by its name with dots, or None."""
        name = name.replace(".", "/")
        return self._image.find(name) or next(filter(None, (p.find(name) for p in self._places())), None)
