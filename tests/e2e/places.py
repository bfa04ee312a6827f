"""What sampled accesses are said to touch, beside what they do touch: classes and fields of objects whose layouts a program
knows (tests/workloads/KnownPlaces.java), with every collector, layout of headers and width of references.

What is unknown may be said to be; what is named must be right. By method, since each of the program's methods touches known
places only.

  PLACES_CHECKED   how many observations each JVM must have had checked; windows follow each other until then (default: one
                   window, of a few JVMs that differ most). `make soak-places` checks 100,000 of all JVMs together.
  PLACES_ONLY      JVMs whose names have this in them
  PLACES_LOOKALIKES   1: also arrays of numbers that are the headers of other objects
"""
# Takes two places: its windows keep both processors busy.
# Estimates: shares, from samples.
import collections
import dataclasses
import functools
import glob
import os
import re
import subprocess

from lib import ROOT, add_test, jdks, make_directory, note, run, skip
from support.profile import OPTION_OF, Windows, Workload, classes
from support.tree import Contained, bring_workloads, homes

CHECKED = int(os.environ.get("PLACES_CHECKED", "0"))
ONLY = os.environ.get("PLACES_ONLY", "")
LOOKALIKES = os.environ.get("PLACES_LOOKALIKES") == "1"
WINDOWS_MOST = 60

CPU_S = 3
OPTIONS = ["--kinds", "dead-store,silent-store,silent-load,objects", "--budget", "20%", "--period", "200us"]
# The program's methods, and those of records.
NEVER_INLINED = ["-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,KnownPlaces*::touch_*",
                 "-XX:CompileCommand=dontinline,KnownRecords*::touch_*", "-XX:CompileCommand=dontinline,Lookalikes::touch_*"]

CLASS_RIGHT_LEAST = 0.97
FIELD_RIGHT_LEAST = 0.95
# So that a share of 95% is told from one of 90%.
LEAST = 500

# Its stores are to an object in the thread's allocation buffer, where G1's compiled code has a pointer to the field alone
# from JDK 24 on.
NEW = "touch_new_ref"
NEW_RIGHT_LEAST = 0.7
NEW_LEAST = 10

COMPRESSED = {"no narrow references": ["-XX:-UseCompressedOops"],
              "no narrow class pointers": ["-XX:-UseCompressedClassPointers"],
              "shifted references": ["-Xmx6g"],
              "references from a base": ["-XX:HeapBaseMinAddress=40g"]}
COMPACT = ["-XX:+UseCompactObjectHeaders"]
# In a tree of their own: release, collector, options.
LATER = [(11, "G1", []), (11, "Parallel", []), (11, "Serial", []),
         (21, "G1", []), (21, "Parallel", []), (21, "ZGC", []), (21, "ZGC", ["-XX:+ZGenerational"]), (28, "G1", []), (28, "ZGC", [])]


# ---------------------------------------------------------------- what is so


@dataclasses.dataclass(frozen=True)
class Place:
    """A place that a method may touch. * stands for anything, at the end of a name for any rest, - for nothing."""

    kind: str
    of: str
    field: str
    declared_in: str
    type: str

    def is_of(self, name):
        return _means(self.of, name)

    def is_at(self, location):
        return all(_means(said, location.get(key)) for said, key in (
            (self.kind, "kind"), (self.of, "class"), (self.field, "field"), (self.declared_in, "declared_in"),
            (self.type, "type")))


def _means(said, name):
    if said == "-":
        return not name
    return (name or "").startswith(said[:-1]) if said.endswith("*") else said == name


def places_of(jvm):
    """By method."""
    found = collections.defaultdict(list)
    for method, *words in re.findall(r"^touch (\S+) (\S+) (\S+) (\S+) (\S+) (\S+)$", jvm.output(), re.MULTILINE):
        found[method].append(Place(*words))
    return found


def offsets_of(jvm):
    """Bytes, by declaring class and field."""
    return {(of, field): int(at) for of, field, at in re.findall(r"^offset (\S+) (\S+) (\d+)$", jvm.output(), re.MULTILINE)}


# ---------------------------------------------------------------- what is said


# What the methods call, inlined into them.
LIBRARY = ("java.", "jdk.", "sun.")


class Tally:
    """Observations of one JVM, each with a location and the frames of its access."""

    def __init__(self, places, offsets):
        self.places = places
        self.offsets = offsets
        self.laid_out = set()
        self.checked = self.heap = self.heap_class = self.heap_place = 0
        self.wrong = collections.Counter()
        self.unknown = collections.Counter()
        self.methods = collections.Counter()

    def _touching(self, frames):
        """The touch method whose own code, or that of a library in it, made the access."""
        for frame in frames:
            if frame["method"] in self.places:
                return frame["method"]
            if not frame["class"].startswith(LIBRARY):
                return None
        return None

    def add(self, location, frames, count, says):
        """An access to the heap. says: where the report says so."""
        kind, of = location["kind"], location.get("class")
        self.heap += count
        self.heap_class += count * bool(of)
        self.heap_place += count * (kind != "unknown")
        method = self._touching(frames)
        if not method:
            return
        self.checked += count
        self.methods[method] += count
        if kind == "unknown":
            self.unknown[(method, of or "no class", says)] += count
            # Static fields lie in the object that stands for their class.
            right = not of or any(p.is_of(of) or (p.kind, of) == ("static", "java.lang.Class") for p in self.places[method])
        else:
            right = any(p.is_at(location) for p in self.places[method])
        if not right:
            self.wrong[(method, says, _words(location))] += count

    def add_report(self, report):
        for kind in report["inefficiency"]:
            for pair in kind["pairs"]:
                if pair["region"] != "heap":
                    self._add_elsewhere(kind, pair)
                    continue
                for access in ("watch", "trap"):
                    says = f"{kind['kind']} {access}, {pair[access]['instruction']}"
                    self.add(pair[access]["location"], pair[access]["frames"], pair["count"], says)
        for site in report["objects"]:
            for access in site["accesses"]:
                self.add(access["location"], access["frames"], access["samples"], "objects")
        for row in report["classes"]:
            self._add_layout(row)
            for field in row["fields"]:
                location = {"class": row["class"], **field}
                for access in field["accesses"]:
                    self.add(location, access["frames"], access["samples"], "classes")

    def _add_layout(self, row):
        """Fields lie where the JVM has them, within their object and beside each other."""
        end = 0
        for field in sorted((f for f in row["fields"] if "offset" in f), key=lambda f: f["offset"]):
            name = (field["declared_in"], field["field"])
            at = field["offset"]
            if at < end or at + field["size"] > row.get("size", 0) or self.offsets.get(name, at) != at:
                self.wrong[(row["class"], f"bytes {at} to {at + field['size']} of {row.get('size')}", name)] += 1
            self.laid_out.update({name} & self.offsets.keys())
            end = at + field["size"]

    def _add_elsewhere(self, kind, pair):
        """What is on a stack is nobody's field."""
        for access in ("watch", "trap"):
            location = pair[access]["location"]
            if location["kind"] not in ("spill", "stack", "unknown"):
                says = f"{kind['kind']} {access} in {pair['region']}"
                self.wrong[(self._touching(pair[access]["frames"]), says, _words(location))] += pair["count"]

    @property
    def class_right(self):
        return self.heap_class / self.heap

    @property
    def place_right(self):
        return self.heap_place / self.heap

    def lines(self):
        yield (f"{self.checked} checked of {self.heap} of the heap, in {len(self.methods)} of {len(self.places)} methods; class known "
               f"{self.class_right:.4f}, place {self.place_right:.4f}; wrong {sum(self.wrong.values())}")
        missing = sorted(set(self.places) - set(self.methods))
        yield f"where it lies was compared of {len(self.laid_out)} of {len(self.offsets)} fields"
        yield f"seldom met: {' '.join(missing) or 'none'}"
        for (method, says, location), count in self.wrong.most_common(8):
            yield f"WRONG {count}: {method}, {says}: {location}"
        for (method, of, says), count in self.unknown.most_common(5):
            yield f"unknown {count}: {method}, {of}, {says}"


def _words(location):
    return " ".join(f"{key}={location.get(key)}" for key in ("kind", "class", "field", "declared_in", "type"))


# ---------------------------------------------------------------- JVMs


@functools.lru_cache(maxsize=None)
def newer_classes():
    """A directory of what JDK 11 cannot compile, or None."""
    jdk = next((j for j in jdks() if j.release >= 17 and os.access(j.javac, os.X_OK)), None)
    if not jdk:
        return None
    directory = make_directory()
    sources = glob.glob(os.path.join(ROOT, "tests/workloads/jdk17/*.java"))
    # It says of internal classes that they are.
    subprocess.run([jdk.javac, "--release", "17", "-cp", classes(), "-d", directory, *sources], check=True, capture_output=True)
    return directory


def start(jdk, options):
    newer = newer_classes() if jdk.release >= 17 else None
    return Workload(jdk, "KnownPlaces", *NEVER_INLINED, *options, before=[newer] if newer else (),
                    arguments=["KnownRecords"] if newer else ())


def start_lookalikes(jdk, options):
    return Workload(jdk, "KnownPlaces", *NEVER_INLINED, *options, before=[newer_classes()], arguments=["Lookalikes"])


def start_in_tree(home, options):
    return Contained(home, "KnownPlaces", *NEVER_INLINED, *options)


def measure(daemon, starts, *arguments):
    """What windows of a JVM say, and the JVM's words for its collector."""
    jvm = starts(*arguments)
    try:
        tally = Tally(places_of(jvm), offsets_of(jvm))
        for _ in range(WINDOWS_MOST):
            report = daemon.attach(jvm.pid, *OPTIONS, cpu_s=CPU_S)
            assert not report["window"]["ended_early"], report["window"]
            tally.add_report(report)
            if tally.checked >= CHECKED:
                break
        return tally, report
    finally:
        jvm.stop()


def judge(collector, result):
    tally, report = result.result()
    note(f"{report['window']['jdk']}, {report['window']['gc']}, overhead {report['quality']['overhead_fraction']:.3f}")
    for line in tally.lines():
        note(line)
    assert report["window"]["gc"] == collector, report["window"]
    assert tally.checked >= max(LEAST, CHECKED), tally.checked
    assert tally.laid_out or not tally.offsets, tally.offsets
    assert not tally.wrong, sum(tally.wrong.values())
    assert tally.class_right >= CLASS_RIGHT_LEAST, tally.class_right
    assert tally.place_right >= FIELD_RIGHT_LEAST, tally.place_right
    met, unknown = tally.methods[NEW], sum(n for (method, _, _), n in tally.unknown.items() if method == NEW)
    note(f"{NEW}: {met} checked, {unknown} unknown")
    assert met < NEW_LEAST or unknown <= (1 - NEW_RIGHT_LEAST) * met, (met, unknown)


def plan():
    """Name, collector, how the JVM starts and with what; or why it does not."""
    found = {j.release: j for j in jdks()}
    if 17 in found:
        for collector, option in OPTION_OF.items():
            yield f"JDK 17, {collector}", collector, start, found[17], [option]
        for words, options in COMPRESSED.items():
            yield f"JDK 17, G1, {words}", "G1", start, found[17], ["-XX:+UseG1GC", *options]
    newest = max(found.values(), key=lambda j: j.release)
    if newest.release != 17:
        for collector, option in OPTION_OF.items():
            yield f"{newest}, {collector}", collector, start, newest, [option]
            yield f"{newest}, {collector}, compact headers", collector, start, newest, [option, *COMPACT]
    for jdk in (found.get(17), newest) if LOOKALIKES else ():
        yield f"{jdk}, G1, with numbers like headers", "G1", start_lookalikes, jdk, ["-XX:+UseG1GC"]
    trees = homes() if os.geteuid() == 0 else {}
    for release, collector, options in LATER:
        words = ", generations" if options else ""
        yield (f"JDK {release}, {collector}{words}, in a tree of its own", collector, start_in_tree, trees.get(release),
               [OPTION_OF[collector], *options])


def is_one_of_the_few(name):
    """What is checked each time: with and without a load barrier, with each sort of header, the oldest fields' lists."""
    return name in ("JDK 17, Serial", "JDK 17, Shenandoah", "JDK 17, G1, no narrow class pointers",
                    "JDK 11, G1, in a tree of its own") or name.endswith((", ZGC", ", G1, compact headers"))


def is_able(starts, jdk, options):
    """Does it know the options? Those in the tree do."""
    return starts is start_in_tree or jdk.runs_with(*options)


def main():
    windows = Windows(measure)
    for name, collector, starts, jdk, options in plan():
        if ONLY not in name or not (CHECKED or ONLY or is_one_of_the_few(name)):
            continue
        name = f"accesses are to the places that they are said to be to ({name})"
        if not jdk:
            add_test(name, lambda: skip("needs root, and a tree that tests/jdks/fetch could unpack"))
        elif not is_able(starts, jdk, options):
            add_test(name, lambda o=options: skip(f"this JDK does not know {' '.join(o)}"))
        else:
            if starts is start_in_tree:
                bring_workloads()
            result = windows.ask(starts, jdk, options)
            add_test(name, lambda c=collector, r=result: judge(c, r))
    run()


main()
