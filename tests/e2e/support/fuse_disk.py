"""A disk that may stop answering: support/fuse.py, mounted in a directory of its own."""
import ctypes
import os
import signal
import sys

from lib import Process, make_directory, skip

SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fuse.py")


class FuseDisk(Process):
    """Its server is a process of that user. files: paths of the contents by name."""

    def __init__(self, uid, files):
        if os.geteuid() != 0 or not os.path.exists("/dev/fuse"):
            skip("there is no /dev/fuse, or not for this user")
        self.path = make_directory()
        super().__init__([sys.executable, SERVER, self.path, str(uid), *(f"{name}={path}" for name, path in files.items())])
        self.wait_for("serving")

    def file(self, name):
        return os.path.join(self.path, name)

    def freeze(self):
        os.kill(self.pid, signal.SIGUSR1)
        self.wait_for("frozen")

    def stop(self):
        """Its end answers whoever still waits."""
        self._signal(signal.SIGKILL)
        self.child.wait()
        ctypes.CDLL(None).umount2(self.path.encode(), 2)
