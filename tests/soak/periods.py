#!/usr/bin/env python3
"""Ten minutes as an SRE would have them: Tomcat under wrk and four small JVMs, two schedules of different kinds. The report
of each application has every window of every kind, halves do not differ, and what the daemon itself took is said.

    SOAK_MINUTES    how long (default 10)"""
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))

from lib import jdks, wait_until  # noqa: E402
from support.profile import Daemon, Workload, stamp, succeeded  # noqa: E402
from support.tomcat import Tomcat  # noqa: E402

MINUTES = float(os.environ.get("SOAK_MINUTES", "10"))
# wrk takes the processors that the guards would leave to others.
CONFIG = """
guards: { cpu-pressure: 100%, load: 100 }
apps:
  - match: { main-class: "org.apache.catalina.*" }
    app: tomcat
schedules:
  - { name: pairs, match: { app: "*" }, every: 30s, window: 5s, warm-up: 5s, kinds: [dead-store, silent-store, silent-load] }
  - { name: loops, match: { app: "*" }, every: 2m, window: 20s, warm-up: 5s, kinds: [loops] }
"""
SMALL = ("DeadStore", "ListSubtract", "MapRebuild", "ChartTimeline")


def windows_of(merged):
    return {k["kind"]: k["windows"] for k in merged["kinds"]}


class Ten:
    def __init__(self):
        self.tomcat = Tomcat(jdks()[0], 60 * MINUTES + 60)
        self.small = [Workload(jdks()[0], name) for name in SMALL]
        self.daemon = Daemon(config=CONFIG, http="127.0.0.1:0")
        self.start = time.time()

    def json(self, *arguments):
        return json.loads(succeeded(self.daemon.ctl("--json", *arguments)))

    def cost_s(self):
        lines = self.daemon.get("/metrics").splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.startswith("jxperf_own_cpu_seconds_total"))

    def end(self):
        """No window runs any more."""
        succeeded(self.daemon.ctl("pause"))
        wait_until(lambda: not [w for w in self.json("windows") if w["state"] in ("attaching", "running")], "the end of windows", 60)

    def check(self, app, middle):
        """Every window that ended is in the merge, or the merge says why not; halves are alike."""
        done = [w for w in self.json("windows", "--app", app) if w["state"] in ("done", "ended early")]
        merged = self.json("report", "--app", app, "--since", "1h")["window"]["merged"]
        of = windows_of(merged)
        left = {n["note"]: n["windows"] for n in merged["notes"]}
        asked = {s: sum(w["schedule"] == s for w in done) for s in ("pairs", "loops")}
        print(f"{app}: {len(done)} windows ({asked['pairs']} pairs, {asked['loops']} loops), merged {merged['windows']}, by kind {of}, "
              f"notes {left}")
        wrong = []
        if merged["windows"] + merged["skipped"] != len(done) or merged["skipped"]:
            wrong.append(f"{merged['skipped']} windows are left out")
        for kind, schedule in (("silent-load", "pairs"), ("dead-store", "pairs"), ("loops", "loops")):
            if of.get(kind, 0) != asked[schedule]:
                wrong.append(f"{kind} is of {of.get(kind, 0)} windows, and {asked[schedule]} had it")
        code = self.daemon.ctl("diff", f"1h..{stamp(middle)}", f"{stamp(middle)}..", "--app", app)
        print("\n".join("  " + line for line in code.stdout.splitlines()[:12]))
        compared = self.json("diff", f"1h..{stamp(middle)}", f"{stamp(middle)}..", "--app", app)["diff"]
        different = [name for name, d in compared.items() if isinstance(d, dict) and d.get("different")]
        if different:
            wrong.append(f"halves differ in {different}")
        return wrong


def main():
    ten = Ten()
    time.sleep(60 * MINUTES)
    middle = ten.start + 30 * MINUTES
    ten.end()
    ten.tomcat.load.stop()
    wrong = [f"{app}: {line}" for app in ("tomcat", *SMALL) for line in ten.check(app, middle)]
    everybody = ten.json("windows")
    states = {s: sum(w["state"] == s for w in everybody) for s in sorted({w["state"] for w in everybody})}
    print(f"windows by state: {states}; the daemon's own CPU time: {ten.cost_s():.2f} s in {time.time() - ten.start:.0f} s")
    print("\n".join(wrong) or "every window counts, and halves do not differ")
    return 1 if wrong else 0


sys.exit(main())
