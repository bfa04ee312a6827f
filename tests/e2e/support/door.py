"""The daemon as two services: an engine without privileges, and its privileged half behind a socket."""
import os
import shutil
import socket

from lib import BUILD, Process, make_directory
from support.profile import Daemon

DAEMON = os.path.join(BUILD, "bin/jxperfd")
ENGINE_USER = "daemon"


class Door(Process):
    """The broker's service, with the socket that systemd keeps for it."""

    def __init__(self, listener, user):
        super().__init__(["sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh", DAEMON, "--broker-for", user], close_fds=False,
                         env={**os.environ, "LISTEN_FDS": "1"}, preexec_fn=lambda: self.hand_over(listener))
        self.wait_for("ready")

    @staticmethod
    def hand_over(listener):
        os.dup2(listener.fileno(), 3, inheritable=True)
        os.set_inheritable(3, True)


class SplitDaemon(Daemon):
    """Whose engine has never been anybody but ENGINE_USER."""

    def __init__(self):
        directory = make_directory()
        path = os.path.join(directory, "broker.sock")
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(path)
        os.chmod(path, 0o666)
        listener.listen(8)
        self.door = Door(listener, ENGINE_USER)
        shutil.chown(directory, ENGINE_USER)
        prefix = ("setpriv", f"--reuid={ENGINE_USER}", f"--regid={ENGINE_USER}", "--clear-groups")
        super().__init__(prefix=prefix, options=("--broker", path), directory=directory)

    def stop(self):
        super().stop()
        self.door.stop()
