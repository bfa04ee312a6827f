"""An agent that comes after its client has given up leaves at once: the next attempt works."""
import os
import re
import socket
import subprocess

from lib import BUNDLE, HANG_S, make_directory, run, test_on_jdks, wait_until
from support.attach import AGENT, Jvm
from support.profile import Daemon

NO_CLIENT, LEAVING = 106, 107

ATTEMPTS = 10


def session_threads(jvm):
    names = []
    for thread in os.listdir(f"/proc/{jvm.pid}/task"):
        try:
            with open(f"/proc/{jvm.pid}/task/{thread}/comm", encoding="utf-8") as f:
                names.append(f.read().strip())
        except FileNotFoundError:
            pass  # It has ended.
    return names.count("jxperf agent")


def load(jdk, jvm, path):
    """Has the JVM load the agent for a client at path; what Agent_OnAttach returned."""
    command = [os.path.join(jdk.home, "bin/jcmd"), str(jvm.pid), "JVMTI.agent_load", os.path.join(BUNDLE, AGENT),
               f'"socket={path}"']
    p = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANG_S)
    code = re.search(r"return code: (\d+)", p.stdout)
    assert code, p
    return int(code.group(1))


@test_on_jdks
def an_agent_whose_client_has_given_up_leaves_nothing_behind(jdk):
    jvm = Jvm(jdk)
    for _ in range(3):
        assert load(jdk, jvm, os.path.join(make_directory(), "gone")) == NO_CLIENT
        assert session_threads(jvm) == 0
    # One that is there and does not listen: its client was killed.
    path = os.path.join(make_directory(), "deaf")
    with socket.socket(socket.AF_UNIX) as deaf:
        deaf.bind(path)
    assert load(jdk, jvm, path) == NO_CLIENT and session_threads(jvm) == 0
    daemon = Daemon()
    daemon.attach(jvm.pid, duration="1s")
    assert load(jdk, jvm, path) == NO_CLIENT
    daemon.attach(jvm.pid, duration="1s")
    jvm.stop()
    daemon.stop()


@test_on_jdks
def a_session_whose_client_leaves_at_once_is_not_called_another_session(jdk):
    jvm, seen = Jvm(jdk), set()
    for _ in range(ATTEMPTS):
        path = os.path.join(make_directory(), "agent")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen(1)
            code = load(jdk, jvm, path)
        seen.add(code)
        # The next attempt, while the session may still be on its way out.
        seen.add(load(jdk, jvm, "/nonexistent/agent"))
    assert seen <= {0, NO_CLIENT, LEAVING} and 0 in seen, seen
    wait_until(lambda: session_threads(jvm) == 0, "the end of the sessions")
    jvm.stop()


run()
