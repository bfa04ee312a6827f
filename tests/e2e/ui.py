#!/usr/bin/env python3
"""`jxperfctl ui`: the live page, for whoever runs it and nobody else."""
# Takes two places: a browser and the JVM that it profiles are busy.
import http.client
import json
import os
import re
import signal
import subprocess

from lib import BUILD, ROOT, jdks, make_directory, note, run, skip, test, wait_until
from support.profile import CLIENT, Daemon, Workload, ctl

PAGE = os.path.join(BUILD, "share/jxperf/page.html")
SOURCES = os.path.join(ROOT, "page")
LIMIT_S = 600
APP = "SilentLoad"


class Ui:
    """The command, and what it says of itself."""

    def __init__(self, daemon):
        if os.path.getsize(PAGE) == 0:
            skip("the page was not built: Node.js or its libraries were not to be had (page/make)")
        self.process = subprocess.Popen([CLIENT, "--socket", daemon.socket, "ui"], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.address = self.process.stdout.readline().strip()
        self.port, self.token = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{64})", self.address).groups()
        self.host = f"127.0.0.1:{self.port}"
        self.home = "/"

    def ask(self, path, method="GET", **headers):
        """Status, headers and body of one answer; a path without a slash before it is below the page's own."""
        path = path if path.startswith("/") else self.home + path
        connection = http.client.HTTPConnection("127.0.0.1", int(self.port), timeout=LIMIT_S)
        connection.putrequest(method, path, skip_host=True)
        for name, value in {"Host": self.host, **headers}.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        answer = connection.getresponse()
        found = answer.status, answer.headers, answer.read().decode()
        connection.close()
        return found

    def open(self):
        """The cookie that the token's first use gives."""
        status, headers, _ = self.ask(f"/?token={self.token}")
        self.home = headers["Location"]
        assert status == 303 and re.fullmatch("/[0-9a-f]{64}/", self.home), (status, self.home)
        assert "HttpOnly" in headers["Set-Cookie"] and "SameSite=Strict" in headers["Set-Cookie"]
        # Cookies of a host are sent to all of its ports, but to this path only.
        assert f"Path={self.home};" in headers["Set-Cookie"]
        return headers["Set-Cookie"].split(";")[0]

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(LIMIT_S) == 0, self.process.stderr.read()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()


@test
def only_the_one_with_the_token_gets_in_and_it_works_once():
    daemon = Daemon()
    with Ui(daemon) as ui:
        for path in ("/", "/?token=", "/?token=" + "0" * 64, "/api/jvms", "/window?window=w1"):
            assert ui.ask(path)[0] == 403, path
        cookie = ui.open()
        assert ui.ask(f"/?token={ui.token}")[0] == 403
        assert ui.ask(f"/?token={ui.token}", Cookie=cookie)[0] == 403
        assert ui.ask("", Cookie=cookie)[0] == 200
        assert ui.ask("/", Cookie=cookie)[0] == 403 and ui.ask("/api/jvms", Cookie=cookie)[0] == 403
        assert ui.ask("", Cookie=cookie[:-1] + ("0" if cookie[-1] != "0" else "1"))[0] == 403
        assert json.loads(ui.ask("api/windows", Cookie=cookie)[2]) == []
        ui.stop()


@test
def other_sites_and_other_names_of_this_host_get_nothing():
    daemon = Daemon()
    with Ui(daemon) as ui:
        cookie = ui.open()
        for host in ("evil.example", f"evil.example:{ui.port}", "127.0.0.1", f"127.0.0.1:{int(ui.port) + 1}", ""):
            assert ui.ask("", Host=host, Cookie=cookie)[0] == 403, host
        assert ui.ask("", Host=f"localhost:{ui.port}", Cookie=cookie)[0] == 200
        for origin in ("http://evil.example", "null", f"https://{ui.host}", f"http://{ui.host}.evil.example"):
            assert ui.ask("api/jvms", Origin=origin, Cookie=cookie)[0] == 403, origin
            assert ui.ask("api/detach?pid=1", method="POST", Origin=origin, Cookie=cookie)[0] == 403, origin
        assert ui.ask("api/detach?pid=1", method="POST", Cookie=cookie)[0] == 403, "a POST without an origin"
        assert ui.ask("api/jvms", Origin=f"http://{ui.host}", Cookie=cookie)[0] == 200
        ui.stop()


@test
def nothing_but_its_own_commands_can_be_run():
    daemon = Daemon()
    with Ui(daemon) as ui:
        cookie, own = ui.open(), f"http://{ui.host}"
        for path in ("api/reload", "etc/passwd", "api/jvms/", "x"):
            assert ui.ask(path, Cookie=cookie)[0] == 404, path
        for path in ("window?window=-o", "window?window=w1%20--socket", "window", "window?window=/tmp/report.json",
                     "compare?a=w1&b=../x.json", "periods?app=x&a=../x.json&b=1h..", "periods?a=2h..1h&b=1h..",
                     "api/findings?window=w1&pairs=1%20", "api/windows?app=--since"):
            assert ui.ask(path, Cookie=cookie)[0] == 400, path
        for path in ("api/attach?pid=1&duration=1s&budget=1%25&kinds=--force", "api/attach?pid=x&duration=1s&budget=1%25",
                     "api/attach?duration=1s&budget=1%25", "api/detach?pid=-1"):
            assert ui.ask(path, method="POST", Origin=own, Cookie=cookie)[0] == 400, path
        assert ui.ask("api/attach?pid=1&duration=1s&budget=1%25", Cookie=cookie)[0] == 405
        assert ui.ask("api/jvms", method="POST", Origin=own, Cookie=cookie)[0] == 405
        status, _, body = ui.ask("window?window=w99", Cookie=cookie)
        assert status == 409 and "w99" in body and "\n" not in body.strip(), body
        ui.stop()


@test
def a_window_is_started_watched_and_compared_in_a_browser():
    daemon = Daemon()
    target = Workload(jdks()[0], APP)
    directory = make_directory()
    with Ui(daemon) as ui:
        done = subprocess.run(["node", os.path.join(SOURCES, "test/browser/live.mjs"), ui.address, APP, directory], cwd=SOURCES,
                              text=True, capture_output=True, timeout=LIMIT_S, check=False)
        for line in done.stdout.splitlines():
            note(line)
        assert done.returncode == 0 and "ok two windows are compared" in done.stdout, (done.stdout + done.stderr)[-3000:]
        ui.stop()
    assert len(json.loads(daemon.ctl("--json", "windows").stdout)) == 3
    target.stop()


@test
def ends_with_a_signal_and_its_commands_with_it():
    daemon = Daemon()
    with Ui(daemon) as ui:
        ui.open()
        ui.stop()
        wait_until(lambda: not subprocess.run(["pgrep", "-P", str(ui.process.pid)], capture_output=True, check=False).stdout, "no children")


@test
def without_a_daemon_it_says_so():
    done = ctl("--socket", os.path.join(make_directory(), "nobody"), "ui")
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, done


run()
