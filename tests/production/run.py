#!/usr/bin/env python3
"""README's "In production", followed as it stands on a new machine with a systemd; and what the units promise."""
import glob
import os
import re
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
from lib import BUILD, note, run, test, wait_until  # noqa: E402
from machine import Machine  # noqa: E402
from support.machine_copy import readme_blocks  # noqa: E402

# Somebody's program: a database that is asked something it takes long to answer.
SQL = ("CREATE TABLE t AS SELECT x, x * 2 y FROM SYSTEM_RANGE(1, 100000); "
       "SELECT SUM(a.y * b.x) FROM t a, t b WHERE MOD(a.x + b.y, 7) = 3")
H2 = ("systemd-run --quiet --unit=h2 --uid=nobody java -Xmx256m -cp /usr/share/java/h2.jar org.h2.tools.Shell "
      f"-url jdbc:h2:mem:shop -user sa -password '' -sql '{SQL}'")
# README's intervals are for those who can wait.
SHORTER = (("every: 10m", "every: 15s"), ("window: 30s", "window: 3s\n    warm-up: 2s"))
RATIO = re.compile(r'^jxperf_window_inefficiency_ratio\{app="h2",kind="[a-z_]+"\} (\S+)$', re.MULTILINE)
WINDOWS = re.compile(r'^jxperf_windows_total\{app="h2"\} (\d+)$', re.MULTILINE)
WINDOW_S = 120
# Users and command lines of ours, where there is no ps.
PROCESSES = r"""for p in /proc/[0-9]*; do [ "$(cat $p/comm 2>/dev/null)" != jxperfd ] ||
    echo $(id -nu $(awk '/^Uid:/ { print $3 }' $p/status)) $(tr '\0' ' ' < $p/cmdline); done"""

machine = None


def property_of(unit, name):
    return machine.sh(f"systemctl show --property={name} --value {unit}").strip()


def journal(unit):
    return machine.sh(f"journalctl --quiet --no-pager --output=cat --unit={unit}")


def note_lines(text):
    for line in text.splitlines():
        note(line)


def windows():
    found = WINDOWS.search(machine.run("curl -s 127.0.0.1:9779/metrics").stdout)
    return int(found.group(1)) if found else 0


@test
def readme_is_followed_as_it_stands():
    global machine
    package = [p for p in glob.glob(os.path.join(BUILD, "deb/*.deb")) if "dbgsym" not in p]
    assert len(package) == 1, package
    machine = Machine(package[0])
    (install,), lines, (restart, *looks) = readme_blocks("In production")
    note(machine.sh(install, answer="y\n").splitlines()[-1])
    for unit in ("jxperfd.service", "jxperf-broker.socket"):
        assert property_of(unit, "ActiveState") == "active", journal(unit)
        assert property_of(unit, "UnitFileState") == "enabled", unit
    machine.sh(H2)
    text = "\n".join(lines) + "\n"
    for said, meant in SHORTER:
        assert text.count(said) == 1, (said, text)
        note(f"in place of '{said}': {meant.split()!r}")
        text = text.replace(said, meant)
    machine.sh(f"cat > /etc/jxperf/jxperfd.yaml <<'END'\n{text}END\n")
    machine.sh(restart)
    wait_until(lambda: RATIO.search(machine.sh(looks[1])), "a fraction of a scheduled window", WINDOW_S)
    listed = machine.sh(looks[0])
    note_lines(listed)
    assert re.search(r"\bh2\b.*\beverything\b", listed), listed
    note(RATIO.search(machine.sh(looks[1])).group(0))


@test
def who_is_no_member_of_the_group_is_told_and_who_is_sees_their_own_jvms():
    machine.sh("useradd --create-home sre")
    refused = machine.run("jxperfctl list", user="sre")
    note(refused.stderr.strip())
    assert refused.returncode == 1 and refused.stderr.count("\n") == 1, refused
    machine.sh("usermod --append --groups jxperf sre")
    assert "h2" not in machine.sh("jxperfctl list", user="sre")


@test
def engine_and_broker_are_who_they_should_be():
    users = machine.sh(PROCESSES).splitlines()
    note_lines("\n".join(users))
    assert any(line.startswith("jxperf ") and "--broker " in line for line in users), users
    assert any(line.startswith("jxperf-broker ") and "--broker-for" in line for line in users), users
    assert not any(line.startswith("root ") for line in users), users
    assert machine.sh("stat -c '%U %G %a' /run/jxperf-broker/broker.sock").split() == ["jxperf", "jxperf", "600"]
    # Whose the directory is may have systemd give anything away.
    assert machine.sh("stat -c '%U %a' /run/jxperf-broker").split() == ["root", "755"]
    assert machine.sh("stat -c '%U %G %a' /run/jxperf/control.sock").split() == ["jxperf", "jxperf", "660"]
    assert machine.sh("stat -c '%U %G %a' /var/lib/jxperf").split() == ["jxperf", "jxperf", "700"]


@test
def the_sandbox_forbids_nothing_that_is_needed():
    denied = machine.run("journalctl --quiet --no-pager _TRANSPORT=audit + _TRANSPORT=kernel | grep -i seccomp").stdout
    assert denied == "", denied
    report = machine.sh("jxperfctl attach Shell --duration 3s")
    note_lines("\n".join(report.splitlines()[:6]))
    assert "pairs completed" in report, report
    checked = machine.run("jxperfctl check").stdout
    note_lines(checked)


@test
def the_engine_goes_on_when_the_broker_is_restarted_or_killed():
    engine = property_of("jxperfd", "MainPID")
    for how in ("systemctl restart jxperf-broker.service", "systemctl kill --signal=KILL jxperf-broker.service"):
        window = machine.sh("jxperfctl attach Shell --duration 60s --background").strip()
        machine.sh(how)
        ended = machine.run(f"jxperfctl wait {window}")
        assert ended.returncode == 3, ended
        wait_until(lambda: machine.run("jxperfctl list").returncode == 0, "a list again", WINDOW_S)
        before = windows()
        wait_until(lambda: windows() > before, "another scheduled window", WINDOW_S)
        assert property_of("jxperfd", "MainPID") == engine
    machine.sh("systemctl stop jxperf-broker.socket jxperf-broker.service")
    refused = machine.run("jxperfctl list")
    note(refused.stderr.strip())
    assert refused.returncode == 1 and refused.stderr.count("\n") == 1, refused
    assert "privileged half" in refused.stderr, refused
    machine.sh("systemctl start jxperf-broker.socket")
    wait_until(lambda: machine.run("jxperfctl list").returncode == 0, "a list again", WINDOW_S)


@test
def nobody_else_may_connect_to_the_broker():
    engine = property_of("jxperfd", "MainPID")
    machine.sh("! test -w /run/jxperf-broker/broker.sock", user="nobody")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as root:
        root.connect(f"/proc/{machine.pid}/root/run/jxperf-broker/broker.sock")
        assert b"only user 'jxperf' may connect" in root.recv(4096)
    assert "action=connect uid=0" in journal("jxperf-broker.service")
    machine.sh("jxperfctl list")
    assert property_of("jxperfd", "MainPID") == engine


@test
def a_hanging_engine_is_restarted():
    engine = property_of("jxperfd", "MainPID")
    assert engine != "0"
    machine.sh(f"kill -STOP {engine}")
    wait_until(lambda: property_of("jxperfd", "MainPID") not in (engine, "0"), "another engine", WINDOW_S)
    assert "Watchdog timeout" in journal("jxperfd"), journal("jxperfd")
    before = windows()
    wait_until(lambda: windows() > before, "a scheduled window of the new one", WINDOW_S)


@test
def limits_are_in_force():
    for service, mebibytes, tasks in (("jxperfd", 1024, 64), ("jxperf-broker", 768, 512)):
        group = property_of(service, "ControlGroup")
        limit = machine.sh(f"cat /sys/fs/cgroup/memory{group}/memory.limit_in_bytes /sys/fs/cgroup{group}/memory.max 2>/dev/null || true")
        assert int(limit.split()[0]) == mebibytes << 20, limit
        used = machine.sh(f"cat /sys/fs/cgroup/memory{group}/memory.usage_in_bytes /sys/fs/cgroup{group}/memory.current 2>/dev/null || true")
        note(f"{service}: {int(used.split()[0]) >> 20} MiB, {property_of(service, 'TasksCurrent')} tasks")
        assert property_of(service, "TasksMax") == str(tasks), service


@test
def windows_outlive_the_engine():
    machine.sh("test $(stat -c %s /var/lib/jxperf/windows.db) -gt 0")
    assert "h2" in machine.sh("jxperfctl windows")


@test
def a_broker_that_is_restarted_with_a_wrong_configuration_says_so_and_comes_back_when_it_is_mended():
    machine.sh("cp /etc/jxperf/jxperfd.yaml /root/right && echo 'sokket: /x' >> /etc/jxperf/jxperfd.yaml")
    machine.sh("systemctl restart jxperf-broker.service")
    wait_until(lambda: "sokket: there is no such key" in journal("jxperf-broker.service"), "a line that says why", WINDOW_S)
    assert property_of("jxperfd", "ActiveState") == "active"
    machine.sh("cp /root/right /etc/jxperf/jxperfd.yaml")
    wait_until(lambda: machine.run("jxperfctl list").returncode == 0, "a list again", WINDOW_S)


@test
def it_is_reloaded_upgraded_and_purged():
    machine.sh("systemctl reload jxperfd")
    wait_until(lambda: "action=configure outcome=ok" in journal("jxperfd"), "the configuration read anew")
    engine = property_of("jxperfd", "MainPID")
    machine.sh("apt-get install --reinstall -y ./build/deb/*.deb")
    assert property_of("jxperfd", "MainPID") not in (engine, "0")
    wait_until(lambda: machine.run("jxperfctl list").returncode == 0, "a list again", WINDOW_S)
    machine.sh("apt-get purge -y jxperf")
    left = machine.sh("find /usr /etc /lib/systemd /run /var/lib -xdev -name '*jxperf*' 2>/dev/null || true").split()
    assert left == [], left
    assert machine.sh("systemctl list-units --all --no-legend 'jxperf*'") == ""


run()
