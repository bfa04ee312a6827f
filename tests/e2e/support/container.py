"""JVMs in containers: a root, mounts, pids, a network and users of their own, made by unshare(1) and bind mounts."""
import os
import re
import shutil
import subprocess

from lib import BUILD, Process, made_once, make_directory, only_child, skip, wait_until
from support import attach, profile

# Users of a container that has users of its own are these here: FIRST_USER is its root.
FIRST_USER, USERS = 100000, 65536

# A root of its own: a Debian in $BASE with a layer above that takes the changes, and the machine's JDKs; or a tmpfs with the
# machine's programs. Nothing else of the machine's is in there but the JVM's classes. The first argument is a directory to
# build it in, the second one with classes; $MOUNTS may add to the root, in which it is run.
ENTER = """
set -e
root=$1 classes=$2; shift 2
mount --make-rprivate /
mount -t tmpfs -o mode=755 image "$root"
cd "$root"
if [ "$BASE" ]; then
	mkdir upper work merged
	mount -t overlay -o "lowerdir=$BASE,upperdir=upper,workdir=work" image merged
	cd merged
	mkdir -p app old usr/lib/jvm
	mount --rbind /usr/lib/jvm usr/lib/jvm
else
	mkdir usr etc tmp var var/tmp dev proc opt app old
	chmod 1777 tmp var/tmp
	printf 'root:x:0:0::/:/bin/sh\\nduke:x:1000:1000::/:/bin/sh\\n' > etc/passwd
	mount --rbind /usr usr
	for name in bin sbin lib lib32 lib64 libx32; do ln -s "usr/$name" "$name"; done
fi
for from in /etc/java-*; do mkdir ".$from"; mount --rbind "$from" ".$from"; done
mount --rbind "$classes" app
for name in null zero random urandom; do : > "dev/$name"; mount --bind "/dev/$name" "dev/$name"; done
mount -t proc proc proc
eval "$MOUNTS"
pivot_root . old
cd /
umount -l old
rmdir old
if [ "$READ_ONLY" ]; then mount -o remount,ro /; fi
exec "$@"
"""


class _Users:
    """A user namespace with users of its own, for as long as a process in it lives."""

    def __init__(self):
        self.holder = Process(["unshare", "--user", "sleep", "3600"])
        own = os.readlink("/proc/self/ns/user")
        try:
            wait_until(lambda: os.readlink(f"/proc/{self.holder.pid}/ns/user") != own, "a user namespace")
            for which in ("uid_map", "gid_map"):
                with open(f"/proc/{self.holder.pid}/{which}", "w", encoding="ascii") as f:
                    f.write(f"0 {FIRST_USER} {USERS}")
        except (AssertionError, OSError) as reason:
            skip(f"user namespaces cannot be had: {reason}")

    def enter(self):
        return ("nsenter", f"--target={self.holder.pid}", "--user", "--setuid=0", "--setgid=0")


@made_once
def debian():
    """A directory with a small Debian like this machine's, made once and kept with the build."""
    base = os.path.join(BUILD, "containers/debian")
    if not os.path.isdir(base):
        if not shutil.which("debootstrap"):
            skip("there is no debootstrap: apt-get install debootstrap")
        os.makedirs(os.path.dirname(base), exist_ok=True)
        shutil.rmtree(f"{base}.new", ignore_errors=True)
        with open("/etc/os-release", encoding="utf-8") as f:
            suite = re.search(r"^VERSION_CODENAME=(\w+)", f.read(), re.M).group(1)
        made = subprocess.run(["debootstrap", "--variant=minbase", suite, f"{base}.new"], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            skip(f"debootstrap: {made.stdout.strip().splitlines()[-1:]}")
        os.rename(f"{base}.new", base)
    return base


@made_once
def _users():
    return _Users()


class Container(Process):
    """A JVM as the first process of a container; pid is that of the JVM, seen from here.

    mounts: shell commands that change the root before it is entered, whose directory they are in.
    base: the files that the root begins with, such as debian(). directory: with other classes than those of the workloads, or of Idle.
    read_only: the root is, but not what is mounted in it. own_users: with a user namespace.
    """

    def __init__(self, jdk, name="SilentLoad", *options, arguments=(), mounts="", read_only=False, own_users=False, user=0, env=None,
                 prefix=(), directory=None, base=""):
        root = make_directory()
        # Idle does nothing, which is enough for one that is to be refused.
        classes, started = (attach.classes, "idling\n") if name == "Idle" else (profile.classes, "up\n")
        directory = directory or classes()
        java = [jdk.java, "-Xmx128m", *options, "-cp", "/app", name, *arguments]
        if user:
            java = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *java]
        namespaces = ["unshare", "--mount", "--pid", "--net", "--fork", "--kill-child"]
        command = [*prefix, *(_users().enter() if own_users else ()), *namespaces, "sh", "-c", ENTER, "sh", root,
                   directory, *java]
        environment = {k: v for k, v in os.environ.items() if "JAVA" not in k}
        environment |= {"MOUNTS": mounts, "READ_ONLY": "1" if read_only else "", "BASE": base, "HOME": "/nonexistent", **(env or {})}
        super().__init__(command, cwd="/", env=environment)
        self.wait_for(started)
        self.pid = wait_until(lambda: only_child(self.child.pid), "the JVM behind unshare")


