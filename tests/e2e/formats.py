#!/usr/bin/env python3
"""What other programs read is as their schemas say, and the JSON report is as ours does: of golden files, and of a window
with all kinds."""
import glob
import json
import os
import subprocess

from lib import BUILD, ROOT, jdks, make_directory, note, run, skip, test
from support.profile import Daemon, Workload, succeeded

PAGE = os.path.join(ROOT, "page")
GOLDEN = os.path.join(ROOT, "tests/unit/golden")
ALL_KINDS = "dead-store,silent-store,silent-load,objects,numa,cpu,loops"
BUDGET = "10%"
LIMIT_S = 120

_made = {}


def node(script, *arguments):
    if not os.path.isdir(os.path.join(PAGE, "node_modules/ajv")):
        skip("validators are not there: Node.js or its libraries were not to be had (page/make)")
    done = subprocess.run(["node", os.path.join(PAGE, "test/formats", script), *arguments], text=True, capture_output=True,
                          timeout=LIMIT_S, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[:4000]
    return done.stdout


def window():
    """A daemon with one window that has everything in it."""
    if not _made:
        daemon = Daemon()
        target = Workload(jdks()[0], "DeadStore")
        succeeded(daemon.ctl("attach", str(target.pid), "--duration", "5s", "--budget", BUDGET, "--kinds", ALL_KINDS,
                             "-o", os.path.join(make_directory(), "report.txt")))
        target.stop()
        _made.update(daemon=daemon)
    return _made["daemon"]


def written(*options):
    path = os.path.join(make_directory(), "report")
    succeeded(window().ctl("report", "w1", *options, "-o", path))
    return path


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


@test
def sarif_is_valid_by_its_schema():
    path = written("--format", "sarif")
    node("validate.mjs", "sarif", path, os.path.join(GOLDEN, "report.sarif"))
    run_of, problems = read(path)["runs"][0], read(written("--format", "json"))["problems"]
    assert problems and len(run_of["results"]) == len(problems)
    rules = [rule["id"] for rule in run_of["tool"]["driver"]["rules"]]
    for result, problem in zip(run_of["results"], problems):
        assert result["ruleId"] == rules[result["ruleIndex"]] == problem["kind"]
        assert result["message"]["text"].startswith(problem["sentence"]), result["message"]
        assert len(result["codeFlows"]) == 2 or not problem["watch"], result
    place = run_of["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "DeadStore.java" and place["region"]["startLine"] > 1, place


@test
def speedscope_reads_it():
    path = written("--format", "speedscope")
    node("validate.mjs", "speedscope", path, os.path.join(GOLDEN, "report.speedscope"))
    profiles = read(path)["profiles"]
    names = [profile["name"] for profile in profiles]
    assert [sum(profile["weights"]) for profile in profiles] == [profile["endValue"] for profile in profiles]
    assert names[0] == "wasteful CPU time: dead stores" and profiles[0]["endValue"] > 0, names
    opened = node("speedscope.mjs", path).splitlines()
    note(opened[0])
    assert opened[1:] == [f"{name} ({i + 1}/{len(names)})" for i, name in enumerate(names)], opened


@test
def what_a_format_does_not_tell_is_refused():
    daemon = window()
    for output, view in (("sarif", "objects"), ("speedscope", "loops")):
        refused = daemon.ctl("report", "w1", "--format", output, "--view", view)
        assert refused.returncode == 2 and "--view pairs" in refused.stderr, refused


run()
