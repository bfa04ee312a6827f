"""What a report predicts of a fix: the one place that reads reports."""
import dataclasses
import math
import re

# Which access of a kind's pairs could go.
REMOVABLE = {"dead_store": "watch", "silent_store": "trap", "silent_load": "trap"}
Z = 1.96


@dataclasses.dataclass
class Prediction:
    """Shares of the CPU time that the program used itself, as the report's are.

    access     what removing the accesses saves, as rows say, with low and high: those that the fix removes, where they are named, or all
               that are made by what is rewritten and what it calls
    named      are they?
    untold     CPU time of those of their pairs whose gain the report does not tell
    own        what the methods that are rewritten take by themselves; inclusive: with all that they call
    bound      what rewriting them could save at most: the upper end of inclusive, with what cannot be charged to methods, the time of
               the collector and of ticks whose context is lost
    """

    named: bool
    access: float = 0.0
    low: float = 0.0
    high: float = 0.0
    untold: float = 0.0
    own: float = 0.0
    inclusive: float = 0.0
    bound: float = 0.0

    def holds(self, least, most):
        """Of a gain that was measured between least and most: where the accesses go, is it theirs; where methods are rewritten, is it
        at least that of their wasteful accesses, and no more than the bound?"""
        return least <= (self.high if self.named else self.bound) and most >= self.low


def _name(frame):
    return f"{frame['class']}.{frame['method']}"


def _matches(name, patterns):
    return any(re.fullmatch(p, name) for p in patterns)


def _goes(frames, fix):
    """Is it an access that the fix removes?"""
    names = [_name(f) for f in frames]
    return _matches(names[0], fix.accesses) if fix.accesses else any(_matches(n, fix.rewritten) for n in names)


def _of_accesses(report, fix, found):
    """Rows of all kinds; at one access the largest one, so that nothing counts twice."""
    at = {}
    for kind in report["inefficiency"]:
        if kind["kind"] not in fix.kinds:
            continue
        sums = {}
        for pair in kind["pairs"]:
            frames = pair[REMOVABLE[kind["kind"]]]["frames"]
            if not frames or not _goes(frames, fix):
                continue
            if pair["gain_share"] is None:
                found.untold += pair["cpu_share"] or 0.0
                continue
            low, high = pair["gain_share_ci95"]
            key = tuple((_name(f), f["bci"]) for f in frames)
            share, squares = sums.get(key, (0.0, 0.0))
            sums[key] = (share + pair["gain_share"], squares + ((high - low) / 2) ** 2)
        for key, gain in sums.items():
            at[key] = max(at.get(key, (0.0, 0.0)), gain)
    found.access = sum(share for share, _ in at.values())
    half = math.sqrt(sum(squares for _, squares in at.values()))
    found.low, found.high = max(0.0, found.access - half), found.access + half


def accesses_of(report, fix):
    """CPU time of the pairs themselves, by kinds the largest sum, with its interval."""
    sums = [(0.0, 0.0)]
    for kind in report["inefficiency"]:
        if kind["kind"] in fix.kinds:
            rows = [p for p in kind["pairs"] if p["cpu_share"] and p[REMOVABLE[kind["kind"]]]["frames"]
                    and _goes(p[REMOVABLE[kind["kind"]]]["frames"], fix)]
            halves = [(p["cpu_share_ci95"][1] - p["cpu_share_ci95"][0]) / 2 for p in rows]
            sums.append((sum(p["cpu_share"] for p in rows), math.sqrt(sum(h * h for h in halves))))
    value, half = max(sums)
    return value, max(0.0, value - half), value + half


def _of_methods(cpu, methods, found):
    """CPU time of contexts that pass through what is rewritten."""
    ticks = passing = 0
    for context in cpu["contexts"]:
        names = [_name(f) for f in context["frames"]]
        ticks += context["samples"]
        if any(_matches(n, methods) for n in names):
            passing += context["samples"]
            found.inclusive += context["fraction"]
            found.own += context["fraction"] if _matches(names[0], methods) else 0.0
    part = passing / ticks if ticks else 0.0
    half = found.inclusive / part * Z * math.sqrt(part * (1 - part) / ticks) if passing else 3 / max(ticks, 1)
    found.bound = found.inclusive + half + (cpu["gc_fraction"] or 0.0) + cpu["lost_fraction"]


def predicted(report, fix):
    found = Prediction(bool(fix.accesses))
    _of_accesses(report, fix, found)
    _of_methods(report["cpu"], fix.rewritten or fix.accesses, found)
    return found


@dataclasses.dataclass
class Problem:
    """What a report says of the problem that a fix is of: its rank, from 1, its sentence, and its shares as those of Prediction; low and high
    are the bounds of what could be saved."""

    rank: int
    sentence: str
    saved: float
    low: float
    high: float
    gain: float
    inclusive: float

    def holds(self, least, most):
        """Of a gain that was measured between least and most: do they overlap with what could be saved?"""
        return least <= self.high and most >= self.low


def _words(problem):
    methods = [f"{m['class']}.{m['method']}" for m in (problem[k] for k in ("operation", "caller", "watch", "trap")) if m]
    return " ".join([problem["sentence"], *methods])


def problem_of(report, fix):
    """The first one that names what the fix is about; None where there is none."""
    for number, problem in enumerate(report["problems"], 1):
        if re.search(fix.finding, _words(problem)) and problem["saved_share"] is not None:
            low, high = problem["saved_bounds"]
            return Problem(number, problem["sentence"], problem["saved_share"], low, high, problem["gain_share"] or 0.0,
                           problem["inclusive_share"])
    return None


def difference(text, fix):
    """The headline of diff, and the rank of the first entry that names the problem."""
    entries = re.split(r"(?m)^#\d+ ", text)
    return text.splitlines()[0] if text else "", next((i for i, e in enumerate(entries[1:], 1) if re.search(fix.finding, e)), None)
