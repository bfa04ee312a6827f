"""For tests that profile: a daemon of their own, jxperfctl, the workloads, and what a report says."""
import concurrent.futures
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request

from lib import BUILD, HANG_S, ROOT, Process, jdks, made_once, make_directory, note, register, wait_until
from . import possible
from .bytecodes import Bytecodes

WINDOWS_AT_ONCE = 2

# Of a configuration: whether this machine is busy with other tests is not what is tested.
NO_GUARDS = "guards: {cpu-pressure: off, memory-pressure: off, io-pressure: off, load: off, collector: off}"

# Each report that a test has of a window is also one whose rows can be true (support/possible.py); not where this is 0.
CHECK_METHODS = os.environ.get("JXPERF_CHECK_METHODS") != "0"

# Exit statuses of an attach that prints a report, besides 0.
EARLY, TARGET_ENDED = 3, 4

# How long duration_for looks, and the least share of a processor that it makes up for.
FARES_S = 0.2
LEAST_SHARE = 0.1
# Windows that got less of the CPU time that they were to have are run again, as long as they would have had to be.
ENOUGH = 0.6
TRIES = 4
LONGEST_S = 120
# For what a program that has ended leaves behind.
ENDS_S = 10

OPTION_OF = {
    "Serial": "-XX:+UseSerialGC",
    "Parallel": "-XX:+UseParallelGC",
    "G1": "-XX:+UseG1GC",
    "ZGC": "-XX:+UseZGC",
    "Shenandoah": "-XX:+UseShenandoahGC",
}

DAEMON = os.path.join(BUILD, "bin/jxperfd")
CLIENT = os.path.join(BUILD, "bin/jxperfctl")
JARS = [
    os.path.join("/usr/share/java", name)
    for name in ("jfreechart.jar", "jcommon.jar", "commons-collections3.jar", "commons-collections4.jar")
]


# The class path of the programs in bench/workloads, which need more.
BENCH_CLASS_PATH = ":".join([
    os.path.join(BUILD, "workloads"), *JARS,
    *(f"/usr/share/java/{name}.jar"
      for name in ("h2", "jython", "batik-all", "xml-apis-ext", "xmlgraphics-commons", "commons-io", "commons-logging",
                   "fop-core", "fop-events", "fop-util", "fontbox", "fontbox2", "jetty9-server", "jetty9-util",
                   "jetty9-http", "jetty9-io", "servlet-api", "derby", "lucene-core-4.10.4", "lucene-analyzers-common-4.10.4", "pdfbox2",
                   "tomcat10-embed-core", "tomcat10-annotations-api")),
    "/usr/share/jruby/lib/jruby.jar",
])

# ---------------------------------------------------------------- workloads


@made_once
def classes():
    """The directory of the compiled workloads."""
    directory = os.path.join(BUILD, "workloads")
    sources = glob.glob(os.path.join(ROOT, "tests/workloads/*.java"))
    compiled = [os.path.join(directory, os.path.basename(s).replace(".java", ".class")) for s in sources]
    newest = max(map(os.path.getmtime, sources))
    if not all(os.path.exists(c) and os.path.getmtime(c) >= newest for c in compiled):
        os.makedirs(directory, exist_ok=True)
        javac = next(j.javac for j in jdks() if os.access(j.javac, os.X_OK))
        options = ["--release", "11", "-Xlint:-options", "-cp", ":".join(JARS), "-d", directory]
        subprocess.run([javac, *options, *sources], check=True)
    # JVMs of other users read them, too, and the build may lie below a home that is closed to them.
    return shutil.copytree(directory, os.path.join(make_directory(), "classes"))


class Workload(Process):
    """A workload that runs compiled code by now. before: directories whose classes come before the workloads'."""

    def __init__(self, jdk, name, *options, arguments=(), prefix=(), before=(), **more):
        path = ":".join([*before, classes(), *JARS])
        command = [*prefix, jdk.java, "-Xmx128m", *options, "-cp", path, name, *arguments]
        environment = {k: v for k, v in os.environ.items() if "JAVA" not in k}
        super().__init__(command, env=environment, **more)
        self.wait_for("up\n")


def cpu_seconds(pid):
    """CPU time of a process so far."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def duration_for(pid, cpu_s, least_share=LEAST_SHARE):
    """The window in which a process with a busy thread gets so much CPU time, from how it fares now: a machine where
    others take the processors gives as many samples in a longer window."""
    before, start = cpu_seconds(pid), time.monotonic()
    time.sleep(FARES_S)
    share = (cpu_seconds(pid) - before) / (time.monotonic() - start)
    return f"{cpu_s / min(max(share, least_share), 1.0):.1f}s"


# ---------------------------------------------------------------- daemon and client


def end_group(child):
    """Waits until all of the process group of a child have ended, and kills what has not: whoever is attaching first
    removes what it has put into the target."""
    end = time.monotonic() + ENDS_S
    try:
        while time.monotonic() < end:
            child.poll()
            os.killpg(child.pid, 0)
            time.sleep(0.01)
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # Nothing of it is left.
    child.wait()


class Daemon(Process):
    """A daemon that serves a socket of its own, and keeps windows in a directory of its own or in the one
    that another left. pid is the engine's. config: the text of its configuration, where it has one; program: another than DAEMON."""

    def __init__(self, prefix=(), http="none", options=(), state=None, directory=None, config=None, program=None):
        directory = directory or make_directory()
        self.socket = os.path.join(directory, "control.sock")
        self.state = state or os.path.join(directory, "state")
        command = [*prefix, program or DAEMON, "--socket", self.socket, "--http", http, "--state-dir", self.state, *options]
        if config is not None:
            self.config = os.path.join(directory, "jxperfd.yaml")
            self.configure(config)
            command += ["--config", self.config]
        super().__init__(command, start_new_session=True)
        self.wait_for("ready")

    def configure(self, text):
        """What holds after a reload."""
        with open(self.config, "w", encoding="utf-8") as f:
            f.write(text)

    def broker(self):
        """The pid of the privileged half."""
        with open(f"/proc/{self.pid}/task/{self.pid}/children", encoding="ascii") as f:
            children = f.read().split()
        assert len(children) == 1, f"the daemon has the children {children}"
        return int(children[0])

    def address(self):
        """Where it serves HTTP."""
        return re.search(r"ready: .* http (\S+)", self.output()).group(1)

    def get(self, path):
        """What it serves by HTTP."""
        with urllib.request.urlopen(f"http://{self.address()}{path}", timeout=HANG_S) as answer:
            return answer.read().decode()

    def metric(self, name, **labels):
        """The value of the series with these labels, and no others; None where there is none."""
        want = sorted(f'{k}="{v}"' for k, v in labels.items())
        for line in self.get("/metrics").splitlines():
            series, _, value = line.rpartition(" ")
            found, _, inside = series.partition("{")
            if found == name and sorted(inside.rstrip("}").split(",") if inside else []) == want:
                return float(value)
        return None

    def ctl(self, *arguments, timeout=HANG_S):
        return ctl("--socket", self.socket, *arguments, timeout=timeout)

    def start_ctl(self, *arguments):
        return Client("--socket", self.socket, *arguments)

    def running(self):
        """The windows that run now."""
        return json.loads(succeeded(self.ctl("--json", "status")))["running"]

    def attach(self, pid, *options, duration=None, cpu_s=10, timeout=HANG_S):
        """Runs a window of a duration, or of about so much CPU time of the target, and returns its report."""
        asked = duration or duration_for(pid, cpu_s)
        for _ in range(1 if duration else TRIES):
            report = report_of(self.ctl("attach", str(pid), *attach_options(asked, options), timeout=timeout))
            got_s = report["quality"]["target_cpu_s"]
            if got_s > ENOUGH * cpu_s:
                break  # Others did not come and take the processors.
            seconds = report["window"]["duration_s"] * cpu_s / max(got_s, 0.01)
            asked = f"{min(seconds, LONGEST_S):.1f}s"
        if CHECK_METHODS:
            assert_possible(pid, report)
        return report

    def start_attach(self, pid, *options, duration="60s"):
        """Starts a window that others are to end, and returns once samples arrive."""
        client = self.start_ctl("attach", str(pid), *attach_options(duration, options))

        def samples_arrive():
            assert client.child.poll() is None, f"ended early: {client.finish()}"
            return any(w["pid"] == pid and w["samples"] > 0 for w in self.running())

        wait_until(samples_arrive, f"samples of process {pid}")
        return client

    def stop(self):
        super().stop()
        end_group(self.child)
        assert "Sanitizer" not in self.output(), self.output()


class Windows:
    """Windows in the background, in the order in which they were asked for, each in a JVM of its own.

    The programs have one busy thread, so two run at a time. measure is called with the daemon and what was asked.
    """

    def __init__(self, measure):
        self.daemon = Daemon()
        self.measure = measure
        self.pool = concurrent.futures.ThreadPoolExecutor(WINDOWS_AT_ONCE)
        register(self)

    def ask(self, *arguments):
        return self.pool.submit(self.measure, self.daemon, *arguments)

    def stop(self):
        self.pool.shutdown(wait=False, cancel_futures=True)


class Client:
    """A jxperfctl that runs beside the test. It writes to files: nobody may read before it has ended, and a pipe holds 64 KiB."""

    def __init__(self, *arguments, command=(CLIENT,)):
        self.outputs = [tempfile.TemporaryFile("w+", encoding="utf-8") for _ in range(2)]  # pylint: disable=consider-using-with
        self.child = subprocess.Popen(
            [*command, *arguments], stdin=subprocess.DEVNULL, stdout=self.outputs[0], stderr=self.outputs[1], start_new_session=True)
        register(self)

    def finish(self, timeout=HANG_S):
        """What subprocess.run would have returned."""
        self.child.wait(timeout=timeout)
        texts = []
        for output in self.outputs:
            output.seek(0)
            texts.append(output.read())
        return subprocess.CompletedProcess(self.child.args, self.child.returncode, *texts)

    def stop(self):
        if self.child.poll() is None:
            self.child.terminate()
            self.child.send_signal(signal.SIGCONT)
        end_group(self.child)


def ctl(*arguments, timeout=HANG_S):
    """Runs jxperfctl to its end."""
    return subprocess.run(
        [CLIENT, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def stamp(at):
    """A time as jxperfctl takes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(at))


def attach_options(duration, options):
    return ["--duration", duration, "--format", "json", "--pairs", "100000", *options]


def succeeded(result):
    """The standard output of a jxperfctl that must have worked."""
    assert result.returncode == 0, f"exit status {result.returncode}: {result.stderr}"
    return result.stdout


# ---------------------------------------------------------------- reports


def report_of(result, status=0):
    assert result.returncode == status, f"exit status {result.returncode}: {result.stderr}"
    report = json.loads(result.stdout)
    assert report["schema"] == 1, report["schema"]
    return report


def assert_possible(pid, report):
    """No row names a method that cannot have made its access, as far as the files of the process's classes are known."""
    try:
        home = os.path.dirname(os.path.dirname(os.readlink(f"/proc/{pid}/exe")))
        with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as f:
            arguments = f.read().split("\0")
    except OSError:
        return  # It has ended.
    if "-cp" not in arguments or not os.path.exists(os.path.join(home, "release")):
        return
    root = f"/proc/{pid}/root" if os.readlink(f"/proc/{pid}/root") != "/" else ""
    class_path = ":".join(root + p for p in arguments[arguments.index("-cp") + 1].split(":"))
    bytecodes = Bytecodes(home, class_path)
    tally = possible.tally_of(bytecodes, [*possible.accesses(report), *possible.line_accesses(report)])
    for line in tally.lines():
        note(line)
    assert not tally.impossible, [(n, a.words()) for a, n in tally.impossible.most_common(5)]


def the_one_kind(report):
    """What a report of one kind says of it."""
    assert len(report["inefficiency"]) == 1, [i["kind"] for i in report["inefficiency"]]
    return report["inefficiency"][0]


# Of allocations.
MOST_LOST = 0.005


def assert_quality(report, least_traps):
    """Enough was measured, and nothing was lost on the way."""
    quality = report["quality"]
    assert quality["traps"] >= least_traps, quality
    # An allocation that found its thread's queue full, on a busy machine.
    lost = quality["objects_queue_full"]
    assert quality["dropped"] == lost <= max(1, quality["objects_sampled"] * MOST_LOST), quality
    assert not report["window"]["ended_early"], report["window"]
    closed = ("traps", "replaced", "expired_gc", "expired_window", "abandoned")
    assert quality["armed"] == sum(quality[c] for c in closed), quality
    assert_account(quality)


ROLES = ("ticks", "stops", "looks", "searches", "sampled", "second", "late")


def assert_account(quality):
    """Each signal has one role, no part of the handlers' time counts twice, and the costs are all of the overhead."""
    assert quality["signals"] == sum(quality[f"signals_{r}"] for r in ROLES)
    parts = sum(quality[p] for p in ("contexts_ns", "controls_ns", "code_ns", "placing_ns"))
    assert 0 < parts <= quality["handler_ns"], quality
    costs = sum(quality[c] for c in ("handler_ns", "kernel_ns", "session_ns", "events_ns", "registers_ns", "switches_ns"))
    assert costs == quality["overhead_ns"], quality


def share_through(kind, method):
    """The part of the wasteful bytes whose accesses both have the method ("Class.name") in their path."""

    def passes(access):
        return any(f"{f['class']}.{f['method']}" == method for f in access["frames"])

    through = sum(p["wasteful_bytes"] for p in kind["pairs"] if passes(p["watch"]) and passes(p["trap"]))
    return through / kind["wasteful_bytes"] if kind["wasteful_bytes"] else 0.0
