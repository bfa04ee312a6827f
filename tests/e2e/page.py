#!/usr/bin/env python3
"""`--format html`: the page has what the JSON report has, and works in a browser."""
# Takes two places: a browser and what drives it are busy.
import base64
import gzip
import json
import os
import re
import shutil
import subprocess

from lib import BUILD, ROOT, jdks, make_directory, note, run, skip, test
from support.profile import CLIENT, Daemon, Workload, succeeded

PAGE = os.path.join(BUILD, "share/jxperf/page.html")
SOURCES = os.path.join(ROOT, "page")
BUDGET = "10%"
ROWS = "10000"
LIMIT_S = 600

_made = {}


def need_page():
    if os.path.getsize(PAGE) == 0:
        skip("the page was not built: Node.js or its libraries were not to be had (page/make)")


def window():
    """One window with everything in it, and its daemon."""
    if not _made:
        daemon = Daemon()
        target = Workload(jdks()[0], "DeadStore")
        path = os.path.join(make_directory(), "page.html")
        printed = succeeded(daemon.ctl("attach", str(target.pid), "--duration", "5s", "--budget", BUDGET, "--kinds",
                                       "dead-store,silent-store,silent-load,objects,cpu,loops", "--format", "html", "-o", path))
        assert printed == "", printed
        target.stop()
        _made.update(daemon=daemon, path=path)
    return _made["daemon"], _made["path"]


def data_of(path):
    """The report that is in a page."""
    with open(path, encoding="utf-8") as file:
        found = re.findall(r'id="report">([A-Za-z0-9+/=]*)</script>', file.read())
    assert len(found) == 1, f"{len(found)} reports in {path}"
    return json.loads(gzip.decompress(base64.b64decode(found[0])))


def with_frames(report):
    """The same with calling contexts written out, as the JSON report has them."""
    contexts = report.pop("contexts")

    def frames(number):
        path = []
        while number:
            row = {name: contexts[name][number - 1] for name in ("parent", "method", "line", "bci", "tier")}
            names = contexts["methods"][row["method"] - 1] if row["method"] else ("", "", "")
            path.append(dict(zip(("class", "method", "file"), names), line=row["line"], bci=row["bci"], tier=row["tier"]))
            assert row["parent"] < number
            number = row["parent"]
        return path

    def inflate(value):
        if isinstance(value, list):
            return [inflate(v) for v in value]
        if isinstance(value, dict):
            return {k: frames(v) if k in ("frames", "alloc_frames") else inflate(v) for k, v in value.items()}
        return value

    return inflate(report)


@test
def has_what_the_json_report_has():
    need_page()
    daemon, _ = window()
    path = os.path.join(make_directory(), "page.html")
    succeeded(daemon.ctl("report", "w1", "--format", "html", "--pairs", ROWS, "-o", path))
    expected = json.loads(succeeded(daemon.ctl("report", "w1", "--format", "json", "--pairs", ROWS)))
    assert sum(len(kind["pairs"]) for kind in expected["inefficiency"]) > 0
    found = with_frames(data_of(path))
    assert expected.pop("comparison") and "comparison" not in found, "a page compares nothing itself"
    for name, value in expected.items():
        assert found[name] == value, f"'{name}' is another"
    note(f"a page of {os.path.getsize(path) // 1024} KiB, the page alone {os.path.getsize(PAGE) // 1024} KiB")
    assert os.path.getsize(PAGE) < 250 * 1024 and os.path.getsize(path) < 1024 * 1024


@test
def works_in_a_browser():
    need_page()
    daemon, path = window()
    directory = make_directory()
    compared, subsuming, stacks = (os.path.join(directory, name) for name in ("compared.html", "subsuming.html", "stacks"))
    succeeded(daemon.ctl("diff", "w1", "w1", "--format", "html", "-o", compared))
    succeeded(daemon.ctl("report", "w1", "--format", "collapsed", "-o", stacks))
    succeeded(daemon.ctl("subsume", stacks, "--output-format", "html", "-o", subsuming))
    done = subprocess.run(["node", os.path.join(SOURCES, "test/browser/run.mjs"), PAGE, directory, path, compared, subsuming],
                          cwd=SOURCES, text=True, capture_output=True, timeout=LIMIT_S, check=False)
    for line in done.stdout.splitlines():
        if ": " in line:
            note(line)
    assert done.returncode == 0 and "ok ten thousand pairs" in done.stdout, (done.stdout + done.stderr)[-4000:]


@test
def the_pages_own_tests_pass():
    need_page()
    for script in ("check", "test"):
        done = subprocess.run(["npm", "run", "--silent", script], cwd=SOURCES, text=True, capture_output=True, timeout=LIMIT_S, check=False)
        assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]


@test
def an_installation_without_a_page_says_so_before_a_window():
    daemon, _ = window()
    alone = os.path.join(make_directory(), "bin")
    os.mkdir(alone)
    client = shutil.copy(CLIENT, alone)
    done = subprocess.run([client, "--socket", daemon.socket, "report", "w1", "--format", "html"], text=True, capture_output=True,
                          timeout=LIMIT_S, check=False)
    assert done.returncode == 1 and done.stdout == "", done
    assert "built without Node.js" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


run()
