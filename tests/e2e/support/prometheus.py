"""Debian's Prometheus, unpacked and not installed (tests/prometheus/fetch): promtool, and a server of a test's own."""
import json
import os
import socket
import subprocess
import urllib.parse
import urllib.request

from lib import HANG_S, Process, make_directory, skip, wait_until
from support.unpacked import unpacked


def program(name):
    directory = unpacked("prometheus", "usr/bin/promtool")
    if not directory:
        skip("Debian's package prometheus cannot be downloaded")
    return os.path.join(directory, name)


def promtool(*arguments, text=None):
    """Has to succeed and to say nothing on stderr."""
    done = subprocess.run([program("promtool"), *arguments], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stdout + done.stderr
    return done.stdout


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Prometheus(Process):
    """A server that scrapes targets ("ADDR:PORT") each second."""

    def __init__(self, *targets):
        directory = make_directory()
        self.address = f"127.0.0.1:{free_port()}"
        configuration = os.path.join(directory, "prometheus.yml")
        with open(configuration, "w", encoding="ascii") as f:
            json.dump({  # which is YAML
                "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
                "scrape_configs": [{"job_name": "jxperf", "static_configs": [{"targets": list(targets)}]}],
            }, f)
        super().__init__([
            program("prometheus"), f"--config.file={configuration}", f"--web.listen-address={self.address}",
            f"--storage.tsdb.path={directory}/data", "--enable-feature=exemplar-storage",
        ])
        wait_until(self._answers, "Prometheus")

    def _answers(self):
        try:
            with urllib.request.urlopen(f"http://{self.address}/-/ready", timeout=HANG_S) as answer:
                return answer.status == 200
        except OSError:
            return False

    def api(self, path, **parameters):
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=HANG_S) as answer:
            body = json.loads(answer.read())
        assert body["status"] == "success", body
        return body["data"]

    def query(self, expression):
        """{labels: value} of an instant query, by sorted pairs without the instance and the job."""
        ours = ("__name__", "instance", "job")
        return {
            tuple(sorted((k, v) for k, v in row["metric"].items() if k not in ours)): float(row["value"][1])
            for row in self.api("query", query=expression)["result"]
        }

    def value(self, expression):
        """Of the one series that there is; None without any."""
        values = list(self.query(expression).values())
        assert len(values) <= 1, values
        return values[0] if values else None
