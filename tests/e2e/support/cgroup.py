"""Control groups of a test's own."""
import itertools
import os
import re

from lib import register, skip, wait_until

PERIOD_US = 100_000  # the kernel's default
_serial = itertools.count()


def number(path):
    with open(path, encoding="ascii") as f:
        text = f.read().strip()
    return None if text == "max" else int(text)


class Group:
    """A cgroup of the test's own with a controller, below the one that it runs in; version 1 or 2, as there is. Its name
    may be one that says something."""

    NEEDED = {"memory": "limit", "cpu": "quota", "cpuacct": "time"}

    def __init__(self, parent=None, controller="memory", name=None):
        self.path = os.path.join(parent.path if parent else own_group(controller),
                                 name or f"jxperf-test-{os.getpid()}-{next(_serial)}")
        self.v2 = os.path.exists("/sys/fs/cgroup/cgroup.controllers")
        try:
            if parent and self.v2:
                write(os.path.join(parent.path, "cgroup.subtree_control"), f"+{controller}")
            os.mkdir(self.path)
        except OSError as error:
            skip(f"no cgroup can be made: {error}")
        register(self)
        if not os.path.exists(self.file(self.NEEDED[controller])):
            skip(f"cgroups here have no {controller} controller")

    def file(self, which):
        names = {"limit": ("memory.limit_in_bytes", "memory.max"), "use": ("memory.usage_in_bytes", "memory.current"),
                 "quota": ("cpu.cfs_quota_us", "cpu.max"), "time": ("cpuacct.usage", "cpu.stat")}
        return os.path.join(self.path, names[which][self.v2])

    def enter(self):
        """The start of a command that runs what follows in the group."""
        return ("sh", "-c", f"echo $$ > {self.path}/cgroup.procs; exec \"$@\"", "sh")

    def use(self):
        return number(self.file("use"))

    def limit(self, size):
        write(self.file("limit"), str(size))

    def limit_cpus(self, cpus):
        """Of a group with the cpu controller; None for no limit."""
        none = "max" if self.v2 else "-1"
        quota = none if cpus is None else str(round(cpus * PERIOD_US))
        write(self.file("quota"), f"{quota} {PERIOD_US}" if self.v2 else quota)

    def cpu_seconds(self):
        """What all that ran in the group took, also what has ended; of a group with the cpuacct controller."""
        if not self.v2:
            return number(self.file("time")) / 1e9
        with open(self.file("time"), encoding="ascii") as f:
            return int(dict(line.split() for line in f)["usage_usec"]) / 1e6

    def throttled(self):
        """In how many periods the kernel has stopped the group, of how many."""
        with open(os.path.join(self.path, "cpu.stat"), encoding="ascii") as f:
            stat = dict(line.split() for line in f)
        return int(stat["nr_throttled"]), int(stat["nr_periods"])

    def kills(self):
        """How many processes the kernel has killed in the group."""
        name = "memory.events" if self.v2 else "memory.oom_control"
        with open(os.path.join(self.path, name), encoding="ascii") as f:
            return int(re.search(r"^oom_kill (\d+)", f.read(), re.M).group(1))

    def stop(self):
        if os.path.isdir(self.path):
            wait_until(self._removed, "the end of the group", 10)

    def _removed(self):
        try:
            os.rmdir(self.path)
        except OSError:
            return False
        return True


def write(path, text):
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def own_group(controller):
    with open("/proc/self/cgroup", encoding="ascii") as f:
        groups = dict(line.rstrip("\n").split(":", 2)[1:] for line in f)
    if os.path.exists("/sys/fs/cgroup/cgroup.controllers"):
        return "/sys/fs/cgroup" + groups[""]
    path = next((path for controllers, path in groups.items() if controller in controllers.split(",")), None)
    if path is None:
        skip(f"no {controller} cgroups are mounted")
    return f"/sys/fs/cgroup/{controller}" + path
