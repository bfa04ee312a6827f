"""What windows make a JVM grow by: its resident memory beside that of a twin without windows. Prints one row a workload:
name value unit (median, range), and exits with 1 where the median is above 16 MiB.

Both JVMs of a pair start together and warm up; then one has windows, one after the other, and after each both are
looked at. A value is what the one has grown by beyond the other. Workloads whose native memory depends on when their
garbage is collected (BatikPaint: libz's, which java.util.zip gives back from a cleaner) and the compilers' arenas differ
by some MiB between twins without any window: `beside` is what the twin grew by itself.

  BENCH_WINDOWS   windows of a JVM (default 6)       BENCH_WINDOW_S    seconds of each (default 3)
  BENCH_ONLY      comma-separated workload names     BENCH_WARM_UP_S   (default 30)
  BENCH_JDKS      comma-separated releases (default: 17 and the newest)
"""
import os
import re
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))
from lib import Process, jdks  # noqa: E402
from support.profile import BENCH_CLASS_PATH, Daemon  # noqa: E402

WINDOWS = int(os.environ.get("BENCH_WINDOWS", "6"))
WINDOW_S = float(os.environ.get("BENCH_WINDOW_S", "3"))
WARM_UP_S = float(os.environ.get("BENCH_WARM_UP_S", "30"))
JDKS = [int(n) for n in os.environ.get("BENCH_JDKS", "").split(",") if n]
ONLY = [n for n in os.environ.get("BENCH_ONLY", "").split(",") if n]

LIMIT_MIB = 16
# With little heap collections come often, and so does what they give back.
HEAP = ("-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch")
PROGRAMS = {
    **{name: [name] for name in ("H2Queries", "JythonScript", "BatikPaint", "ChartTimeline", "ListSubtract", "BagRetain")},
    "ManyClasses": ["ManyClasses", "50000", "1000"],
}


def resident_mib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1)) / 1024


def start(jdk, program):
    environment = {k: v for k, v in os.environ.items() if "JAVA" not in k}
    return Process([jdk.java, *HEAP, "-Djava.awt.headless=true", "-cp", BENCH_CLASS_PATH, *program], env=environment)


def growths(daemon, jdk, program):
    """After each window: what the JVM that has them has grown by, and its twin."""
    jvms = [start(jdk, program) for _ in range(2)]
    try:
        for jvm in jvms:
            jvm.wait_for("up\n", 120)
        time.sleep(WARM_UP_S)
        before = [resident_mib(jvm.pid) for jvm in jvms]
        found = []
        for _ in range(WINDOWS):
            daemon.attach(jvms[0].pid, duration=f"{WINDOW_S}s")
            found.append([resident_mib(jvm.pid) - b for jvm, b in zip(jvms, before)])
        return found
    finally:
        for jvm in jvms:
            jvm.stop()


def row(name, values):
    print(f"{name:44} {statistics.median(values):.1f} MiB  ({min(values):.1f} to {max(values):.1f}, "
          f"{len(values)} values)", flush=True)


def main():
    wanted = JDKS or [17, jdks()[-1].release]
    daemon = Daemon()
    above = []
    for jdk in jdks():
        if jdk.release not in wanted:
            continue
        for name, program in PROGRAMS.items():
            if ONLY and name not in ONLY:
                continue
            found = growths(daemon, jdk, program)
            label = f"{name}.jdk{jdk.release}.memory_growth"
            beyond = [mine - beside for mine, beside in found]
            row(label, beyond)
            row(f"{label}_beside", [beside for _, beside in found])
            if statistics.median(beyond) > LIMIT_MIB:
                above.append(label)
    daemon.stop()
    print(f"above {LIMIT_MIB} MiB: {', '.join(above) or 'none'}")
    sys.exit(1 if above else 0)


main()
