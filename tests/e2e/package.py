#!/usr/bin/env python3
"""The Debian package: built without an error of lintian's, installed, and gone without a trace when it is purged."""
# Starts early: it takes long (it builds everything again).
import glob
import os
import re
import subprocess

from lib import BUILD, ROOT, run, skip, test, wait_until
from support.machine_copy import Copy, readme_blocks, start_jvm, start_units
from support.profile import NO_GUARDS, classes

LIMIT_S = 900
# Optimising takes half of the build's time, and what the optimised product does is what the other tests are about.
FASTER = {"DEB_BUILD_OPTIONS": "noopt noautodbgsym"}


def build():
    if subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, check=False).returncode != 0:
        skip("the package is built from what is committed, and this is no checkout")
    done = subprocess.run(["make", "--no-print-directory", "-C", ROOT, "deb", f"B={BUILD}"], capture_output=True, text=True,
                          env={**os.environ, **FASTER}, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(p for p in glob.glob(os.path.join(BUILD, "deb/*.deb")) if "dbgsym" not in p)


def configure(copy):
    """README's file, for the program that runs here and at a pace that a test can wait for."""
    _, lines, _ = readme_blocks("In production")
    text = "\n".join(lines) + f"\n{NO_GUARDS}\n"  # Other tests wait for disks, which holds windows up.
    for said, meant in (("org.h2.*", "SilentLoad"), ("10m", "10s"), ("30s", "3s\n    warm-up: 1s")):
        assert text.count(said) == 1, (said, text)
        text = text.replace(said, meant)
    copy.sh(f"cat > /etc/jxperf/jxperfd.yaml <<'END'\n{text}END\n")
    copy.sh("jxperfd --check-config --config /etc/jxperf/jxperfd.yaml")


def assert_scheduled(copy, unit):
    """What README promises of the file comes about."""
    configure(copy)
    jvm, pid = start_jvm(copy, classes())
    daemon = start_units(copy, os.path.dirname(unit))
    ratio = re.compile(r'^jxperf_window_inefficiency_ratio\{app="h2",kind="silent_load"\} (\S+)$', re.MULTILINE)
    wait_until(lambda: ratio.search(copy.sh("curl -sf 127.0.0.1:9779/metrics")), "a fraction of a scheduled window", 120)
    fraction = float(ratio.search(copy.sh("curl -sf 127.0.0.1:9779/metrics")).group(1))
    assert fraction > 0.5, fraction
    listed = next(line for line in copy.sh("jxperfctl list").splitlines() if line.split()[:1] == [pid])
    assert "h2" in listed.split() and "everything" in listed.split(), listed
    daemon.stop()
    jvm.stop()


@test
def it_is_installed_does_what_readme_says_and_is_purged():
    package = build()
    classes()  # The copy has what is there when it is made.
    copy = Copy()
    before = set(copy.sh("find /usr/ /etc /lib/ -name '*jxperf*'").split())
    copy.sh(f"dpkg -i {package} 2>&1")
    installed = set(copy.sh("find /usr/ /etc /lib/ -name '*jxperf*'").split()) - before
    for path in ("/usr/bin/jxperfctl", "/usr/bin/jxperfd", "/etc/jxperf/jxperfd.yaml", "/usr/share/man/man1/jxperfctl.1.gz"):
        assert path in installed, (path, installed)
    assert copy.sh("jxperfctl --version").startswith("jxperfctl ")
    copy.sh("jxperfd --check-config --config /etc/jxperf/jxperfd.yaml")
    copy.sh("getent passwd jxperf")
    # Links that enable it have the same name.
    unit = next(path for path in installed if path.endswith("/lib/systemd/system/jxperfd.service"))
    assert copy.sh(f"systemd-analyze --man=no verify {unit} 2>&1") == ""
    assert_scheduled(copy, unit)
    copy.sh("dpkg --purge jxperf 2>&1")
    left = set(copy.sh("find /usr/ /etc /lib/ -name '*jxperf*'").split()) - before
    assert left == set(), left
    copy.stop()


run()
