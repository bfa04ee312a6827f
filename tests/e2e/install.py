#!/usr/bin/env python3
"""What README says of installing, followed to the letter on a copy of this machine's files that is thrown away."""
import os
import re
import shlex

from lib import ROOT, Process, jdks, note, run, test
from support.machine_copy import Copy
from support.profile import classes

UNIT = "/usr/local/lib/systemd/system/jxperfd.service"
ENABLED = "/etc/systemd/system/multi-user.target.wants/jxperfd.service"
NOBODY = 65534


def blocks(heading):
    """The commands below a heading of README, a list of each block's lines."""
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
        section = re.search(rf"^## {heading}\n(.*?)^## ", f.read(), re.MULTILINE | re.DOTALL).group(1)
    return [block.strip().splitlines() for block in re.findall(r"^```\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)]


def shapes(report):
    """The lines of a report's head that every window of pairs has, without their numbers."""
    lines = [re.sub(r"\d+(\.\d+)?", "#", line) for line in report.splitlines()[:16]]
    return [line for line in lines if re.match(r"# samples,|overhead|Fractions|points chosen|kind |JVM's own", line)]


def setting(unit, name):
    return re.search(rf"^{name}=(.*)$", unit, re.MULTILINE).group(1)


def start_unit(copy):
    """What systemd would run, with the user, group and bounding set that it would give it."""
    unit = copy.read(ENABLED)
    group, directory = setting(unit, "Group"), setting(unit, "RuntimeDirectory")
    copy.sh(f"install -d -m {setting(unit, 'RuntimeDirectoryMode')} -g {group} /run/{directory}")
    bounds = ",".join(f"+{c.removeprefix('CAP_').lower()}" for c in setting(unit, "CapabilityBoundingSet").split())
    confined = ["setpriv", f"--bounding-set=-all,{bounds}", f"--regid={group}", "--clear-groups", "--no-new-privs"]
    daemon = Process(copy.command(*confined, *shlex.split(setting(unit, "ExecStart"))))
    daemon.wait_for("ready")
    return daemon


def start_jvm(copy, directory):
    """A JVM of another user, and its pid there."""
    command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", jdks()[0].java, "-cp", directory]
    jvm = Process(copy.command(*command, "SilentLoad"))
    jvm.wait_for("up")
    return jvm, copy.sh("pidof java").strip()


@test
def what_readme_says_of_installing_works_as_it_stands():
    directory = classes()  # The copy has what is there when it is made.
    copy = Copy()
    use, (daemon_block,) = blocks("On a JVM of yours")[0], blocks("A daemon that stays")
    jvm, pid = start_jvm(copy, directory)
    for line in use:
        output = copy.sh(line.replace("10680", pid))
        if "attach" in line:
            assert output.startswith("window w1: SilentLoad"), output
            assert shapes(output) == shapes("\n".join(blocks("A report")[0])), output
    assert "jxperf:" not in copy.read("/etc/passwd")
    for line in daemon_block:
        copy.sh(line)
    assert re.search(r"^jxperf:", copy.read("/etc/passwd"), re.MULTILINE)
    verified = copy.sh(f"systemd-analyze --man=no verify {UNIT} 2>&1")
    assert verified == "", verified
    daemon = start_unit(copy)
    users = copy.sh("ps -o user= -C jxperfd,exe").split()
    note(f"the processes of the daemon run as {users}")
    assert "jxperf" in users and "root" in users, users
    assert copy.sh("stat -c '%U %G %a' /run/jxperf/control.sock").split() == ["root", "jxperf", "660"]
    copy.sh("useradd --groups jxperf sre")
    refused = copy.sh(f"! runuser -u sre -- jxperfctl attach {pid} --duration 1s 2>&1")
    assert f"no process has the pid {pid}" in refused, refused
    report = copy.sh(f"jxperfctl attach {pid} --duration 1s")
    assert report.startswith("window w2: SilentLoad"), report
    assert "jxperf_windows_total" in copy.sh("curl -sf 127.0.0.1:9779/metrics")
    assert "w2" in copy.sh("jxperfctl windows")
    copy.sh("test -f /usr/local/share/man/man1/jxperfctl.1 -a -f /usr/local/share/man/man8/jxperfd.8")
    copy.sh("test -f /usr/local/share/bash-completion/completions/jxperfctl")
    daemon.stop()
    jvm.stop()
    copy.first.stop()


run()
