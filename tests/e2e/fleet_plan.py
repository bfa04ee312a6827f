#!/usr/bin/env python3
"""jxperfctl fleet-plan: a fleet on paper, without a daemon."""
import json
import os
import subprocess

from lib import BUILD, HANG_S, make_directory, run, test

CLIENT = os.path.join(BUILD, "bin/jxperfctl")

CONFIG = """
salt: pepper
windows-at-once: 1
schedules:
  - name: everything
    match: { app: "*" }
    every: 10m
    window: 30s
    host-fraction: 0.5
    jvm-fraction: 0.2
  - name: shops
    match: { app: "shop*", user: web }
    every: 1h
    window: 1h
"""

HOSTS = "# the fleet\n\n" + "".join(f"web-{i} shop{i % 3} 4\nweb-{i} cart 1\n" for i in range(40))

HERE = make_directory()


def write(name, text):
    path = os.path.join(HERE, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def plan(*arguments, config=CONFIG, hosts=HOSTS, json_wanted=False):
    command = [CLIENT, "--socket", "/nonexistent/socket", *(["--json"] if json_wanted else []), "fleet-plan", "--config",
               write("jxperfd.yaml", config), "--hosts", write("hosts", hosts), *arguments]
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HANG_S, check=False)


def schedules(*arguments, **options):
    result = plan("--from", "1800000000", *arguments, json_wanted=True, **options)
    assert result.returncode == 0 and result.stderr == "", result
    return {s["name"]: s for s in json.loads(result.stdout)["schedules"]}


def assert_refused(result, *words):
    assert result.returncode in (1, 2) and result.stdout == "" and result.stderr.count("\n") == 1, result
    for word in words:
        assert word in result.stderr, result.stderr


@test
def the_numbers_are_those_of_the_windows():
    found = schedules("--epochs", "50", "--verbose")
    assert set(found) == {"everything", "shops"}
    seen = set()
    for epoch in found["everything"]["epochs"]:
        drawn = epoch["drawn"]
        seen |= {(w["host"], w["app"], w["number"]) for w in drawn}
        assert epoch["windows"] == len(drawn) and epoch["hosts"] == len({w["host"] for w in drawn})
        assert epoch["jvms_covered"] == len(seen)
        assert epoch["apps_covered"] == len({app for _, app, _ in seen})
        starts = [w["start_unix_s"] for w in drawn]
        assert all(epoch["start_unix_s"] <= s <= epoch["start_unix_s"] + 570 for s in starts)
        assert epoch["most_at_once"] == max((sum(t <= s < t + 30 for t in starts) for s in starts), default=0)
    # Twenty are expected in an epoch, with a standard deviation of some seven for that many on average.
    windows = sum(e["windows"] for e in found["everything"]["epochs"]) / 50
    assert abs(windows - found["everything"]["windows_expected"]) < 5, windows


@test
def a_schedule_matches_by_application_and_says_when_by_more():
    found = schedules("--epochs", "1")
    assert found["everything"]["jvms"] == 200 and not found["everything"]["matches_by_more_than_app"]
    assert found["shops"]["jvms"] == 160 and found["shops"]["apps"] == 3 and found["shops"]["matches_by_more_than_app"]
    assert found["shops"]["epochs"][0]["most_at_once"] == 160
    assert abs(found["shops"]["cost_fraction"] - 0.01) < 1e-9
    assert "drawn" not in found["shops"]["epochs"][0]


@test
def the_same_again_and_other_draws_with_another_salt():
    one, again = schedules("--epochs", "3", "--verbose"), schedules("--epochs", "3", "--verbose")
    other = schedules("--epochs", "3", "--verbose", config=CONFIG.replace("pepper", "salt"))
    assert one == again and one != other


@test
def people_get_a_table_and_are_told_what_it_is_not():
    result = plan("--epochs", "3", "--schedule", "shops")
    assert result.returncode == 0 and result.stderr == "", result
    lines = result.stdout.splitlines()
    assert lines[0].startswith("schedule shops: every 3600 s"), lines
    assert sum(line.split()[2:4] == ["40", "160"] or line.split()[3:5] == ["40", "160"] for line in lines) == 3, lines
    assert any("windows-at-once" in line for line in lines), lines
    assert "how many, not which" in lines[-1], lines
    assert "everything" not in result.stdout
    verbose = plan("--epochs", "1", "--schedule", "shops", "--verbose").stdout
    assert verbose.count("shop1/3") == 13, verbose


@test
def bad_files_and_options_are_one_line():
    assert_refused(plan("--epochs", "1", hosts="web-1 shop 1\nweb-2 shop\n"), "hosts:2: ", "HOST APP COUNT")
    assert_refused(plan("--epochs", "1", hosts=""), "names no host")
    assert_refused(plan("--epochs", "1", config="schedules: [{name: x}]"), "jxperfd.yaml:1:")
    assert_refused(plan("--epochs", "1", config="salt: x"), "no schedule")
    assert_refused(plan("--epochs", "1", "--schedule", "none"), "no schedule 'none'")
    assert_refused(plan("--epochs", "0"), "'0'")
    assert_refused(plan(), "--epochs N")
    assert_refused(plan("--epochs", "1", "--from", "yesterday"), "'yesterday' is not a time")
    assert_refused(plan("--epochs", "1000000", "--from", "18446744073"), "after the year 2500")
    assert_refused(plan("--epochs", "1", "--hosts", "/nonexistent/hosts"), "/nonexistent/hosts")



@test
def a_target_is_met_after_some_days():
    config = """
schedules:
  - name: enough
    match: { app: "shop*" }
    pairs-per-day: 20000
"""
    days = 6
    found = schedules("--epochs", str(144 * days), "--pairs-per-window", "50", config=config)["enough"]
    assert found["every_s"] == 600 and found["jvm_fraction"] is None, found
    assert found["target"]["pairs_per_day"] == 20000 and found["target"]["pairs_per_window"] == 50
    # 4 JVMs of a host bring 28,800 pairs in all epochs.
    assert [(a["app"], a["jvms"], round(a["windows_per_day"] / a["hosts"], 6), round(a["jvm_fraction"], 6)) for a in
            found["target"]["apps"]] == [(f"shop{i}", 4 * hosts, 400, round(20000 / 28800, 6)) for i, hosts in ((0, 14), (1, 13), (2, 13))]
    assert abs(found["windows_expected"] - 40 * 400 / 144) < 1e-6
    assert abs(found["epochs"][0]["jvm_fraction"] - 0.1) < 1e-9
    last = found["epochs"][-144:]
    assert abs(sum(e["windows"] for e in last) / (40 * 400) - 1) < 0.05, last
    text = plan("--epochs", "1", config=config).stdout
    assert "pairs-per-day 20000" in text and "1000 pairs (--pairs-per-window)" in text and "WINDOWS/DAY" in text, text
    assert "WINDOWS/DAY" not in plan("--epochs", "1").stdout


run()
