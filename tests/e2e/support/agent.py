"""Takes the engine's place opposite a real agent, to look at exactly what it sends.

Messages are those of proto/jxperf.proto, of which this file knows just enough: field numbers, and the
types of those fields that are not plain numbers.
"""
import os
import re
import socket
import struct
import subprocess
import threading
import time

from lib import BUNDLE, HANG_S, ROOT, make_directory, register, wait_until
from support import events

with open(os.path.join(ROOT, "proto/limits.h"), encoding="utf-8") as _limits:
    PROTOCOL = int(re.search(r"define PROTOCOL_VERSION (\d+)", _limits.read()).group(1))
LIBRARY = os.path.join(BUNDLE, "libjxperf-agent.so")
DEAD_STORE, SILENT_STORE, SILENT_LOAD, OBJECTS, NUMA = 1, 2, 3, 4, 5
CLOCK = 3
HEAP = 1

# Name and numbers of the counters that tests look at.
COUNTERS = {
    "samples": 2,
    "failed": 4,
    "superseded": 5,
    "hops": 6,
    "unwalkable": 14,
    "ring_full": 16,
    "handler_ns": 21,
    "sampled": 39,
    "small": 40,
    "untracked": 41,
    "queue_full": 42,
    "died": 43,
    "moved": 44,
    "passes": 45,
    "overtaken": 46,
    "pass_ns": 47,
    "accesses": 48,
}

# Fields by message: number -> (name, type). Types: u (varint), d (double), s (string), e (records of
# events.h), a message's name; a * before it: repeated.
FIELDS = {
    "AgentFrame": {1: ("hello", "AgentHello"), 2: ("batch", "Batch"), 4: ("ended", "Ended")},
    "AgentHello": {1: ("protocol", "u"), 4: ("jdk", "s"), 6: ("gc", "s")},
    "Ended": {1: ("error", "s")},
    "Batch": {
        1: ("time_ns", "u"),
        2: ("methods", "*Method"),
        3: ("nodes", "*Node"),
        4: ("instructions", "*Instruction"),
        7: ("counters", "*u"),
        8: ("cpu_ns", "u"),
        9: ("overhead_ns", "u"),
        10: ("period", "u"),
        11: ("classes", "*ObjectClass"),
        15: ("settled_ns", "u"),
        16: ("object_interval", "u"),
        18: ("objects_refused", "s"),
        26: ("events", "e"),
    },
    "Method": {1: ("id", "u"), 2: ("class_name", "s"), 3: ("name", "s")},
    "Node": {1: ("id", "u"), 2: ("parent", "u"), 3: ("method", "u"), 4: ("bci", "u"), 5: ("tier", "u")},
    "Instruction": {1: ("id", "u"), 2: ("text", "s")},
    "ObjectClass": {1: ("id", "u"), 2: ("name", "s")},
}


class Message(dict):
    """A decoded message; what was not sent reads as its default."""

    def __init__(self, kind):
        super().__init__()
        self.fields = {name: kind for name, kind in FIELDS[kind].values()}

    def of(self, record):
        """The events of a batch that are such records."""
        return [e for e in self.events if e.record == record]

    def __getattr__(self, name):
        kind = self.fields[name]
        if name in self:
            return self[name]
        return [] if kind[0] in "*e" else "" if kind == "s" else 0 if kind in "ud" else None


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def _value(kind, data):
    if kind == "s":
        return data.decode(errors="replace")
    if kind == "e":
        return events.unpack(data)
    return decode(kind, data)


def decode(kind, data):
    message, at = Message(kind), 0
    while at < len(data):
        key, at = _varint(data, at)
        wire, raw = key & 7, None
        if wire == 0:
            raw, at = _varint(data, at)
        elif wire == 1:
            raw, at = struct.unpack_from("<d", data, at)[0], at + 8
        else:
            length, at = _varint(data, at)
            raw, at = data[at : at + length], at + length
        name, field = FIELDS[kind].get(key >> 3, (None, None))
        if name is None:
            continue
        if field[0] == "*":
            values = message.setdefault(name, [])
            if field == "*u" and wire == 2:
                inner = 0
                while inner < len(raw):
                    number, inner = _varint(raw, inner)
                    values.append(number)
            else:
                values.append(raw if wire != 2 else _value(field[1:], raw))
        else:
            message[name] = raw if wire != 2 else _value(field, raw)
    return message


def _encoded_varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def encode(fields):
    """[(number, int, float, bytes or list of int)] as a message."""
    out = b""
    for number, value in fields:
        if isinstance(value, float):
            out += _encoded_varint(number << 3 | 1) + struct.pack("<d", value)
        elif isinstance(value, bytes):
            out += _encoded_varint(number << 3 | 2) + _encoded_varint(len(value)) + value
        elif isinstance(value, list):
            packed = b"".join(map(_encoded_varint, value))
            out += _encoded_varint(number << 3 | 2) + _encoded_varint(len(packed)) + packed
        else:
            out += _encoded_varint(number << 3) + _encoded_varint(value)
    return out


class Agent:
    """A session with the agent in a JVM. What it sends is gathered in the background."""

    def __init__(self, jdk, pid):
        self.batches, self.ended, self.counters = [], None, []
        self.latest = None  # the last batch with counters
        path = os.path.join(make_directory(), "agent")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen(1)
        os.chmod(path, 0o777)
        subprocess.run(
            [os.path.join(jdk.home, "bin/jcmd"), str(pid), "JVMTI.agent_load", LIBRARY, f'"socket={path}"'],
            check=True,
            capture_output=True,
        )
        listener.settimeout(HANG_S)
        self.socket, _ = listener.accept()
        listener.close()
        register(self)
        self.hello = self._receive().hello
        assert self.hello.protocol == PROTOCOL, self.hello
        self._send([(1, encode([(1, PROTOCOL)]))])
        self.reader = None

    def start(self, kinds=(OBJECTS,), period_ns=1_000_000, seconds=600, budget=1.0, min_size=0, objects=50000):
        deadline = time.clock_gettime_ns(time.CLOCK_MONOTONIC) + seconds * 10**9
        window = [(1, list(kinds)), (2, CLOCK), (3, period_ns), (4, deadline), (5, 4), (6, 64), (7, budget)]
        window += [(11, min_size), (12, objects)]
        self._send([(2, encode(window))])
        self.reader = threading.Thread(target=self._read_all, daemon=True)
        self.reader.start()
        wait_until(lambda: self.ended is not None or self.batches, "the first batch")

    def finish(self):
        """Ends the window; all batches have arrived then."""
        self._send([(3, b"")])
        self.reader.join(HANG_S)
        assert self.ended is not None, "the agent did not end its window"
        return self.ended.error

    def counter(self, name):
        latest = self.latest
        return latest.counters[COUNTERS[name]] if latest else 0

    def stop(self):
        self.socket.close()

    def _read_all(self):
        while self.ended is None:
            try:
                frame = self._receive()
            except (OSError, EOFError):
                return
            if frame.batch is not None:
                if frame.batch.counters:
                    self.latest = frame.batch
                self.batches.append(frame.batch)
            if frame.ended is not None:
                self.ended = frame.ended

    def _send(self, fields):
        payload = encode(fields)
        self.socket.sendall(struct.pack("<I", len(payload)) + payload)

    def _exactly(self, size):
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def _receive(self):
        (length,) = struct.unpack("<I", self._exactly(4))
        return decode("AgentFrame", self._exactly(length))
