#!/usr/bin/env python3
"""Periods of an application whose schedules are for different kinds: each kind adds up over the windows that had it."""
# Takes half a place: it waits most of the time (windows of two seconds).
import json
import os
import time

from lib import Process, jdks, run, test, wait_until
from support.profile import NO_GUARDS, Daemon, stamp, succeeded
from support.summing import summing

PAIRS, LOOPS = 2, 2
TEAM = f"shop{os.getpid()}"
APPLICATIONS = f"""
host-budget: 90%
windows-at-once: 1
{NO_GUARDS}
environment: [TEAM]
apps:
  - match: {{environment: [TEAM={TEAM}], main-class: org.shop.*}}
    app: shop-web
  - match: {{environment: [TEAM={TEAM}]}}
    app: cart
"""
SCHEDULES = """
schedules:
  - {name: pairs, match: {app: shop-*}, every: 10s, window: 2s, warm-up: 1s, kinds: [silent-load, cpu], budget: 20%}
  - {name: loops, match: {app: shop-*}, every: 10s, window: 2s, warm-up: 1s, kinds: [loops], budget: 20%}
"""


class Host:
    def __init__(self):
        self.shop = self.jvm("shop")
        self.cart = self.jvm("cart")
        self.daemon = Daemon(config=APPLICATIONS + SCHEDULES)

    def jvm(self, package):
        classes = summing(f"org.{package}.Server", ints=1 << 18)
        process = Process([jdks()[0].java, "-Xmx64m", "-XX:+UseSerialGC", "-cp", classes,
                           f"org.{package}.Server"], env={**os.environ, "TEAM": TEAM})
        process.wait_for("up")
        return process

    def json(self, *arguments):
        return json.loads(succeeded(self.daemon.ctl("--json", *arguments)))

    def text(self, *arguments):
        return succeeded(self.daemon.ctl(*arguments))

    def windows(self, *arguments):
        return [w for w in self.json("windows", *arguments) if w["state"] == "done"]


host = Host()


def both_halves():
    """A time that has windows of both schedules before it and behind it. None runs, nor begins, when this returns."""
    wait_until(lambda: all(len(host.windows("--schedule", s)) >= n for s, n in (("pairs", PAIRS), ("loops", LOOPS))),
               "the first half's windows", 120)
    middle = int(time.time()) + 1
    time.sleep(max(0, middle - time.time()))
    wait_until(lambda: all(sum(w["started_unix_s"] > middle for w in host.windows("--schedule", s)) >= n
                           for s, n in (("pairs", PAIRS), ("loops", LOOPS))), "the second half's windows", 120)
    end_schedules()
    return middle


def end_schedules():
    """A report says what still runs: here all windows have ended."""
    host.daemon.configure(APPLICATIONS + "schedules: []\n")
    succeeded(host.daemon.ctl("reload"))
    wait_until(lambda: len(host.windows()) == len(host.json("windows")), "an end of the windows that run", 30)


middle = 0.0


@test
def a_report_has_every_window_of_every_kind():
    global middle
    middle = both_halves()
    window = host.json("report", "--app", "shop-web", "--since", "1h")["window"]
    merged = window["merged"]
    windows = {w["id"]: w for w in host.windows("--app", "shop-web")}
    of = {k["kind"]: k for k in merged["kinds"]}
    assert merged["skipped"] == 0 and merged["notes"] == [], merged
    assert of["silent-load"]["windows"] >= 2 * PAIRS and of["loops"]["windows"] >= 2 * LOOPS, merged
    assert of["silent-load"]["windows"] < merged["windows"] <= len(windows), merged
    assert {s["name"] for s in merged["schedules"]} == {"pairs", "loops"}, merged
    assert sum(s["windows"] for s in merged["schedules"]) == merged["windows"], merged


@test
def both_kinds_find_what_the_program_does():
    """All of its time is in one loop that loads again what it has loaded."""
    report = host.json("report", "--app", "shop-web", "--since", "1h")
    loads = next(k for k in report["inefficiency"] if k["kind"] == "silent_load")
    assert loads["fraction"] > 0.8 and loads["cpu_share"] > 0.3, loads
    assert report["loops"] and max(l["time_fraction"] for l in report["loops"]) > 0.5, report["loops"]


@test
def its_text_says_what_each_kind_is_of():
    text = host.text("report", "--app", "shop-web", "--since", "1h")
    assert "schedules: " in text and " by pairs" in text and " by loops" in text, text
    assert "silent-load: of " in text and "loops: of " in text, text
    assert "\nleft out: " not in text, text


@test
def two_halves_do_not_differ():
    a, b = f"1h..{stamp(middle)}", f"{stamp(middle)}.."
    result = host.json("diff", a, b, "--app", "shop-web")["diff"]["cpu"]
    assert not result["different"] and result["same_app"], result
    for side in (result["a"], result["b"]):
        of = {k["kind"]: k["windows"] for k in side["window_kinds"]}
        assert of["silent-load"] >= PAIRS and of["loops"] >= LOOPS and side["notes"] == [], side
    kept = host.windows("--app", "shop-web")
    assert result["a"]["windows"] + result["b"]["windows"] >= 2 * (PAIRS + LOOPS) and len(kept) >= 2 * (PAIRS + LOOPS)
    text = host.text("diff", a, b, "--app", "shop-web")
    assert "   loops: of " in text and "left out" not in text, text


@test
def what_is_not_asked_for_is_left_out_and_said():
    for options, note in ((["--kinds", "loops"], "other_kinds"), (["--schedule", "loops"], "other_schedule")):
        merged = host.json("report", "--app", "shop-web", "--since", "1h", *options)["window"]["merged"]
        assert {s["name"] for s in merged["schedules"]} == {"loops"}, merged
        notes = {n["note"]: n["windows"] for n in merged["notes"]}
        assert notes[note] >= 2 * PAIRS and merged["skipped"] >= 2 * PAIRS, merged
        assert "left out: " in host.text("report", "--app", "shop-web", "--since", "1h", *options)
        assert "left out: " in host.text("diff", "1h..", "1h..", "--app", "shop-web", *options)


@test
def windows_say_what_they_are_for_and_who_asked():
    for w in host.windows("--app", "shop-web"):
        assert w["schedule"] in ("pairs", "loops") and w["asked_by"] is None, w
        assert ("loops" in w["kinds"]) == (w["schedule"] == "loops"), w
    text = host.text("windows")
    assert "schedule pairs" in text and "silent-load" in text, text
    assert all(w["schedule"] == "pairs" for w in host.windows("--kinds", "silent-load"))
    assert not host.windows("--schedule", "nosuch")


@test
def several_applications_are_one_where_they_are_asked_for():
    succeeded(host.daemon.ctl("attach", str(host.cart.pid), "--duration", "2s", "--kinds", "silent-load,cpu"))
    asked = host.windows("--app", "cart")
    assert [w["schedule"] for w in asked] == [None] and asked[0]["asked_by"]["uid"] == os.getuid(), asked
    window = host.json("report", "--app", "shop-*,cart", "--since", "1h")["window"]
    assert window["app"] == "cart, shop-web", window
    assert {a["name"] for a in window["merged"]["apps"]} == {"cart", "shop-web"}, window["merged"]
    assert len(host.windows("--app", "*")) == len(host.windows())
    result = host.json("diff", host.windows("--schedule", "pairs")[0]["id"], asked[0]["id"])["diff"]["cpu"]
    assert not result["same_app"] and result["headline"].startswith("two applications, 'shop-web' and 'cart'"), result


@test
def applications_are_listed():
    apps = {a["app"]: a for a in host.json("apps")["apps"]}
    assert apps["shop-web"]["jvms"] == 1 and apps["cart"]["jvms"] == 1, apps
    assert apps["cart"]["windows"] == 1 and set(apps["shop-web"]["kinds"]) == {"silent-load", "cpu", "loops"}, apps
    assert abs(apps["shop-web"]["last_unix_s"] - time.time()) < 60, apps
    assert host.json("apps")["with_windows"] == 2, host.json("apps")
    text = host.text("apps")
    assert "shop-web" in text and "cart" in text, text
    wrong = host.daemon.ctl("report", "--app", "nosuch", "--since", "1h")
    assert wrong.returncode == 1 and "'jxperfctl apps'" in wrong.stderr, wrong


run()
