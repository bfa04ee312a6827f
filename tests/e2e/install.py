#!/usr/bin/env python3
"""What README says of installing, followed to the letter on a copy of this machine's files that is thrown away; an RPM
package, and what a package says of what is in it."""
import glob
import json
import os
import re
import shutil
import subprocess

from lib import BUILD, ROOT, make_directory, note, run, skip, test
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
            assert re.search(r"\nwindow w\d{10}: SilentLoad", output), output  # A private daemon's.
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


def make(*words):
    return subprocess.run(["make", "--no-print-directory", "-C", ROOT, f"B={BUILD}", *words], capture_output=True, text=True,
                          check=False)


@test
def an_rpm_has_all_files_the_scripts_of_its_users_and_no_library_for_others():
    if not shutil.which("rpmbuild"):
        skip("there is no rpmbuild: apt-get install rpm")
    made = make("rpm")
    assert made.returncode == 0, made.stdout + made.stderr
    (package,) = glob.glob(os.path.join(BUILD, "rpm/x86_64/jxperf-*.rpm"))

    def query(*words):
        return subprocess.run(["rpm", "-qp", *words, package], capture_output=True, text=True, check=True).stdout

    files = query("--list").split()
    for path in ("/usr/bin/jxperfd", "/usr/lib/jxperf/libZydis.so.4.0", "/usr/lib/systemd/system/jxperf-broker.socket",
                 "/usr/share/jxperf/sbom.spdx.json", "/usr/share/jxperf/kubernetes/jxperf-pod"):
        assert path in files, path
    assert query("--configfiles").split() == ["/etc/jxperf/jxperfd.yaml"]
    assert "systemd-sysusers" in query("--scripts") and "try-restart" in query("--scripts")
    provided = query("--provides")
    assert ".so" not in provided and "bundled(zydis)" in provided, provided


@test
def what_is_in_the_package_is_in_its_bill_of_materials_and_has_its_licence():
    made = make(os.path.join(BUILD, "share/jxperf/sbom.spdx.json"))
    assert made.returncode == 0, made.stderr
    with open(os.path.join(BUILD, "share/jxperf/sbom.spdx.json"), encoding="utf-8") as f:
        document = json.load(f)
    packages = {p["SPDXID"]: p for p in document["packages"]}
    related = {how: [packages[r["relatedSpdxElement"]] for r in document["relationships"] if r["relationshipType"] == how]
               for how in ("DESCRIBES", "CONTAINS", "DEPENDS_ON")}
    assert [p["name"] for p in related["DESCRIBES"]] == ["jxperf"]
    copies = {os.path.basename(p) for p in glob.glob(os.path.join(BUILD, "lib/jxperf/lib*.so.*"))}
    contained = {os.path.basename(p["comment"]): p for p in related["CONTAINS"]}
    assert copies <= set(contained), (copies, contained)
    with open(os.path.join(ROOT, "debian/copyright"), encoding="utf-8") as f:
        notices = f.read()
    for name in copies:
        assert f"Files: usr/lib/jxperf/{name}" in notices, name
        assert contained[name]["versionInfo"] != "NOASSERTION" and contained[name]["licenseDeclared"], contained[name]
    page = os.path.join(BUILD, "share/jxperf/page.html")
    if os.path.getsize(page) > 0:
        with open(os.path.join(ROOT, "page/package.json"), encoding="utf-8") as f:
            bundled = json.load(f)["dependencies"]
        assert {n: p["versionInfo"] for p in related["CONTAINS"] for n in [p["name"]] if n in bundled} == bundled
        with open(page, encoding="utf-8") as f:
            text = f.read()
        for name in bundled:
            assert f"\n{name}: " in text and name in notices.replace("Preact", "preact"), name
        assert text.count("Permission is hereby granted") == len(bundled)
    assert {"libuv1", "libsqlite3-0", "libc6"} <= {p["name"] for p in related["DEPENDS_ON"]}, related["DEPENDS_ON"]


@test
def other_processors_are_refused_by_name():
    compiler = os.path.join(make_directory(), "gcc")
    with open(compiler, "w", encoding="ascii") as f:
        f.write("#!/bin/sh\necho aarch64-linux-gnu\n")
    os.chmod(compiler, 0o755)
    refused = make("-n", f"CC={compiler}", "all")
    assert refused.returncode == 2 and "x86-64 only" in refused.stderr and "aarch64" in refused.stderr, refused
    assert make("-n", f"CC={compiler}", "help").returncode == 0


run()
