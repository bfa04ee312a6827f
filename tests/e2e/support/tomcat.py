"""Debian's Tomcat 10 with its example pages, and wrk that asks for them (tomcat10-user, tomcat10-examples, wrk)."""
import os
import re
import signal
import socket
import subprocess
import urllib.request

from lib import Process, make_directory

HOME = "/usr/share/tomcat10"
EXAMPLES = "/etc/tomcat10/Catalina/localhost/examples.xml"
PAGES = [
    "jsp/num/numguess.jsp", "jsp/dates/date.jsp", "jsp/snp/snoop.jsp", "jsp/jsp2/el/basic-arithmetic.jsp",
    "jsp/jsp2/el/basic-comparisons.jsp", "jsp/jsp2/el/implicit-objects.jsp?foo=bar", "jsp/jsp2/simpletag/repeat.jsp",
    "jsp/jsp2/simpletag/book.jsp", "jsp/jsp2/tagfiles/products.jsp", "jsp/simpletag/foo.jsp", "jsp/forward/forward.jsp",
    "jsp/include/include.jsp", "servlets/servlet/HelloWorldExample", "servlets/servlet/RequestHeaderExample",
]
# One session for all, or the heap would fill with sessions.
LOAD = """
local pages = {%s}
local n = 0
request = function()
    n = n %% #pages + 1
    return wrk.format("GET", "/examples/" .. pages[n], {["Cookie"] = "%s"})
end
"""


def _free_ports(count):
    taken = [socket.socket() for _ in range(count)]
    for s in taken:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in taken]
    for s in taken:
        s.close()
    return ports


class Tomcat:
    """In a directory of its own, under load for so many seconds. pid is the JVM's."""

    def __init__(self, jdk, seconds):
        port, control = _free_ports(2)
        base = os.path.join(make_directory(), "base")
        subprocess.run(["tomcat10-instance-create", "-p", str(port), "-c", str(control), base], check=True,
                       capture_output=True)
        contexts = os.path.join(base, "conf/Catalina/localhost")
        os.makedirs(contexts)
        with open(EXAMPLES, encoding="utf-8") as f, open(os.path.join(contexts, "examples.xml"), "w",
                                                         encoding="utf-8") as g:
            g.write(f.read())
        environment = {**{k: v for k, v in os.environ.items() if "JAVA" not in k}, "CATALINA_BASE": base,
                       "CATALINA_HOME": HOME, "JAVA_HOME": jdk.home, "CATALINA_OPTS": "-Xmx512m"}
        # The script becomes the JVM.
        self.server = Process([f"{HOME}/bin/catalina.sh", "run"], env=environment)
        self.pid = self.server.pid
        self.server.wait_for("Server startup in", 120)
        script = os.path.join(base, "load.lua")
        with open(script, "w", encoding="ascii") as f:
            f.write(LOAD % (", ".join(f'"{p}"' for p in PAGES), _session(port)))
        self.load = Process(["wrk", "-t1", "-c8", f"-d{int(seconds)}s", "-s", script, f"http://127.0.0.1:{port}"])

    def pause(self):
        os.kill(self.load.pid, signal.SIGSTOP)
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self):
        os.kill(self.pid, signal.SIGCONT)
        os.kill(self.load.pid, signal.SIGCONT)

    def stop(self):
        self.load.stop()
        self.server.stop()


def _get(port, page):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/examples/{page}", timeout=60) as answer:
        return answer.headers.get("Set-Cookie", "")


def _session(port):
    """Its cookie, once every page has been asked for."""
    cookies = [_get(port, page) for page in PAGES]
    return re.match(r"[^;]*", next(c for c in cookies if c))[0]
