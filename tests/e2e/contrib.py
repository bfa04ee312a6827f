#!/usr/bin/env python3
"""What is beside the daemon: rules, a dashboard and a DaemonSet that fit what it exports and needs."""
import json
import os
import re
import subprocess

import yaml

from lib import ROOT, Process, jdks, make_directory, need_root, run, test
from support.profile import CLIENT, DAEMON, Daemon, Workload, report_of
from support.prometheus import Prometheus, free_port, program, promtool

CONTRIB = os.path.join(ROOT, "contrib")
RULES = os.path.join(CONTRIB, "prometheus/jxperf.rules.yml")
DASHBOARD = os.path.join(CONTRIB, "grafana/jxperf.json")
MANIFEST = os.path.join(CONTRIB, "kubernetes/daemonset.yaml")
UNIT = os.path.join(ROOT, "systemd/jxperf-broker.service.in")

CONFIGURATION = """
apps:
  - match: { main-class: DeadStore }
    app: shop
schedules:
  - name: everything
    match: { app: "nothing" }
    every: 10m
    window: 30s
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


@test
def the_pod_monitor_finds_the_pods_and_their_port():
    monitor = yaml.safe_load(read(os.path.join(CONTRIB, "kubernetes/podmonitor.yaml")))
    pod = manifest("DaemonSet")["spec"]["template"]
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    assert monitor["spec"]["selector"]["matchLabels"].items() <= pod["metadata"]["labels"].items(), pod
    assert monitor["metadata"]["namespace"] == manifest("DaemonSet")["metadata"]["namespace"]
    assert endpoint["port"] in [p["name"] for c in pod["spec"]["containers"] for p in c.get("ports", [])], endpoint
    assert {"targetLabel": "job", "replacement": "jxperf"} in endpoint["relabelings"], endpoint


def dashboard_expressions():
    for panel in json.loads(read(DASHBOARD))["panels"]:
        for target in panel.get("targets", []):
            yield target["expr"]


def rule_expressions():
    for group in yaml.safe_load(read(RULES))["groups"]:
        for rule in group["rules"]:
            yield rule["expr"]


def metrics_of(expression):
    """Names in it, without what rules record."""
    return set(re.findall(r"(?<![:\w])(?:jxperf|process)_\w+", expression))


@test
def every_metric_of_rules_and_dashboard_is_exported():
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
def every_expression_of_the_dashboard_is_promql():
    prometheus = Prometheus()
    for expression in dashboard_expressions():
        prometheus.api("query", query=expression.replace("$window", "1h"))


@test
def the_dashboards_panels_are_where_grafana_can_show_them():
    dashboard = json.loads(read(DASHBOARD))
    variables = {v["name"] for v in dashboard["templating"]["list"]}
    taken, ids = set(), set()
    assert dashboard["schemaVersion"] and dashboard["title"] == "jxperf"
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
        assert set(re.findall(r"\$\{?(\w+)", json.dumps(panel.get("targets", [])))) <= variables, panel["title"]


# ---------------------------------------------------------------- Kubernetes


def manifest(kind):
    (document,) = [d for d in yaml.safe_load_all(read(MANIFEST)) if d["kind"] == kind]
    return document


def container(name):
    pod = manifest("DaemonSet")["spec"]["template"]["spec"]
    assert pod["hostPID"] is True
    (found,) = [c for c in pod["containers"] if c["name"] == name]
    return found


def unit_capabilities(key):
    (line,) = re.findall(rf"^{key}=(.*)$", read(UNIT), re.MULTILINE)
    return {word.removeprefix("CAP_") for word in line.split()}


@test
def the_brokers_container_has_the_capabilities_of_its_unit():
    capabilities = container("broker")["securityContext"]["capabilities"]
    assert capabilities["drop"] == ["ALL"]
    wanted = unit_capabilities("CapabilityBoundingSet")
    assert set(capabilities["add"]) == wanted == unit_capabilities("AmbientCapabilities"), (capabilities, wanted)
    for option in ("--inh-caps=", "--ambient-caps="):
        (words,) = [a.removeprefix(option) for a in container("broker")["command"] if a.startswith(option)]
        assert {w.removeprefix("+").upper() for w in words.split(",")} == wanted, words


@test
def the_configuration_of_the_manifest_is_one():
    path = os.path.join(make_directory(), "jxperfd.yaml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(manifest("ConfigMap")["data"]["jxperfd.yaml"])
    checked = subprocess.run([DAEMON, "--check-config", "--config", path], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def command_of(name, replaced):
    """A container's command here: with its capabilities and no others."""
    words = container(name)["command"]
    for old, new in replaced.items():
        words = [re.sub(rf"(^|=){re.escape(old)}$", rf"\g<1>{new}", w) for w in words]
    added = container(name)["securityContext"]["capabilities"]["add"]
    bound = ",".join(["-all", *(f"+{c.lower()}" for c in added)])
    return ["setpriv", "--bounding-set", bound, "--inh-caps=-all", "--", *words]


def status_of(pid, key):
    return re.search(rf"^{key}:\s*(\S+)", read(f"/proc/{pid}/status"), re.MULTILINE).group(1)


@test
def the_commands_of_the_manifest_profile_with_its_capabilities_and_no_others():
    need_root()
    directory = make_directory(mode=0o777)
    configuration = os.path.join(directory, "jxperfd.yaml")
    with open(configuration, "w", encoding="ascii") as f:
        f.write(f"socket: {directory}/control.sock\nhttp: none\nstate-dir: {directory}/state\n")
    # Users that every Debian has, in place of the package's.
    replaced = {"jxperf-broker": "games", "jxperf": "daemon", "jxperfd": DAEMON,
                "/run/jxperf/broker.sock": f"{directory}/broker.sock", "/etc/jxperf/jxperfd.yaml": configuration}
    broker = Process(command_of("broker", replaced))
    broker.wait_for("Listening")
    engine = Process(command_of("jxperfd", replaced))
    engine.wait_for("ready")
    target = Workload(jdks()[0], "DeadStore")
    # As root in the container is told to in README.md.
    ask = ["setpriv", "--bounding-set=-all,+setuid,+setgid", "--", "setpriv", "--regid=daemon", "--clear-groups", "--",
           CLIENT, "--socket", f"{directory}/control.sock"]
    attached = subprocess.run([*ask, "attach", str(target.pid), "--duration", "2s", "--format", "json"],
                              capture_output=True, text=True, check=False)
    assert report_of(attached)["quality"]["samples"] > 0
    for capabilities in ("CapPrm", "CapEff", "CapAmb"):
        assert int(status_of(engine.pid, capabilities), 16) == 0, capabilities
    for pid in (engine.pid, broker.pid):
        assert status_of(pid, "Uid") != "0", pid


run(at_once=2)
