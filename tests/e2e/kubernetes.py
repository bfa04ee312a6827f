"""The manifests: what Kubernetes takes, with the commands of both containers as it would run them; and from a pod to its JVM."""
import functools
import json
import os
import re
import shutil
import subprocess
import sys

import yaml

from lib import ROOT, Process, jdks, make_directory, need_root, run, skip, test, wait_until
from support.cgroup import Group
from support.clickhouse import Engine, send
from support.profile import CLIENT, DAEMON, Daemon, Workload, classes, ctl, report_of, succeeded
from support.unpacked import unpacked

FOLDER = os.path.join(ROOT, "contrib/kubernetes")
PROFILE = os.path.join(FOLDER, "base/seccomp-broker.json")
UNIT = os.path.join(ROOT, "systemd/jxperf-broker.service.in")
TSC = os.path.join(ROOT, "page/node_modules/.bin/tsc")
UNDER_PROFILE = os.path.join(ROOT, "tests/e2e/support/seccomp.py")
KUSTOMIZATIONS = ("base", "overlays/debian-ubuntu")
# Above it CAP_SYS_ADMIN alone opens events.
PARANOID_MAX_PERFMON = 2


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


@functools.cache
def kustomized(folder):
    """The objects that kubectl would send."""
    for program, *words in (("kubectl", "kustomize"), ("kustomize", "build")):
        if shutil.which(program):
            done = subprocess.run([program, *words, folder], capture_output=True, text=True, check=False)
            assert done.returncode == 0 and "deprecated" not in done.stderr, done.stderr
            return list(yaml.safe_load_all(done.stdout))
    return skip("there is neither kubectl nor kustomize")


def objects(folder, kind):
    return [d for d in kustomized(os.path.join(FOLDER, folder)) if d["kind"] == kind]


def pod(folder):
    (daemonset,) = objects(folder, "DaemonSet")
    return daemonset["spec"]["template"]["spec"]


def container(folder, name):
    return next(c for c in pod(folder)["containers"] if c["name"] == name)


def capabilities(folder):
    return set(container(folder, "broker")["securityContext"]["capabilities"]["add"])


# ---------------------------------------------------------------- objects

TYPES = {"DaemonSet": ("apps/v1", "IDaemonSet"), "ConfigMap": ("v1", "IConfigMap"), "Namespace": ("v1", "INamespace"),
         "NetworkPolicy": ("networking.k8s.io/v1", "INetworkPolicy"),
         "PriorityClass": ("scheduling.k8s.io/v1", "IPriorityClass")}


def typed(number, document):
    path, name = TYPES[document["kind"]]
    module = f"kubernetes-models/{path}/{document['kind']}"
    return (f'import type {{ {name} as T{number} }} from "{module}";\n'
            f"export const object{number}: T{number} = {json.dumps(document, indent=1)};\n")


@test
def every_member_of_every_object_is_one_of_kubernetes():
    models = unpacked("kubernetes", "node_modules/kubernetes-models/package.json")
    if not models or not os.path.exists(TSC):
        skip("there are no types of Kubernetes, or no TypeScript: the npm registry has them")
    documents = [d for k in (*KUSTOMIZATIONS, all_components()) for d in kustomized(os.path.join(FOLDER, k))
                 if d["kind"] != "PodMonitor"]  # The Prometheus operator's own.
    directory = make_directory()
    os.symlink(os.path.dirname(models), os.path.join(directory, "node_modules"))

    def compile_objects(text):
        with open(os.path.join(directory, "objects.ts"), "w", encoding="utf-8") as f:
            f.write(text)
        return subprocess.run([TSC, "--noEmit", "--skipLibCheck", "--strict", "--module", "nodenext", "--ignoreConfig",
                               "objects.ts"], cwd=directory, capture_output=True, text=True, check=False)

    text = "".join(typed(i, d) for i, d in enumerate(documents))
    done = compile_objects(text)
    assert done.returncode == 0, done.stdout[-2000:]
    wrong = compile_objects(text.replace('"runAsNonRoot"', '"runsAsNonRoot"', 1))
    assert wrong.returncode != 0 and "runsAsNonRoot" in wrong.stdout, wrong


def all_components():
    directory = make_directory()
    shutil.copytree(FOLDER, os.path.join(directory, "kubernetes"))
    names = sorted(os.listdir(os.path.join(FOLDER, "components")))
    with open(os.path.join(directory, "kustomization.yaml"), "w", encoding="utf-8") as f:
        yaml.safe_dump({"resources": ["kubernetes/base"], "components": [f"kubernetes/components/{n}" for n in names]}, f)
    return directory


@test
def containers_have_what_policies_ask_for():
    """Limits, a seccomp profile, a read-only root and no more capabilities each; probes those that stay."""
    for folder in KUSTOMIZATIONS:
        spec = pod(folder)
        for c in (*spec["initContainers"], *spec["containers"]):
            security = c["securityContext"]
            assert security["readOnlyRootFilesystem"] and security["capabilities"]["drop"] == ["ALL"], c
            assert security["allowPrivilegeEscalation"] is ("SYS_ADMIN" in security["capabilities"].get("add", [])), c
            assert set(c["resources"]["requests"]) == set(c["resources"]["limits"]) == {"cpu", "memory"}, c
        for c in spec["containers"]:
            assert "livenessProbe" in c and "startupProbe" in c, c["name"]
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        engine = container(folder, "jxperfd")["securityContext"]
        assert engine["runAsNonRoot"] and "add" not in engine["capabilities"], engine
        assert spec["nodeSelector"] == {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
        assert "tolerations" not in spec and spec["terminationGracePeriodSeconds"] > 60 and spec["priorityClassName"]
        (policy,) = objects(folder, "NetworkPolicy")
        assert policy["spec"]["egress"] == [] and policy["spec"]["ingress"][0]["ports"] == [{"port": "metrics"}]


@test
def sys_admin_is_had_only_where_the_overlay_gives_it():
    (line,) = re.findall(r"^CapabilityBoundingSet=(.*)$", read(UNIT), re.MULTILINE)
    of_unit = {word.removeprefix("CAP_") for word in line.split()}
    assert capabilities("base") == of_unit - {"SYS_ADMIN"} and capabilities("overlays/debian-ubuntu") == of_unit
    for folder in KUSTOMIZATIONS:
        (words,) = [e["value"] for e in container(folder, "broker")["env"] if e["name"] == "CAPABILITIES"]
        assert {w.removeprefix("+").upper() for w in words.split(",")} == capabilities(folder), words


@test
def the_image_has_the_users_of_the_manifest():
    directory = make_directory()
    os.mkdir(os.path.join(directory, "etc"))
    lines = re.findall(r"'(u \S+ \d+ [^']*)'", read(os.path.join(FOLDER, "Dockerfile")))
    done = subprocess.run(["systemd-sysusers", f"--root={directory}", "-"], input="\n".join(lines), capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    ids = {n: (int(u), int(g)) for n, _, u, g, *_ in
           (line.split(":") for line in read(os.path.join(directory, "etc/passwd")).splitlines())}
    engine = container("base", "jxperfd")["securityContext"]
    assert ids["jxperf"] == (engine["runAsUser"], engine["runAsGroup"]), ids
    assert set(ids) >= {"jxperf", "jxperf-broker"} and ids["jxperf-broker"] != ids["jxperf"], ids
    (state,) = [c for c in pod("base")["initContainers"] if c["name"] == "state"]
    assert "{}:{}".format(*ids["jxperf"]) in state["command"], state


@test
def the_profile_has_nothing_that_the_units_filter_has_not():
    if not shutil.which("systemd-analyze"):
        skip("there is no systemd-analyze")

    def members(name):
        if not name.startswith("@"):
            return {name}
        listed = subprocess.run(["systemd-analyze", "syscall-filter", name], capture_output=True, text=True, check=True)
        words = [line.strip() for line in listed.stdout.splitlines()[1:]]
        return set().union(*(members(w) for w in words if w and not w.startswith("#")))

    allowed, refused = re.findall(r"^SystemCallFilter=(~?.*)$", read(UNIT), re.MULTILINE)
    unit = set().union(*(members(w) for w in allowed.split())) - set().union(*(members(w) for w in refused[1:].split()))
    profile = {name for rule in json.loads(read(PROFILE))["syscalls"] for name in rule["names"]}
    assert profile <= unit, profile - unit


@test
def the_configuration_of_the_manifest_is_one():
    (configuration,) = [c for c in objects("base", "ConfigMap") if "jxperfd.yaml" in c["data"]]
    path = os.path.join(make_directory(), "jxperfd.yaml")
    with open(path, "w", encoding="utf-8") as f:
        f.write(configuration["data"]["jxperfd.yaml"])
    checked = subprocess.run([DAEMON, "--check-config", "--config", path], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


# ---------------------------------------------------------------- commands


def command_of(folder, name, replaced):
    """A container's command here: as its user, with its capabilities and seccomp profile and no others."""
    c = container(folder, name)
    words = c["command"]
    for variable in c.get("env", []):
        words = [w.replace(f"$({variable['name']})", variable.get("value", "a-node")) for w in words]
    for old, new in replaced.items():
        words = [re.sub(rf"(^|=){re.escape(old)}$", rf"\g<1>{new}", w) for w in words]
    security = c["securityContext"]
    bound = ",".join(["-all", *(f"+{c.lower()}" for c in security["capabilities"].get("add", []))])
    as_user = ["setpriv", "--bounding-set", bound, "--inh-caps=-all", "--no-new-privs"]
    if security["runAsUser"] != 0:
        as_user += ["--reuid=daemon", "--regid=daemon", "--clear-groups"]
    profile = security.get("seccompProfile", {}).get("localhostProfile")
    return [*as_user, "--", *([sys.executable, UNDER_PROFILE, PROFILE] if profile else []), *words]


def status_of(pid, key):
    return re.search(rf"^{key}:\s*(\S+)", read(f"/proc/{pid}/status"), re.MULTILINE).group(1)


@test
def the_commands_of_the_manifest_profile_with_what_it_gives_them_and_no_more():
    need_root()
    paranoid = int(read("/proc/sys/kernel/perf_event_paranoid")) > PARANOID_MAX_PERFMON
    for folder in KUSTOMIZATIONS[paranoid:]:
        profile_with(folder)


def profile_with(folder):
    directory = make_directory(mode=0o777)
    configuration = os.path.join(directory, "jxperfd.yaml")
    with open(configuration, "w", encoding="ascii") as f:
        f.write(f"socket: {directory}/control.sock\nhttp: none\nstate-dir: {directory}/state\n")
    # Users that every Debian has, in place of the image's.
    replaced = {"jxperf-broker": "games", "jxperf": "daemon", "jxperfd": DAEMON,
                "/run/jxperf/broker.sock": f"{directory}/broker.sock", "/etc/jxperf/jxperfd.yaml": configuration}
    broker = Process(command_of(folder, "broker", replaced))
    broker.wait_for("Listening")
    engine = Process(command_of(folder, "jxperfd", replaced))
    engine.wait_for("ready")
    target = Workload(jdks()[0], "DeadStore")
    # Whom `kubectl exec` makes one.
    ask = ["setpriv", "--reuid=daemon", "--regid=daemon", "--clear-groups", "--inh-caps=-all", "--", CLIENT, "--socket",
           f"{directory}/control.sock"]
    attached = subprocess.run([*ask, "attach", str(target.pid), "--duration", "2s", "--format", "json"],
                              capture_output=True, text=True, check=False)
    assert report_of(attached)["quality"]["samples"] > 0
    for name in ("CapPrm", "CapEff", "CapAmb"):
        assert int(status_of(engine.pid, name), 16) == 0, name
    for pid in (engine.pid, broker.pid):
        assert status_of(pid, "Uid") != "0" and status_of(pid, "NoNewPrivs") == "1", pid
    assert status_of(broker.pid, "Seccomp") == "2"
    for process in (engine, broker, target):
        process.stop()


# ---------------------------------------------------------------- from a pod to its JVM

# A cluster of one node.
KUBECTL = """#!/bin/sh
case "$*" in
"-n shop get pod pay-0 -o jsonpath={{.spec.nodeName}}") echo node-1 ;;
"-n jxperf get pods -l app.kubernetes.io/name=jxperf --field-selector spec.nodeName=node-1,status.phase=Running -o name")
    echo pod/jxperf-x; echo pod/jxperf-y ;;
"-n jxperf exec pod/jxperf-x -c jxperfd -- jxperfctl "*) shift 8; exec {client} --socket {socket} "$@" ;;
*) echo "kubectl: $*" >&2; exit 1 ;;
esac
"""
# A node in a namespace of processes, whose numbers JVMs elsewhere may have, too: its first process sees what containerd
# noted down, the daemon is in a container that does not, and a JVM is in a group of that container's. The notes are
# another user's, as root's are for a daemon that is not root: reading them takes a right.
NODE = """
set -e
mount -t tmpfs none /run
mkdir -p /tmp/hsperfdata_root
mount -t tmpfs -o mode=755 none /tmp/hsperfdata_root
mkdir -p /run/containerd/io.containerd.runtime.v2.task/k8s.io/$ID
echo "$RECORD" > /run/containerd/io.containerd.runtime.v2.task/k8s.io/$ID/config.json
chown -R 1 /run/containerd
chmod -R go= /run/containerd
sh -c 'echo $$ > '"$GROUP"'/cgroup.procs; exec $JVM' > /dev/null 2>&1 &
unshare --mount sh -c 'umount /run; exec "$@"' sh "$@"
"""
RECORD = {"annotations": {"io.kubernetes.cri.image-name": "r.io/pay:1", "io.kubernetes.cri.sandbox-name": "pay-0",
                          "io.kubernetes.cri.sandbox-namespace": "shop"}}


class Pod:
    """A daemon on such a node, and the JVM of a pod."""

    def __init__(self):
        self.container = os.urandom(32).hex()
        self.group = Group(name=self.container)
        node = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "env", f"ID={self.container}",
                f"RECORD={json.dumps(RECORD)}", f"GROUP={self.group.path}",
                f"JVM={jdks()[0].java} -cp {classes()} DeadStore", "sh", "-c", NODE, "sh")
        self.daemon = Daemon(prefix=node)
        self.listed = wait_until(self.row, "the JVM")

    def row(self):
        listed = json.loads(succeeded(self.daemon.ctl("--json", "list")))
        return next((j for j in listed if j["name"] == "DeadStore"), None)

    def stop(self):
        self.daemon.child.kill()
        self.daemon.stop()
        self.group.stop()


@test
def windows_of_a_pods_jvm_say_which_pod_that_is():
    need_root()
    shop = Pod()
    window = report_of(shop.daemon.ctl("attach", "pay-0", "--duration", "1s", "--format", "json"))["window"]
    assert (window["container"], window["namespace"], window["pod"]) == (shop.container, "shop", "pay-0"), window
    engine = Engine()
    succeeded(ctl("fleet-schema", "--apply", "--url", engine.url))
    send("store", os.path.join(shop.daemon.state, "windows.db"), engine.url, "node-1", "", "a store")
    rows = engine.query("SELECT DISTINCT container, namespace, pod FROM jxperf.windows")
    assert rows == f"{shop.container}\tshop\tpay-0\n", rows

    def asked(*filters):
        return ctl("fleet", "report", "--format", "json", "--url", engine.url, *filters)

    assert json.loads(succeeded(asked("--namespace", "shop", "--pod", "pay-0")))["window"]["merged"]["windows"] == 1
    nobody = asked("--pod", "pay-1")
    assert nobody.returncode == 1 and nobody.stderr.count("\n") == 1, nobody
    shop.stop()


@test
def a_pods_jvm_is_found_by_the_pods_name_from_anywhere():
    need_root()
    shop = Pod()
    daemon, listed = shop.daemon, shop.listed
    assert (listed["namespace"], listed["pod"]) == ("shop", "pay-0"), listed
    assert "shop/pay-0" in succeeded(daemon.ctl("list")).split()
    directory = make_directory()
    with open(os.path.join(directory, "kubectl"), "w", encoding="ascii") as f:
        f.write(KUBECTL.format(client=CLIENT, socket=daemon.socket))
    os.chmod(f.name, 0o755)

    def from_pod(*words):
        return subprocess.run([os.path.join(FOLDER, "jxperf-pod"), *words], capture_output=True, text=True, check=False,
                              env={**os.environ, "PATH": f"{directory}:{os.environ['PATH']}"})

    report = report_of(from_pod("shop/pay-0", "attach", "--duration", "1s", "--format", "json"))
    assert report["window"]["pid"] == listed["pid"], report["window"]
    nobody = from_pod("shop/pay-1")
    assert nobody.returncode == 1 and nobody.stderr.count("\n") == 1, nobody
    assert from_pod().returncode == 2
    shop.stop()


@test
def the_pod_monitor_finds_the_pods_and_their_port():
    with open(os.path.join(FOLDER, "components/pod-monitor/pod-monitor.yaml"), encoding="utf-8") as f:
        monitor = yaml.safe_load(f)
    (daemonset,) = objects("base", "DaemonSet")
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    labels = daemonset["spec"]["template"]["metadata"]["labels"]
    assert monitor["spec"]["selector"]["matchLabels"].items() <= labels.items(), labels
    assert monitor["metadata"]["namespace"] == daemonset["metadata"]["namespace"]
    ports = [p["name"] for c in pod("base")["containers"] for p in c.get("ports", [])]
    assert endpoint["port"] in ports, (endpoint, ports)
    assert {"targetLabel": "job", "replacement": "jxperf"} in endpoint["relabelings"], endpoint


run(at_once=2)
