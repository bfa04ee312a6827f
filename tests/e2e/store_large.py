#!/usr/bin/env python3
"""A hundred thousand windows in the store: questions are answered quickly, beside everything else, in the memory that
the daemon has anyhow; and limits are kept while windows are written."""
# Takes two places: the store is written and read as fast as can be.
import functools
import json
import os
import statistics
import subprocess
import threading
import time

from lib import BUILD, Stopwatch, jdks, make_directory, note, register, run, test, wait_until
from support.profile import Daemon, Workload, report_of, succeeded

COUNT = 100_000
LARGE = 1000  # the last ones, of the application "large"
APART_S = 600

LIST_S = 0.2
MERGE_S = 6
# Of most answers while windows are merged; a thread that waits for a processor may make any of them late. A daemon that
# merged in its loop would answer once or twice a question.
STATUS_S = 0.1
ANSWERS_A_QUESTION = 3
GROWTH_KIB = 32 * 1024


@functools.lru_cache(maxsize=None)
def the_daemon():
    """Over a store of that size, with a configuration that can be changed."""
    directory = make_directory()
    state, config = os.path.join(directory, "state"), os.path.join(directory, "jxperfd.yaml")
    subprocess.run([os.path.join(BUILD, "bench/fill_store"), state, str(COUNT), str(LARGE)], check=True)
    configure(config)
    daemon = Daemon(state=state, options=("--config", config))
    daemon.config = config
    return daemon


def configure(path, **limits):
    """Keeps everything but what limits say."""
    store = {"keep": "1000d", "size": "8GiB", "windows-per-app": "1000000", **limits}
    with open(path, "w", encoding="ascii") as f:
        f.write("store: {" + ", ".join(f"{k}: {v}" for k, v in store.items()) + "}\n")


def rss_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))


def timed(*arguments):
    """What jxperfctl prints, and how long that took."""
    with Stopwatch() as watch:
        answer = succeeded(the_daemon().ctl(*arguments))
    note(f"{' '.join(arguments)}: {watch.seconds:.3f} s, {watch.wall_seconds:.3f} s on the clock")
    return answer, watch.seconds


def merged(*options):
    answer, seconds = timed("report", "--app", "large", "--format", "json", "--pairs", "10", *options)
    return json.loads(answer)["window"]["merged"], seconds


@test
def the_list_is_there_at_once():
    the_daemon()
    for options in ((), ("--app", "app3"), ("--since", "48h"), ("--app", "large", "--limit", "1000")):
        _, seconds = timed("windows", *options)
        assert seconds < LIST_S, seconds


@test
def a_thousand_windows_are_merged_in_seconds():
    about, seconds = merged()
    assert about["windows"] == LARGE and about["skipped"] == 0, about
    assert seconds < MERGE_S, seconds


@test
def a_time_has_its_windows_only():
    about, _ = merged("--since", "24h")
    assert about["windows"] == 24 * 3600 // APART_S, about
    both = json.loads(timed("diff", "48h..24h", "24h..", "--app", "large", "--format", "json")[0])["diff"]
    both = both[both["unit"]]
    assert both["a"]["windows"] == both["b"]["windows"] == 24 * 3600 // APART_S, both
    assert not both["different"], [r for r in both["rows"] if r["shown"]]


@test
def no_more_are_merged_than_there_is_time_for_and_the_report_says_so():
    answer, _ = timed("report", "--app", "app3", "--format", "json", "--pairs", "1")
    about = json.loads(answer)["window"]["merged"]
    (older,) = (n for n in about["notes"] if n["note"] == "older")
    assert older["skipped"] and older["windows"] + about["windows"] == (COUNT - LARGE) // 10, about
    assert about["last"] == f"w{COUNT - LARGE - 7}", about
    assert "left out: " in succeeded(the_daemon().ctl("report", "--app", "app3"))


@test
def memory_stays_and_others_are_answered_meanwhile():
    daemon = the_daemon()
    merged()
    before, took, done = rss_kib(daemon.pid), [], threading.Event()
    rounds = 2

    def ask():
        for _ in range(rounds):
            merged()
            succeeded(daemon.ctl("diff", "160h..80h", "80h..", "--app", "large"))
        done.set()

    thread = threading.Thread(target=ask)
    thread.start()
    while not done.is_set():
        with Stopwatch() as watch:
            succeeded(daemon.ctl("status"))
        took.append(watch.seconds)
        time.sleep(0.02)
    thread.join()
    after = rss_kib(daemon.pid)
    usual = statistics.median(took)
    note(f"memory {before} KiB before, {after} KiB after; {len(took)} times status, {usual:.3f} s, at most {max(took):.3f} s")
    assert after < before + GROWTH_KIB, (before, after)
    assert usual < STATUS_S and len(took) >= ANSWERS_A_QUESTION * 2 * rounds, took


@test
def who_leaves_ends_the_merge():
    daemon = the_daemon()
    for _ in range(4):
        client = daemon.start_ctl("report", "--app", "large")
        time.sleep(0.1)
        client.stop()
    about, seconds = merged()
    assert about["windows"] == LARGE and seconds < MERGE_S + 1, (about, seconds)


class Writer:
    """One window after the other, of one JVM."""

    def __init__(self):
        self.target = Workload(jdks()[0], "DeadStore")
        self.ids, self.ended = [], threading.Event()
        self.thread = threading.Thread(target=self._write)
        self.thread.start()
        register(self)

    def _write(self):
        while not self.ended.is_set():
            report = report_of(the_daemon().ctl("attach", str(self.target.pid), "--duration", "500ms", "--format",
                                                "json", "--pairs", "1"))
            self.ids.append(report["window"]["id"])

    def stop(self):
        self.ended.set()
        self.thread.join()


def count(*options):
    """How many windows there are."""
    answer = the_daemon().ctl("windows", "--limit", "1", *options)
    shown = len(succeeded(answer).splitlines()) - 1
    return shown + (int(answer.stderr.split()[1]) if "older windows" in answer.stderr else 0)


@test
def limits_are_kept_while_windows_are_written():
    daemon, writer = the_daemon(), Writer()
    database = os.path.join(daemon.state, "windows.db")

    def becomes(what, condition, **limits):
        configure(daemon.config, **limits)
        succeeded(daemon.ctl("reload"))
        wait_until(condition, what, 60)
        return limits

    days = COUNT * APART_S // 86400
    age = becomes("old windows gone", lambda: count("--until", f"{days - 20}d") == 0, keep=f"{days - 20}d")
    left = count("--app", "app3")
    becomes("fewer of each application", lambda: count("--app", "app3") == left - 200,
            **{"windows-per-app": left - 200}, **age)
    assert count("--app", "large") == LARGE
    size = os.stat(database).st_size
    smaller = size - (4 << 20)
    becomes("a smaller file", lambda: os.stat(database).st_size <= smaller, size=f"{smaller // 1024}KiB", **age)
    note(f"{size >> 10} KiB became {os.stat(database).st_size >> 10} KiB")
    writer.stop()
    # The newest stay, and every one that was said to be there is.
    assert count("--app", "large") == LARGE
    kept = {w["id"] for w in json.loads(succeeded(daemon.ctl("--json", "windows", "--app", "DeadStore")))}
    assert writer.ids and set(writer.ids) <= kept, set(writer.ids) - kept


run()
