"""As much of a debugger as a test needs: the Java Debug Wire Protocol over a socket.

Numbers are those of the JDWP specification (command sets and commands).
"""
import collections
import re
import socket
import struct

from lib import HANG_S, wait_until

OPTION = "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0"

VERSION, CLASSES_BY_SIGNATURE, ID_SIZES, RESUME = (1, 1), (1, 2), (1, 7), (1, 9)
METHODS = (2, 5)
SET_EVENT, CLEAR_EVENT = (15, 1), (15, 2)
COMPOSITE = (64, 100)
BREAKPOINT, SUSPEND_ALL, LOCATION_ONLY = 2, 2, 7
REPLY = 0x80


def port_of(process):
    """Where a JVM that was started with OPTION listens."""
    said = wait_until(lambda: re.search(r"Listening for transport dt_socket at address: (\d+)", process.output()),
                      "the debugger's port")
    return int(said.group(1))


class Debugger:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), HANG_S)
        self.socket.settimeout(HANG_S)
        self.events = collections.deque()
        self.last_id = 0
        self.socket.sendall(b"JDWP-Handshake")
        assert self._receive(14) == b"JDWP-Handshake"
        sizes = struct.unpack(">5i", self.command(ID_SIZES))
        assert sizes == (8, 8, 8, 8, 8), sizes

    def _receive(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            assert part, "the JVM closed the debugger's connection"
            data += part
        return data

    def _packet(self):
        """A reply as (id, error, data); events are kept aside and None returned."""
        length, number, flags, a, b = struct.unpack(">IIBBB", self._receive(11))
        data = self._receive(length - 11)
        if flags & REPLY:
            return number, a << 8 | b, data
        assert (a, b) == COMPOSITE, (a, b)
        self.events.append(data)
        return None

    def command(self, command, data=b""):
        self.last_id += 1
        self.socket.sendall(struct.pack(">IIBBB", 11 + len(data), self.last_id, 0, *command) + data)
        while True:
            packet = self._packet()
            if packet and packet[0] == self.last_id:
                assert packet[1] == 0, f"JDWP error {packet[1]}"
                return packet[2]

    def version(self):
        """The JVM's description of itself."""
        data = self.command(VERSION)
        length = struct.unpack_from(">I", data)[0]
        return data[4 : 4 + length].decode()

    def _method(self, signature, name):
        """The type tag, class and method ids."""
        data = self.command(CLASSES_BY_SIGNATURE, struct.pack(">I", len(signature)) + signature.encode())
        count, tag, class_id = struct.unpack_from(">IBQ", data)
        assert count == 1, (signature, count)
        data = self.command(METHODS, struct.pack(">Q", class_id))
        count, at = struct.unpack_from(">I", data)[0], 4
        for _ in range(count):
            method_id, length = struct.unpack_from(">QI", data, at)
            found = data[at + 12 : at + 12 + length].decode()
            at += 12 + length
            at += 4 + struct.unpack_from(">I", data, at)[0]  # signature
            at += 4  # modifiers
            if found == name:
                return tag, class_id, method_id
        raise AssertionError(f"{signature} has no method {name}")

    def set_breakpoint(self, signature, name):
        """At the method's entry; all threads stop there. The number of the request."""
        location = struct.pack(">BQQQ", *self._method(signature, name), 0)
        data = struct.pack(">BBIB", BREAKPOINT, SUSPEND_ALL, 1, LOCATION_ONLY) + location
        return struct.unpack(">I", self.command(SET_EVENT, data))[0]

    def await_breakpoint(self, request):
        while True:
            while self.events:
                data = self.events.popleft()
                kind, number = struct.unpack_from(">BI", data, 5)
                if (kind, number) == (BREAKPOINT, request):
                    return
            self._packet()

    def clear_breakpoint(self, request):
        self.command(CLEAR_EVENT, struct.pack(">BI", BREAKPOINT, request))

    def resume(self):
        self.command(RESUME)

    def close(self):
        self.socket.close()
