#!/usr/bin/env python3
"""What is beside the daemon: rules and a dashboard that fit what it exports."""
import json
import os
import re
import subprocess

import yaml

from lib import ROOT, make_directory, run, test
from support.profile import Daemon
from support.prometheus import Prometheus, free_port, program, promtool

CONTRIB = os.path.join(ROOT, "contrib")
RULES = os.path.join(CONTRIB, "prometheus/jxperf.rules.yml")
# Titles of dashboards, and their files.
DASHBOARDS = {"jxperf": os.path.join(CONTRIB, "grafana/jxperf.json"),
              "jxperf: a fleet": os.path.join(CONTRIB, "grafana/jxperf-fleet.json")}

CONFIGURATION = """
apps:
  - match: { main-class: DeadStore }
    app: shop
schedules:
  - name: everything
    match: { app: "nothing" }
    every: 10m
    window: 30s
export:
  - name: files
    directory: /var/tmp
"""


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


# ---------------------------------------------------------------- Prometheus and Grafana


@test
def the_rules_are_rules_and_do_what_their_tests_say():
    promtool("check", "rules", RULES)
    subprocess.run([program("promtool"), "test", "rules", RULES.replace(".yml", ".test.yml")], check=True,
                   capture_output=True, cwd=os.path.dirname(RULES))


@test
def each_alert_has_a_section_of_the_runbooks():
    alerts = {rule["alert"]: rule for group in yaml.safe_load(read(RULES))["groups"] for rule in group["rules"]
              if "alert" in rule}
    sections = re.findall(r"(?m)^## (\w+)$", read(os.path.join(ROOT, "docs/runbooks.md")))
    assert sorted(alerts) == sorted(sections), set(alerts) ^ set(sections)
    for name, rule in alerts.items():
        assert rule["annotations"]["runbook"] == f"runbooks.md#{name.lower()}", name


@test
def an_application_that_does_not_change_has_at_most_one_false_alarm_a_month():
    simulation = subprocess.run([os.path.join(ROOT, "tests/prometheus/false_alarms"), "--seed", "1"], check=True,
                                capture_output=True, text=True).stdout
    alarms, seen, rises = re.fullmatch(r"false_alarms (\d+) in 4 weeks of 50 [^\n]*\nseen (\d+) of (\d+) rises.*\n",
                                       simulation).groups()
    assert int(alarms) <= 1 and int(seen) > int(rises) / 2, simulation


@test
def the_scrape_configuration_is_one_and_has_the_rules_job():
    configuration = os.path.join(CONTRIB, "prometheus/scrape.yml")
    promtool("check", "config", configuration)
    jobs = [job["job_name"] for job in yaml.safe_load(read(configuration))["scrape_configs"]]
    assert jobs == ["jxperf"] and f'job="{jobs[0]}"' in read(RULES), jobs


def dashboard_expressions():
    """In PromQL; tests/e2e/fleet_report.py asks ClickHouse what is in SQL."""
    for path in DASHBOARDS.values():
        for panel in json.loads(read(path))["panels"]:
            yield from (target["expr"] for target in panel.get("targets", []) if "expr" in target)


def rule_expressions():
    for group in yaml.safe_load(read(RULES))["groups"]:
        for rule in group["rules"]:
            yield rule["expr"]


def metrics_of(expression):
    """Names in it, without what rules record."""
    return set(re.findall(r"(?<![:\w])(?:jxperf|process)_\w+", expression))


@test
def every_metric_of_rules_and_dashboards_is_exported():
    directory = make_directory()
    configuration = os.path.join(directory, "jxperfd.yaml")
    with open(configuration, "w", encoding="ascii") as f:
        f.write(CONFIGURATION)
    daemon = Daemon(http=f"127.0.0.1:{free_port()}", options=("--config", configuration))
    families = set(re.findall(r"# TYPE (\w+)", daemon.get("/metrics")))
    families |= {f + suffix for f in families for suffix in ("_bucket", "_count", "_sum")}
    expressions = [*dashboard_expressions(), *rule_expressions()]
    assert len(expressions) > 30, expressions
    for expression in expressions:
        assert metrics_of(expression) <= families, (expression, metrics_of(expression) - families)


@test
def every_expression_of_the_dashboards_is_promql():
    prometheus = Prometheus()
    for expression in dashboard_expressions():
        prometheus.api("query", query=expression.replace("$window", "1h"))


@test
def the_dashboards_panels_are_where_grafana_can_show_them():
    for title, path in DASHBOARDS.items():
        dashboard = json.loads(read(path))
        assert dashboard["schemaVersion"] and dashboard["title"] == title
        check_panels(dashboard)


def check_panels(dashboard):
    variables = {v["name"] for v in dashboard["templating"]["list"]}
    taken, ids = set(), set()
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                 for y in range(place["y"], place["y"] + place["h"])}
        assert place["x"] + place["w"] <= 24 and not cells & taken, panel["title"]
        assert panel["id"] not in ids and panel["title"], panel
        taken |= cells
        ids.add(panel["id"])
        references = [t["refId"] for t in panel.get("targets", [])]
        assert len(set(references)) == len(references), panel["title"]
        # Grafana's own begin with two underscores.
        assert set(re.findall(r"\$\{?(?!__)(\w+)", json.dumps(panel.get("targets", [])))) <= variables, panel["title"]


run(at_once=2)
