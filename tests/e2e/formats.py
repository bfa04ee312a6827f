#!/usr/bin/env python3
"""What other programs read is as their schemas say, and the JSON report is as ours does: of golden files, and of a window
with all kinds."""
# Takes two places: a browser and what drives it are busy.
import glob
import json
import os
import subprocess

from lib import BUILD, ROOT, jdks, make_directory, note, run, skip, test
from support.profile import Daemon, Workload, succeeded

PAGE = os.path.join(ROOT, "page")
SCHEMA = os.path.join(ROOT, "docs/report.schema.json")
GOLDEN = os.path.join(ROOT, "tests/unit/golden")
VIEWS = ("all", "pairs", "fields", "lines", "objects", "numa", "cpu", "subsuming", "loops", "quality")
ALL_KINDS = "dead-store,silent-store,silent-load,objects,numa,cpu,loops"
BUDGET = "10%"
LIMIT_S = 120

_made = {}


def node(script, *arguments, status=0):
    if not os.path.isdir(os.path.join(PAGE, "node_modules/ajv")):
        skip("validators are not there: Node.js or its libraries were not to be had (page/make)")
    done = subprocess.run(["node", os.path.join(PAGE, "test/formats", script), *arguments], text=True, capture_output=True,
                          timeout=LIMIT_S, check=False)
    assert done.returncode == status, (done.stdout + done.stderr)[:4000]
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


def stretched(value, at="report"):
    """The value with one more member in one of its objects, for each place of objects; what is in lists is one place."""
    for name, member in value.items() if isinstance(value, dict) else ():
        for place, other in stretched(member, f"{at}.{name}"):
            yield place, {**value, name: other}
    for i, member in enumerate(value if isinstance(value, list) else ()):
        for place, other in stretched(member, at + "[]"):
            yield place, [*value[:i], other, *value[i + 1:]]
    if isinstance(value, dict):
        yield at, {**value, "not_described": "text"}


@test
def json_is_as_its_schema_says():
    golden = [path for path in glob.glob(os.path.join(GOLDEN, "*.json")) if "schema" in read(path)]
    assert len(golden) >= 9, golden
    reports = [written("--format", "json", "--view", view) for view in VIEWS]
    directory = make_directory()
    compared, golden_compared = (os.path.join(directory, name) for name in ("compared", "golden"))
    with open(golden_compared, "w", encoding="utf-8") as file:
        json.dump({"schema": 2, "diff": {"unit": "cpu", "cpu": read(os.path.join(GOLDEN, "compare.json")), "bytes": None}}, file)
    succeeded(window().ctl("diff", "w1", "w1", "--format", "json", "-o", compared))
    node("validate.mjs", SCHEMA, *golden, *reports, written("--format", "json", "--baseline", "w1"), compared, golden_compared)


@test
def a_member_that_the_schema_does_not_have_is_an_error_everywhere():
    directory = make_directory()
    places = dict(stretched(read(written("--format", "json", "--pairs", "3"))))
    for place, report in places.items():
        with open(os.path.join(directory, place), "w", encoding="utf-8") as file:
            json.dump(report, file)
    told = node("validate.mjs", SCHEMA, *(os.path.join(directory, place) for place in places), status=1)
    silent = [place for place in places if f"{os.path.join(directory, place)}: " not in told]
    note(f"{len(places)} places")
    assert len(places) > 50 and not silent, silent


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
