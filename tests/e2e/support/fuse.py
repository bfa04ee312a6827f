"""A file system over /dev/fuse whose server, a process of another user, stops answering.

    python3 fuse.py MOUNTPOINT UID NAME=FILE...   serves each NAME with FILE's content, to all users

Reading a file whose name begins with "hang" is never answered, nor is writing one that begins with
"lock", which is without a page cache when it is opened again. After SIGUSR1 nothing is answered.
"""
import ctypes
import os
import signal
import stat
import struct
import subprocess
import sys

ROOT_NODE = 1
FIRST_NODE = 2
READ_BYTES = 1 << 17

LOOKUP, FORGET, GETATTR, OPEN, READ, WRITE, RELEASE, FLUSH, INIT, INTERRUPT, BATCH_FORGET = \
    1, 2, 3, 14, 15, 16, 18, 25, 26, 36, 42
DIRECT_IO = 1  # FOPEN_DIRECT_IO
ENOENT, ENOSYS = 2, 38


def mount(where, device, uid):
    """What fusermount(1) does for a user, and allow_other as fuse.conf may permit."""
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={device},rootmode=40755,user_id={uid},group_id={uid},allow_other"
    if libc.mount(b"test", where.encode(), b"fuse", 0, options.encode()) < 0:
        raise OSError(ctypes.get_errno(), "cannot mount")


class Server:
    def __init__(self, device, uid, files):
        self.device = device
        self.uid = uid
        self.names = {name: FIRST_NODE + i for i, name in enumerate(files)}
        self.content = dict(zip(self.names.values(), files.values()))
        self.hanging = {node for name, node in self.names.items() if name.startswith("hang")}
        self.direct = {node for name, node in self.names.items() if name.startswith("lock")}
        self.opens = {}
        self.frozen = False

    def attributes(self, node):
        data = self.content.get(node, b"")
        mode = stat.S_IFDIR | 0o755 if node == ROOT_NODE else stat.S_IFREG | 0o755
        return struct.pack("<6Q10I", node, len(data), 1, 0, 0, 0, 0, 0, 0, mode, 1, self.uid, self.uid, 0, 4096, 0)

    def answer(self, opcode, node, body):
        """Bytes, an error above 0, or None for none at all."""
        if opcode == INIT:
            return struct.pack("<4I2H2I2H8I", 7, 31, 1 << 17, 0, 16, 12, 1 << 17, 1, 32, 0, *[0] * 8)
        if opcode == LOOKUP:
            found = self.names.get(body.rstrip(b"\0").decode())
            # Nothing is cached: every access asks.
            return struct.pack("<4Q2I", found, 0, 0, 0, 0, 0) + self.attributes(found) if found else ENOENT
        if opcode == GETATTR:
            return struct.pack("<Q2I", 0, 0, 0) + self.attributes(node)
        if opcode == OPEN:
            self.opens[node] = self.opens.get(node, 0) + 1
            return struct.pack("<Q2I", 0, DIRECT_IO if node in self.direct and self.opens[node] > 1 else 0, 0)
        if opcode == READ:
            offset, size = struct.unpack_from("<QI", body, 8)
            return None if node in self.hanging else self.content[node][offset : offset + size]
        if opcode == WRITE and node in self.direct:
            return None
        if opcode in (RELEASE, FLUSH):
            return b""
        return None if opcode in (FORGET, INTERRUPT, BATCH_FORGET) else ENOSYS

    def freeze(self, *_):
        self.frozen = True
        print("frozen", flush=True)

    def run(self):
        while True:
            request = os.read(self.device, READ_BYTES + 4096)
            _, opcode, unique, node = struct.unpack_from("<2I2Q", request)
            answer = None if self.frozen else self.answer(opcode, node, request[40:])
            if answer is None:
                continue
            error, data = (-answer, b"") if isinstance(answer, int) else (0, answer)
            try:
                os.write(self.device, struct.pack("<IiQ", 16 + len(data), error, unique) + data)
            except FileNotFoundError:
                pass  # Who asked was killed meanwhile.


def main(where, uid, *files):
    contents = {}
    for pair in files:
        name, path = pair.split("=", 1)
        with open(path, "rb") as f:
            contents[name] = f.read()
    device = os.open("/dev/fuse", os.O_RDWR)
    mount(where, device, int(uid))
    os.setgroups([])
    os.setgid(int(uid))
    os.setuid(int(uid))
    server = Server(device, int(uid), contents)
    signal.signal(signal.SIGUSR1, server.freeze)
    print("serving", flush=True)
    server.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
