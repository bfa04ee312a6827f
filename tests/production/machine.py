"""A machine with a systemd of its own as process 1: a new Debian root in namespaces that share this machine's kernel."""
import glob
import os
import shutil
import subprocess

from lib import BUILD, ROOT, Process, need_root, register, skip, wait_until

STATE = os.path.join(BUILD, "machine")
BASE, MACHINE, DEBS = (os.path.join(STATE, name) for name in ("base", "root", "debs"))
SUITE = "bookworm"
# What somebody has who is to install jxperf: a service manager, somebody's Java program, and what README's lines use.
PACKAGES = "systemd,systemd-sysv,dbus,sudo,curl,ca-certificates,openjdk-17-jre-headless,libh2-java"
BOOT_S, COMMAND_S = 60, 300


def checked(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


def make_base():
    """Kept for the next time."""
    shutil.rmtree(BASE + ".new", ignore_errors=True)
    os.makedirs(DEBS, exist_ok=True)
    done = subprocess.run(["debootstrap", "--variant=minbase", f"--include={PACKAGES}", f"--cache-dir={DEBS}", SUITE,
                           BASE + ".new"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        skip(f"no Debian root: debootstrap says {done.stdout.splitlines()[-1:]}")
    os.rename(BASE + ".new", BASE)


def configure():
    """How this machine reaches its packages, and names; and what a package needs, so that no network is needed inside."""
    sources = subprocess.run(
        ["apt-get", "indextargets", "--format", "deb $(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages",
         "Origin: Debian"], capture_output=True, text=True, check=False).stdout.splitlines()
    lines = sorted({line for line in sources if line.split()[2].startswith(SUITE)})
    if lines:
        with open(os.path.join(MACHINE, "etc/apt/sources.list"), "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
    with open(os.path.join(MACHINE, "etc/apt/apt.conf.d/99acquire"), "w", encoding="utf-8") as f:
        f.write(checked("apt-config", "dump", "Acquire"))
    for name, text in (("resolv.conf", None), ("hostname", "machine\n"), ("hosts", "127.0.0.1 localhost machine\n")):
        path = os.path.join(MACHINE, "etc", name)
        if text is None:
            shutil.copy("/etc/resolv.conf", path)
            continue
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


def hierarchies():
    if os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
        return ["/sys/fs/cgroup"]
    return [path for path in glob.glob("/sys/fs/cgroup/*") if os.path.isdir(path) and not os.path.islink(path)]


class Machine:
    """Runs from its making until stop(), or the end of the tests. package is put where README's line has it."""

    def __init__(self, package):
        need_root()
        if not os.path.isdir(BASE):
            make_base()
        shutil.rmtree(MACHINE, ignore_errors=True)
        checked("cp", "-a", BASE, MACHINE)
        configure()
        self.home = "/root/jxperf"
        there = os.path.join(MACHINE, self.home[1:], os.path.relpath(package, os.path.dirname(BUILD)))
        os.makedirs(os.path.dirname(there))
        shutil.copy(package, there)
        self._fetch(os.path.relpath(there, MACHINE))
        self.group = f"jxperf-machine-{os.getpid()}"
        self.groups = [os.path.join(path, self.group) for path in hierarchies()]
        register(self)
        for path in self.groups:
            os.makedirs(path)
            # A new set of CPUs has none yet.
            for name in ("cpuset.cpus", "cpuset.mems"):
                if os.path.exists(os.path.join(path, name)):
                    shutil.copyfile(os.path.join(os.path.dirname(path), name), os.path.join(path, name))
        command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--uts", "--ipc", "--net", "--cgroup",
                   "--propagation", "private", os.path.join(ROOT, "tests/production/boot"), MACHINE, DEBS]
        self.first = Process(command, preexec_fn=self._enter_groups, start_new_session=True)
        self.pid = wait_until(self._find_init, "process 1", BOOT_S)
        wait_until(lambda: self.run("systemctl is-system-running").stdout.strip() in ("running", "degraded"),
                   f"a systemd that runs: {self.first.output()}", BOOT_S)

    def _fetch(self, package):
        """The packages that it depends on, while there is a network."""
        inside = ["unshare", "--mount", "sh", "-c", 'mount --bind "$2" "$1/var/cache/apt/archives" && exec chroot "$1" sh -c "'
                  f'apt-get update -qq && apt-get install -qq -y --download-only /{package}"', "sh", MACHINE, DEBS]
        done = subprocess.run(inside, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            skip(f"packages cannot be fetched: {done.stderr.strip()[-300:]}")

    def _enter_groups(self):
        for path in self.groups:
            with open(os.path.join(path, "cgroup.procs"), "w", encoding="ascii") as f:
                f.write("0")

    def _find_init(self):
        assert self.first.alive(), self.first.output()
        try:
            with open(f"/proc/{self.first.pid}/task/{self.first.pid}/children", encoding="ascii") as f:
                pid = f.read().split()[0]
            with open(f"/proc/{pid}/comm", encoding="ascii") as f:
                return pid if f.read().strip() == "systemd" else None
        except (OSError, IndexError):
            return None

    def run(self, script, user=None, answer="", timeout=COMMAND_S):
        """As somebody who is logged in there types it."""
        inside = ["nsenter", f"--target={self.pid}", "--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup", "--root"]
        become = ["setpriv", f"--reuid={user}", "--init-groups", "--regid=65534"] if user else []
        variables = ["HOME=/root", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8"]
        return subprocess.run([*inside, "env", "-i", f"--chdir={self.home if not user else '/'}", *variables, *become, "sh",
                               "-ec", script], capture_output=True, text=True, input=answer, timeout=timeout, check=False)

    def sh(self, script, **options):
        done = self.run(script, **options)
        assert done.returncode == 0, (script, done.returncode, done.stdout[-3000:], done.stderr[-3000:])
        return done.stdout

    def stop(self):
        self.first.stop()
        for path in self.groups:
            for folder, _, _ in os.walk(path, topdown=False):
                wait_until(lambda group=folder: self._remove(group), f"the end of {folder}")
        shutil.rmtree(MACHINE, ignore_errors=True)

    @staticmethod
    def _remove(group):
        try:
            os.rmdir(group)
        except FileNotFoundError:
            pass
        except OSError:
            return False
        return True
