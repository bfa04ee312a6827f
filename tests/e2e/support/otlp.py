"""Bodies of OTLP profiles: decoded by protoc with Debian's files of the protocol (tests/otlp/fetch), and held against
the rules that these files state (ProfilesDictionary, Sample, Profile, Function, Link in profiles.proto)."""
import os
import re
import subprocess

from lib import HANG_S, make_directory, skip
from support.unpacked import unpacked

PROFILES = "opentelemetry/proto/profiles/v1development/profiles.proto"
SERVICE = "opentelemetry/proto/collector/profiles/v1development/profiles_service.proto"
REQUEST = "opentelemetry.proto.collector.profiles.v1development.ExportProfilesServiceRequest"
# Of Sample before 1.10: opentelemetry-proto v1.9.0, profiles.proto.
NUMBERS_OF_1_9 = {"stack_index": 1, "values": 2, "attribute_indices": 3, "link_index": 4, "timestamps_unix_nano": 5}
TABLES = ("mapping_table", "location_table", "function_table", "link_table", "string_table", "attribute_table",
          "stack_table")
# Of semantic conventions those that a JVM's frames may have.
FRAME_TYPES = {"jvm", "native", "kernel"}


class Protocol:
    """The protocol in one of its versions 1.x."""

    def __init__(self, minor):
        compiler = unpacked("otlp", "usr/bin/protoc")
        if not compiler:
            skip("Debian's opentelemetry-proto and protoc cannot be downloaded")
        self.protoc = os.path.join(compiler, "protoc")
        self.include = os.path.join(compiler, "..", "include")
        self.paths = [f"-I{self.include}"]
        if minor < 10:
            self.paths.insert(0, f"-I{self._renumbered()}")

    def _renumbered(self):
        with open(os.path.join(self.include, PROFILES), encoding="utf-8") as file:
            before, sample, after = re.split(r"(^message Sample \{.*?^\}$)", file.read(), flags=re.M | re.S)
        for name, number in NUMBERS_OF_1_9.items():
            sample, changed = re.subn(rf"\b{name} = \d+;", f"{name} = {number};", sample)
            assert changed == 1, sample
        directory = make_directory()
        path = os.path.join(directory, PROFILES)
        os.makedirs(os.path.dirname(path))
        with open(path, "w", encoding="utf-8") as file:
            file.write(before + sample + after)
        return directory

    def decode(self, body, message=REQUEST):
        """The message as a dict: of a field all its values, in their order. What the protocol does not know has a
        number for a name."""
        done = subprocess.run([self.protoc, f"--decode={message}", *self.paths, SERVICE], input=body,
                              capture_output=True, timeout=HANG_S, check=False)
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        return _parsed(done.stdout.decode())


def _parsed(text):
    """protoc's text format, a line a field."""
    stack = [{}]
    for line in text.splitlines():
        line = line.strip()
        if line == "}":
            stack.pop()
        elif line.endswith(" {"):
            inner = {}
            stack[-1].setdefault(line[:-2], []).append(inner)
            stack.append(inner)
        else:
            name, value = line.split(": ", 1)
            stack[-1].setdefault(name, []).append(_value(value))
    assert len(stack) == 1, text
    return stack[0]


ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", '"': b'"', "'": b"'", "\\": b"\\"}


def _value(text):
    if text.startswith('"'):
        raw = re.sub(rb"\\([0-7]{3}|.)", lambda m: bytes([int(m[1], 8)]) if len(m[1]) == 3 else ESCAPES[m[1].decode()],
                     text[1:-1].encode())
        return raw
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def one(message, name, default=0):
    """The value of a field that is not repeated."""
    values = message.get(name, [])
    assert len(values) <= 1, (name, values)
    return values[0] if values else default


class Checker:
    """What is wrong with a request, rule by rule."""

    def __init__(self, request):
        self.request = request
        self.dictionary = one(request, "dictionary", {})
        self.tables = {name: self.dictionary.get(name, []) for name in TABLES}
        self.used = {name: {0} for name in TABLES}
        self.found = []
        self.ids = set()

    def complain(self, what):
        self.found.append(what)

    def unknown(self, message, where):
        for name, values in message.items():
            if re.fullmatch(r"\d+", name):
                self.complain(f"{where}: field {name} is not the protocol's")
            for value in values:
                if isinstance(value, dict):
                    self.unknown(value, f"{where}.{name}")

    def refer(self, table, index, where):
        """What the index leads to."""
        if not 0 <= index < len(self.tables[table]):
            self.complain(f"{where}: index {index} is not in {table}, of {len(self.tables[table])}")
            return {}
        self.used[table].add(index)
        return self.tables[table][index]

    def text(self, index, where):
        return self.refer("string_table", index, where) or b""

    def attributes(self, indices, where):
        found = {}
        for index in indices:
            attribute = self.refer("attribute_table", index, where)
            if not attribute:
                self.complain(f"{where}: refers to the attribute that is none")
                continue
            key = self.text(one(attribute, "key_strindex"), where)
            if key in found:
                self.complain(f"{where}: two attributes '{key.decode()}'")
            found[key] = one(attribute, "value", {})
        return found

    # ------------------------------------------------------------ tables

    def check_tables(self):
        for name, table in self.tables.items():
            if not table:
                self.complain(f"{name} is empty")
                continue
            if table[0] not in ({}, b""):
                self.complain(f"{name}[0] is not zero")
            seen = set()
            for item in table:
                if repr(item) in seen:
                    self.complain(f"{name}: twice {item!r}")
                seen.add(repr(item))
        for index, attribute in enumerate(self.tables["attribute_table"][1:], 1):
            where = f"attribute_table[{index}]"
            if not self.text(one(attribute, "key_strindex"), where):
                self.complain(f"{where}: no key")
            self.text(one(attribute, "unit_strindex"), where)
            if not one(attribute, "value", {}):
                self.complain(f"{where}: no value")
        for index, stack in enumerate(self.tables["stack_table"]):
            for location in stack.get("location_indices", []):
                if not self.refer("location_table", location, f"stack_table[{index}]"):
                    self.complain(f"stack_table[{index}]: refers to the location that is none")
        for index, location in enumerate(self.tables["location_table"][1:], 1):
            self.check_location(location, f"location_table[{index}]")
        for index, function in enumerate(self.tables["function_table"][1:], 1):
            where = f"function_table[{index}]"
            names = [self.text(one(function, f"{name}_strindex"), where)
                     for name in ("name", "system_name", "filename")]
            if not any(names):
                self.complain(f"{where}: no name")
        for index, link in enumerate(self.tables["link_table"][1:], 1):
            if (len(one(link, "trace_id", b"")), len(one(link, "span_id", b""))) != (16, 8):
                self.complain(f"link_table[{index}]: ids of a wrong size")
        for index, mapping in enumerate(self.tables["mapping_table"][1:], 1):
            self.text(one(mapping, "filename_strindex"), f"mapping_table[{index}]")
            self.attributes(mapping.get("attribute_indices", []), f"mapping_table[{index}]")

    def check_location(self, location, where):
        self.refer("mapping_table", one(location, "mapping_index"), where)
        names = []
        for line in location.get("lines", []):
            function = self.refer("function_table", one(line, "function_index"), where)
            names.append(self.text(one(function, "name_strindex"), where))
            if one(line, "line") < 0 or one(line, "column") < 0:
                self.complain(f"{where}: a line below 0")
        kind = one(self.attributes(location.get("attribute_indices", []), where).get(b"profile.frame.type", {}),
                   "string_value", b"").decode()
        separates = [name.startswith(b"[") for name in names] == [True]
        if kind not in FRAME_TYPES and not (kind == "" and separates):
            self.complain(f"{where}: frame type '{kind}' of {names}")

    def check_orphans(self):
        for name, table in self.tables.items():
            for index in set(range(len(table))) - self.used[name]:
                self.complain(f"{name}[{index}]: nothing refers to {table[index]!r}")

    # ------------------------------------------------------------ profiles

    def check_resources(self):
        if not self.request.get("resource_profiles"):
            self.complain("no resource_profiles")
        for resource in self.request.get("resource_profiles", []):
            keys = [one(a, "key", b"").decode() for a in one(resource, "resource", {}).get("attributes", [])]
            for key in ("service.name", "host.name"):
                if keys.count(key) != 1:
                    self.complain(f"{key} is {keys.count(key)} times among the resource's attributes")
            if len(set(keys)) != len(keys):
                self.complain(f"resource attributes twice: {keys}")
            if not resource.get("scope_profiles"):
                self.complain("a resource without scope_profiles")
            for scope in resource.get("scope_profiles", []):
                self.check_scope(scope)

    def check_scope(self, scope):
        named = one(scope, "scope", {})
        if one(named, "name", b"") != b"jxperf" or not one(named, "version", b""):
            self.complain(f"the scope is {named!r}")
        types = []
        for number, profile in enumerate(scope.get("profiles", [])):
            types.append(self.check_profile(profile, f"profile {number}"))
        if not types:
            self.complain("a scope without profiles")
        if len(set(types)) != len(types):
            self.complain(f"one type in two profiles of a window: {types}")

    def check_profile(self, profile, where):
        sample_type = self.value_type(profile, "sample_type", where)
        if not all(sample_type):
            self.complain(f"{where}: sample type {sample_type}")
        if one(profile, "period") != 0 and not all(self.value_type(profile, "period_type", where)):
            self.complain(f"{where}: a period of no type")
        if "period_type" in profile:
            self.value_type(profile, "period_type", where)
        identity = one(profile, "profile_id", b"")
        if len(identity) != 16 or not any(identity) or identity in self.ids:
            self.complain(f"{where}: id {identity!r}")
        self.ids.add(identity)
        self.attributes(profile.get("attribute_indices", []), where)
        if one(profile, "time_unix_nano") == 0:
            self.complain(f"{where}: no time")
        self.check_samples(profile, where)
        return sample_type

    def value_type(self, profile, name, where):
        value = one(profile, name, {})
        return (self.text(one(value, "type_strindex"), where), self.text(one(value, "unit_strindex"), where))

    def check_samples(self, profile, where):
        begin = one(profile, "time_unix_nano")
        end = begin + one(profile, "duration_nano")
        identities, shapes = set(), set()
        for sample in profile.get("samples", []):
            stack = self.refer("stack_table", one(sample, "stack_index"), where)
            if not stack.get("location_indices"):
                self.complain(f"{where}: a sample without a stack")
            self.attributes(sample.get("attribute_indices", []), where)
            self.refer("link_table", one(sample, "link_index"), where)
            values, times = sample.get("values", []), sample.get("timestamps_unix_nano", [])
            if times and values and len(times) != len(values):
                self.complain(f"{where}: {len(values)} values at {len(times)} times")
            if not times and len(values) != 1:
                self.complain(f"{where}: {len(values)} values of a sample")
            if any(not begin <= time < end for time in times):
                self.complain(f"{where}: a time outside of the profile's")
            if any(value <= 0 for value in values):
                self.complain(f"{where}: values {values}")
            identity = (one(sample, "stack_index"), frozenset(sample.get("attribute_indices", [])),
                        one(sample, "link_index"))
            if identity in identities:
                self.complain(f"{where}: two samples of the same stack and attributes")
            identities.add(identity)
            shapes.add((bool(values), bool(times)))
        if len(shapes) != 1:
            self.complain(f"{where}: samples of {len(shapes)} shapes")


def complaints(request):
    """What the decoded request breaks of the protocol's rules."""
    checker = Checker(request)
    checker.unknown(request, "request")
    checker.check_tables()
    checker.check_resources()
    checker.check_orphans()
    return checker.found
