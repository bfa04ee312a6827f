"""JDKs of other Debian releases, in a file system of their own (tests/jdks/fetch), and JVMs in there."""
import glob
import os
import shutil

from lib import BUILD, ROOT, Jdk, Process, jdks
from support.class_path import with_manifests
from support.profile import classes

# Sanitizer builds use the tree of the plain one.
TREE = next((t for t in (f"{BUILD}/jdks", f"{ROOT}/build/jdks") if os.path.isdir(t)), "")


def homes():
    """By release; nothing where no tree could be unpacked."""
    found = {}
    if not TREE:
        return found
    for java in glob.glob(os.path.join(TREE, "usr/lib/jvm/java-*-openjdk-*/bin/java")):
        jdk = Jdk(os.path.dirname(os.path.dirname(java)))
        found[jdk.release] = jdk.home
    return found


def all_jdks():
    """Those of this system, and of other suites, which run in the tree. Oldest first."""
    found = {jdk.release: jdk for jdk in [*map(Jdk, homes().values()), *jdks()]}
    return [found[release] for release in sorted(found)]


def bring_workloads():
    """The compiled workloads, where JVMs in the tree see them."""
    shutil.copytree(classes(), os.path.join(TREE, "workloads"), dirs_exist_ok=True)


def contained(home, class_path, arguments):
    """The command of a JVM that runs inside the tree, with a /tmp of its own, where it sees what its class path has outside."""
    script = [f'mount -t proc proc "{TREE}/proc"', f'mount -t tmpfs tmpfs "{TREE}/tmp"']
    seen = []
    for number, place in enumerate(filter(os.path.exists, class_path)):
        directory, name = (place, "") if os.path.isdir(place) else os.path.split(place)
        script.append(f'mkdir -p "{TREE}/tmp/{number}" && mount --bind "{directory}" "{TREE}/tmp/{number}"')
        seen.append(os.path.join(f"/tmp/{number}", name))
    script.append(f'cd "{TREE}/tmp" && exec chroot "{TREE}" "$@"')
    java = os.path.join(home[len(TREE):], "bin/java")
    return ["unshare", "--mount", "sh", "-c", " && ".join(script), "sh", java, "-cp", ":".join(seen), *arguments]


def command_of(jdk, class_path, arguments):
    """Of a JVM of all_jdks(), wherever that runs."""
    if TREE and jdk.home.startswith(TREE):
        return contained(jdk.home, with_manifests(class_path, jdk.release), arguments)
    return [jdk.java, "-cp", class_path, *arguments]


class Contained(Process):
    """A workload that runs compiled code by now, inside the tree."""

    def __init__(self, home, name, *options, arguments=()):
        inside = home[len(TREE):]
        command = [os.path.join(inside, "bin/java"), "-Xmx128m", *options]
        script = f'mount -t proc proc "{TREE}/proc" && exec chroot "{TREE}" "$@"'
        super().__init__(["unshare", "--mount", "sh", "-c", script, "sh", *command, "-cp", "/workloads", name, *arguments])
        self.wait_for("up\n")
