"""One program of the truth suite, measured: its window, its truth over the window, and how the two compare."""
import dataclasses
import datetime
import glob
import math
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
from lib import BUILD, Process, jdks  # noqa: E402  pylint: disable=wrong-import-position
from programs import OPTIONS, SHAPES, SHARE_KNOWN  # noqa: E402  pylint: disable=wrong-import-position
from support.profile import OPTION_OF, report_of  # noqa: E402  pylint: disable=wrong-import-position

# The compiler whose code is measured → options of the JVM.
COMPILERS = {"C2": [], "C1": ["-XX:TieredStopAtLevel=1"]}

CLASSES = os.path.join(BUILD, "truth")

# The type of the first access of each kind's pairs.
FIRST_ACCESS = {"dead_store": "stores", "silent_store": "stores", "silent_load": "loads"}

_PHASE = re.compile(
    r"phase (?P<name>.+) at (?P<at>\d+) cpu (?P<cpu>\d+) stores (?P<stores>\d+) dead (?P<dead_store>\S+) "
    r"silent_store (?P<silent_store>\S+) loads (?P<loads>\d+) silent_load (?P<silent_load>\S+) width (?P<width>\d+)"
)


# ---------------------------------------------------------------- programs


def compile_programs():
    sources = glob.glob(os.path.join(HERE, "*.java"))
    stamp = os.path.join(CLASSES, ".built")
    if os.path.exists(stamp) and os.path.getmtime(stamp) >= max(map(os.path.getmtime, sources)):
        return
    os.makedirs(CLASSES, exist_ok=True)
    javac = next(j.javac for j in jdks() if os.access(j.javac, os.X_OK))
    subprocess.run([javac, "--release", "11", "-Xlint:-options", "-d", CLASSES, *sources], check=True)
    with open(stamp, "w", encoding="ascii"):
        pass


class Program(Process):
    """A program of the suite that runs compiled code by now."""

    def __init__(self, jdk, name, *options):
        command = [jdk.java, "-Xmx512m", *options, *OPTIONS.get(name, []), "-cp", CLASSES, name]
        super().__init__(command, env={k: v for k, v in os.environ.items() if "JAVA" not in k})
        self.wait_for("up\n")

    def totals(self, start_ns, end_ns):
        """What each phase did between two times of CLOCK_MONOTONIC, to the nearest line printed."""
        lines = {}
        for match in _PHASE.finditer(self.output()):
            lines.setdefault(match["name"], []).append(match)
        return [_difference(_at(found, start_ns), _at(found, end_ns)) for found in lines.values()]


@dataclasses.dataclass
class Phase:
    name: str
    cpu_ns: int
    accesses: dict  # "stores", "loads" → how many
    fraction: dict  # kind → number, or None
    width: int  # of an access, in bytes


def _at(found, when_ns):
    return min(found, key=lambda match: abs(int(match["at"]) - when_ns))


def _difference(first, last):
    def fraction(kind):
        return None if last[kind] == "?" else float(last[kind])

    return Phase(
        last["name"],
        int(last["cpu"]) - int(first["cpu"]),
        {access: int(last[access]) - int(first[access]) for access in ("stores", "loads")},
        {kind: fraction(kind) for kind in FIRST_ACCESS},
        int(last["width"]),
    )


# ---------------------------------------------------------------- truth


@dataclasses.dataclass
class Truth:
    by_time: float
    by_access: float


def truth_of(phases, kind):
    """Of bytes. None where the program does not say."""
    access = FIRST_ACCESS[kind]
    active = [p for p in phases if p.accesses[access] > 0]
    if not active or any(p.fraction[kind] is None for p in active):
        return None
    return Truth(
        _mean((p.fraction[kind], p.width * p.cpu_ns) for p in active),
        _mean((p.fraction[kind], p.width * p.accesses[access]) for p in active),
    )


def share_of(phases, kind, quality):
    """The part of the program's own CPU time that is spent at wasteful accesses of a kind: a phase without accesses of the type adds
    nothing to it, nor does what threads use that are not sampled. None where the program does not say."""
    access = FIRST_ACCESS[kind]
    if not truth_of(phases, kind):
        return None
    taken_ns = quality["overhead_ns"] - quality["session_ns"] - quality["events_ns"]
    sampled = min(1, (quality["tick_ns"] - taken_ns) / 1e9 / (quality["target_cpu_s"] - quality["overhead_cpu_s"]))
    return sampled * _mean((p.fraction[kind] if p.accesses[access] > 0 else 0.0, p.cpu_ns) for p in phases)


def _mean(weighted):
    weighted = list(weighted)
    return sum(f * w for f, w in weighted) / sum(w for _, w in weighted)


# ---------------------------------------------------------------- measurement


class Estimate:
    """What has measured, true, low and high."""

    @property
    def inside(self):
        return self.low <= self.true <= self.high

    @property
    def error(self):
        """In percentage points."""
        return 100 * abs(self.measured - self.true)


@dataclasses.dataclass
class Share(Estimate):
    """Of CPU time, at wasteful accesses."""

    measured: float
    true: float
    low: float
    high: float


@dataclasses.dataclass
class Row(Estimate):
    program: str
    kind: str
    jdk: int
    compiler: str
    collector: str
    sampler: str
    measured: float
    truth: Truth
    low: float
    high: float
    pairs: int
    share: Share  # or None where it is not known

    @property
    def true(self):
        """That of the population the sampler draws from."""
        return self.truth.by_time if self.sampler == "clock" else self.truth.by_access


HEADER = f"{'program':<16}{'kind':<13}{'jdk':>4} {'by':<3}{'gc':<11}{'measured':>9}{'true':>8}{'by access':>10}" + (
    f"{'95% interval':>18}{'inside':>7}{'error':>7}{'pairs':>7}  {'CPU time':>8}{'true':>8}{'95% interval':>18}{'inside':>7}"
)


def line(row):
    interval = f"[{100 * row.low:.1f}, {100 * row.high:.1f}]"
    return (
        f"{row.program:<16}{row.kind:<13}{row.jdk:>4} {row.compiler:<3}{row.collector:<11}{100 * row.measured:>8.2f}%"
        f"{100 * row.true:>7.2f}%{100 * row.truth.by_access:>9.2f}%{interval:>18}"
        f"{'yes' if row.inside else 'NO':>7}{row.error:>7.2f}{row.pairs:>7}{_share_words(row.share)}"
    )


def _share_words(share):
    if not share:
        return ""
    interval = f"[{100 * share.low:.1f}, {100 * share.high:.1f}]"
    return f"{100 * share.measured:>9.2f}%{100 * share.true:>7.2f}%{interval:>18}{'yes' if share.inside else 'NO':>7}"


def has_collector(jdk, collector):
    return jdk.runs_with(OPTION_OF[collector])


def measure(daemon, jdk, collector, name, kinds, seconds, options=(), compiler="C2"):
    """A row for each of the kinds, in order, of one window with these options of jxperfctl, and its report."""
    program = Program(jdk, name, OPTION_OF[collector], *COMPILERS[compiler])
    try:
        report = daemon.attach(program.pid, *options, duration=f"{seconds}s", timeout=seconds + 60)
        phases = _phases(program, [report])
    finally:
        program.stop()
    return [_row(jdk, name, kind, report, phases, compiler) for kind in kinds], report


def _phases(program, reports):
    """What the program did from the first window's start to the last one's end."""
    # So that the totals of the window's end are printed.
    time.sleep(0.5)
    assert program.alive(), program.output()
    return program.totals(_monotonic_ns(reports[0]["window"]["start"]), _monotonic_ns(reports[-1]["window"]["end"]))


def _row(jdk, name, kind, report, phases, compiler="C2"):
    """What the report says of a kind, beside what the phases say."""
    truth = truth_of(phases, kind)
    result = next((i for i in report["inefficiency"] if i["kind"] == kind), None)
    assert truth, f"{name} does not say what its {kind} fraction is"
    # A compiler keeps values of some loops on the stack, which no source says.
    part = next(r for r in result["by_region"] if r["region"] == "heap") if result and name in SHAPES else result
    low, high = part["fraction_ci95"] if part else (0, 1)
    share = None
    if name in SHARE_KNOWN and report["window"]["sampler"] == "clock":
        found, interval = (result["cpu_share"], result["cpu_share_ci95"]) if result else (math.nan, (0, 1))
        share = Share(found, share_of(phases, kind, report["quality"]), *interval)
    return Row(
        name,
        kind,
        jdk.release,
        compiler,
        report["window"]["gc"],
        report["window"]["sampler"],
        part["fraction"] if part else math.nan,
        truth,
        low,
        high,
        result["checked_accesses"] if result else 0,
        share,
    )


# ---------------------------------------------------------------- many windows

WINDOWS = 5


@dataclasses.dataclass
class Merged:
    """Five windows by themselves, merged, and one as long as they are together."""

    short: list
    merged: Row
    long: Row

    @property
    def agree(self):
        """Is the difference of the two fractions what two such intervals allow?"""
        half = [(r.high - r.low) / 2 for r in (self.merged, self.long)]
        return abs(self.merged.measured - self.long.measured) <= math.hypot(*half)

    def line(self):
        """For a table."""

        def words(row):
            return f"{100 * row.measured:5.1f}% [{100 * row.low:.1f}, {100 * row.high:.1f}] {'' if row.inside else 'NOT '}in"

        return (
            f"{self.merged.program:<13} {self.merged.kind:<12} JDK {self.merged.jdk}: true {100 * self.merged.true:.1f}%, "
            f"merged {words(self.merged)}, long (true {100 * self.long.true:.1f}%) {words(self.long)}, "
            f"{sum(r.inside for r in self.short)} of {len(self.short)} short; {'' if self.agree else 'do NOT '}agree"
        )


def measure_merged(daemon, jdk, name, kind, seconds, options=()):
    """Windows of one JVM, one after the other."""
    program = Program(jdk, name)
    options = ["--kinds", kind.replace("_", "-"), *options]
    try:
        short = [daemon.attach(program.pid, *options, duration=f"{seconds}s") for _ in range(WINDOWS)]
        phases = _phases(program, short)
        long = daemon.attach(program.pid, *options, duration=f"{WINDOWS * seconds}s", timeout=WINDOWS * seconds + 60)
        rows = [_row(jdk, name, kind, r, _phases(program, [r])) for r in [*short, long]]
    finally:
        program.stop()
    merged = _merge(daemon, short)
    assert merged["window"]["merged"]["windows"] == WINDOWS, merged["window"]
    return Merged(rows[:-1], _row(jdk, name, kind, merged, phases), rows[-1])


def _merge(daemon, reports):
    """The report of the windows that began from the first of these to the last, as one. A window of the program on
    another JDK may run at the same time, so times are to the second; nobody else has windows of this one then."""
    times = [datetime.datetime.fromisoformat(r["window"]["start"].replace("Z", "+00:00")) for r in reports]
    since, until = times[0].replace(microsecond=0), times[-1] + datetime.timedelta(seconds=1)
    bounds = [t.astimezone().strftime("%Y-%m-%dT%H:%M:%S") for t in (since, until)]
    answer = daemon.ctl("report", "--app", reports[0]["window"]["app"], "--since", bounds[0], "--until", bounds[1],
                        "--format", "json")
    return report_of(answer)


def _monotonic_ns(text):
    at = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return int(at.timestamp() * 1e9) - (time.time_ns() - time.monotonic_ns())
