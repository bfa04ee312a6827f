#!/usr/bin/env python3
"""What README says of installing, followed to the letter on a copy of this machine's files that is thrown away."""
import os
import re
import shlex

from lib import ROOT, Process, jdks, note, run, test
from support.machine_copy import Copy, readme_blocks, start_jvm, start_units
from support.profile import classes

UNIT = "/usr/local/lib/systemd/system/jxperfd.service"
ENABLED = ["/etc/systemd/system/multi-user.target.wants/jxperfd.service",
           "/etc/systemd/system/sockets.target.wants/jxperf-broker.socket"]


def shapes(report):
    """The lines of a report's head that every window of pairs has, without their numbers."""
    lines = [re.sub(r"\d+(\.\d+)?", "#", line) for line in report.splitlines()[:32]]
    return [line for line in lines if re.match(r"# samples,|overhead|Fractions|points chosen|kind |CPU time: ", line)]


@test
def what_readme_says_of_installing_works_as_it_stands():
    directory = classes()  # The copy has what is there when it is made.
    copy = Copy()
    use, (daemon_block,) = readme_blocks("On a JVM of yours")[0], readme_blocks("A daemon that stays")
    jvm, pid = start_jvm(copy, directory)
    for line in use:
        output = copy.sh(line.replace("10680", pid))
        if "attach" in line:
            assert "\nwindow w1: SilentLoad" in output, output
            assert shapes(output) == shapes("\n".join(readme_blocks("A report")[0])), output
    assert "jxperf:" not in copy.read("/etc/passwd")
    for line in daemon_block:
        copy.sh(line)
    assert re.search(r"^jxperf:", copy.read("/etc/passwd"), re.MULTILINE)
    verified = copy.sh(f"systemd-analyze --man=no verify {UNIT} 2>&1")
    assert verified == "", verified
    for link in ENABLED:
        copy.sh(f"test -e {link}")
    daemon = start_units(copy, os.path.dirname(UNIT))
    users = copy.sh("ps -o user:20= -C jxperfd,exe").split()
    note(f"the processes of the daemon run as {users}")
    assert set(users) == {"jxperf", "jxperf-broker"}, users
    assert copy.sh("stat -c '%U %G %a' /run/jxperf/control.sock").split() == ["jxperf", "jxperf", "660"]
    copy.sh("useradd --groups jxperf sre")
    refused = copy.sh(f"! runuser -u sre -- jxperfctl attach {pid} --duration 1s 2>&1")
    assert f"no process has the pid {pid}" in refused, refused
    report = copy.sh(f"jxperfctl attach {pid} --duration 1s")
    assert "\nwindow w2: SilentLoad" in report, report
    assert "jxperf_windows_total" in copy.sh("curl -sf 127.0.0.1:9779/metrics")
    assert "w2" in copy.sh("jxperfctl windows")
    copy.sh("test -f /usr/local/share/man/man1/jxperfctl.1 -a -f /usr/local/share/man/man8/jxperfd.8")
    copy.sh("test -f /usr/local/share/bash-completion/completions/jxperfctl")
    daemon.stop()
    jvm.stop()
    copy.stop()


run()
