#!/usr/bin/env python3
"""The version of an application that no rule gives is that of the manifest of the jar that its JVM has open."""
# Takes half a place: it waits most of the time (windows of a second).
import json
import os
import time
import zipfile

from lib import Process, jdks, make_directory, need_root, run, test, test_on_jdks, wait_until
from support.fuse_disk import FuseDisk
from support.profile import Daemon, classes, report_of, succeeded

TEAM = f"jars{os.getpid()}"

# A window of a second begins and ends in less, also on a busy machine; one that waited for a look at a file system that
# does not answer would take the look's two seconds longer.
WINDOW_S = 1


def rules(more=""):
    return (f"environment: [TEAM, VERSION]\n{more}apps:\n  - match: {{environment: [TEAM={TEAM}]}}\n    app: shop\n"
            "    version: \"{env:VERSION}\"\n")


daemon = Daemon(http="127.0.0.1:0", config=rules())


def write_jar(path, version, compression=zipfile.ZIP_DEFLATED):
    attributes = ["Manifest-Version: 1.0", "Main-Class: SilentLoad", *([f"Implementation-Version: {version}"] if version else [])]
    with zipfile.ZipFile(path, "w", compression) as jar:
        jar.writestr("META-INF/MANIFEST.MF", "\r\n".join([*attributes, "", ""]))
        for name in os.listdir(classes()):
            if name.startswith(("SilentLoad", "Workload")):
                jar.write(os.path.join(classes(), name), name)
    return path


def make_jar(version, **options):
    return write_jar(os.path.join(make_directory(), "app.jar"), version, **options)


class Jvm(Process):
    def __init__(self, *options, jdk=None, cwd=None, prefix=(), **environment):
        kept = {k: v for k, v in os.environ.items() if "JAVA" not in k}
        super().__init__([*prefix, (jdk or jdks()[0]).java, "-Xmx64m", *options], cwd=cwd, env={**kept, **environment})
        self.wait_for("up\n")


def window_of(jvm):
    return report_of(daemon.ctl("attach", str(jvm.pid), "--duration", f"{WINDOW_S}s", "--format", "json"))["window"]


def found(result):
    return daemon.metric("jxperf_jar_versions_total", result=result)


def listed():
    return {w["id"]: w["version"] for w in json.loads(succeeded(daemon.ctl("--json", "windows")))}


@test_on_jdks
def a_jvm_that_was_started_from_a_jar_has_the_jars_version(jdk):
    jvm = Jvm("-jar", make_jar("1.2.3+build 7"), jdk=jdk)
    window = window_of(jvm)
    assert window["version"] == "1.2.3_build_7", window
    assert listed()[window["id"]] == "1.2.3_build_7", listed()


@test
def a_jar_is_read_once_for_all_windows_of_its_jvm():
    jvm = Jvm("-jar", make_jar("1.2"))
    before = found("found")
    assert [window_of(jvm)["version"] for _ in range(3)] == ["1.2"] * 3
    assert found("found") == before + 1


@test
def a_relative_path_a_stored_manifest_and_a_class_path_of_one_jar_do():
    jar = make_jar("3.1", compression=zipfile.ZIP_STORED)
    below = os.path.join(os.path.dirname(jar), "bin")
    os.mkdir(below)
    assert window_of(Jvm("-jar", "../app.jar", cwd=below))["version"] == "3.1"
    assert window_of(Jvm("-cp", jar, "SilentLoad"))["version"] == "3.1"


@test
def a_jar_that_only_its_own_container_sees_is_found_there():
    need_root()
    jar = make_jar("1.2")
    # Outside another file has that path.
    seen = write_jar(os.path.join(make_directory(), "app.jar"), "9.9")
    prefix = ["unshare", "--mount", "sh", "-c", f"mount --bind {os.path.dirname(jar)} {os.path.dirname(seen)} && exec \"$@\"", "sh"]
    assert window_of(Jvm("-jar", seen, prefix=prefix))["version"] == "1.2"


@test
def a_class_path_of_several_says_nothing():
    before = found("no-jar")
    jars = make_jar("3.1"), make_jar("3.2")
    assert window_of(Jvm("-cp", ":".join(jars), "SilentLoad"))["version"] == ""
    assert window_of(Jvm("-cp", classes(), "SilentLoad"))["version"] == ""
    assert found("no-jar") == before + 2


@test
def a_jar_without_a_version_says_none():
    before = found("no-version")
    assert window_of(Jvm("-jar", make_jar(None)))["version"] == ""
    assert found("no-version") == before + 1


@test
def what_a_rule_gives_comes_first():
    jar = make_jar("1.2")
    window = window_of(Jvm("-jar", jar, TEAM=TEAM, VERSION="2024.7"))
    assert window["app"] == "shop" and window["version"] == "2024.7", window
    # And where it names what is not known of the JVM, the jar says it.
    window = window_of(Jvm("-jar", jar, TEAM=TEAM))
    assert window["app"] == "shop" and window["version"] == "1.2", window


@test
def nothing_is_read_where_the_configuration_forbids_it():
    jvm = Jvm("-jar", make_jar("1.2"))
    daemon.configure(rules("jar-versions: no\n"))
    succeeded(daemon.ctl("reload"))
    before = found("found")
    assert window_of(jvm)["version"] == "" and found("found") == before
    daemon.configure(rules())
    succeeded(daemon.ctl("reload"))
    assert window_of(jvm)["version"] == "1.2"


@test
def during_a_roll_out_the_old_jvm_does_not_have_the_new_version():
    jar = make_jar("1.2")
    old = Jvm("-jar", jar)
    os.rename(make_jar("1.3"), jar)
    new = Jvm("-jar", jar)
    before = found("not-in-use")
    assert window_of(old)["version"] == ""
    assert found("not-in-use") == before + 1
    assert window_of(new)["version"] == "1.3"


@test
def a_fifo_or_device_in_the_jars_place_is_no_version_and_holds_nobody_up():
    jar = make_jar("1.2")
    jvm = Jvm("-jar", jar)
    before, untold = found("unreadable"), found("untold")
    os.unlink(jar)
    os.mkfifo(jar)
    assert window_of(jvm)["version"] == ""
    os.unlink(jar)
    os.symlink("/dev/zero", jar)
    assert window_of(jvm)["version"] == ""
    assert found("unreadable") == before + 2 and found("untold") == untold, daemon.get("/metrics")


@test
def a_window_does_not_wait_for_a_file_system_that_does_not_answer():
    fuse = FuseDisk(0, {"app.jar": make_jar("1.2")})
    jvm = Jvm("-jar", os.path.join(fuse.path, "app.jar"))
    local = Jvm("-jar", make_jar("1.2"))
    untold = found("untold")
    begin = time.monotonic()
    assert window_of(local)["version"] == "1.2"
    usual_s = time.monotonic() - begin
    fuse.freeze()
    begin = time.monotonic()
    assert window_of(jvm)["version"] == ""
    assert time.monotonic() - begin < usual_s + 1, (time.monotonic() - begin, usual_s)
    wait_until(lambda: found("untold") == untold + 1, "the look that was given up")
    # Nor is the JVM any less one that can be profiled.
    assert window_of(jvm)["state"] == "done"


run()
