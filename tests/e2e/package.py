#!/usr/bin/env python3
# Runs alone: it builds everything once more, with all processors.
"""The Debian package: built without an error of lintian's, installed, and gone without a trace when it is purged."""
import glob
import os
import subprocess

from lib import BUILD, ROOT, run, skip, test
from support.machine_copy import Copy

LIMIT_S = 900


def build():
    if subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, check=False).returncode != 0:
        skip("the package is built from what is committed, and this is no checkout")
    done = subprocess.run(["make", "--no-print-directory", "-C", ROOT, "deb", f"B={BUILD}"], capture_output=True, text=True,
                          timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(p for p in glob.glob(os.path.join(BUILD, "deb/*.deb")) if "dbgsym" not in p)


@test
def it_is_installed_and_purged():
    package = build()
    copy = Copy()
    before = set(copy.sh("find /usr /etc -name '*jxperf*'").split())
    copy.sh(f"dpkg -i {package} 2>&1")
    installed = set(copy.sh("find /usr /etc -name '*jxperf*'").split()) - before
    for path in ("/usr/bin/jxperfctl", "/usr/bin/jxperfd", "/etc/jxperf/jxperfd.yaml", "/usr/share/man/man1/jxperfctl.1.gz"):
        assert path in installed, (path, installed)
    assert copy.sh("jxperfctl --version").startswith("jxperfctl ")
    copy.sh("jxperfd --check-config --config /etc/jxperf/jxperfd.yaml")
    copy.sh("getent passwd jxperf")
    unit = next(path for path in installed if path.endswith("/jxperfd.service"))
    assert copy.sh(f"systemd-analyze --man=no verify {unit} 2>&1") == ""
    copy.sh("dpkg --purge jxperf 2>&1")
    left = set(copy.sh("find /usr /etc -name '*jxperf*'").split()) - before
    assert left == set(), left
    copy.first.stop()


run()
