"""What a report predicts of a fix: the one place that reads reports."""
import dataclasses
import math
import re

# Which access of a kind's pairs could go.
REMOVABLE = {"dead_store": "watch", "silent_store": "trap", "silent_load": "trap"}
Z = 1.96


@dataclasses.dataclass
class Prediction:
    """Shares of the window's CPU time. sort: 'interval', of accesses that go; 'bound', of what is rewritten."""

    sort: str
    value: float
    low: float
    high: float
    untold: float = 0.0  # CPU time of pairs whose gain the report does not tell

    def holds(self, measured, least, most):
        """Of a gain that was measured between least and most: do they overlap, or is the bound not exceeded?"""
        if self.sort == "bound":
            return min(measured, least) <= self.high
        return least <= self.high and most >= self.low


def _name(frame):
    return f"{frame['class']}.{frame['method']}"


def _matches(name, patterns):
    return any(re.fullmatch(p, name) for p in patterns)


def _of_accesses(report, fix):
    """Rows of all kinds; at one access the largest one, so that nothing counts twice."""
    at, untold = {}, 0.0
    for kind in report["inefficiency"]:
        if kind["kind"] not in fix.kinds:
            continue
        sums = {}
        for pair in kind["pairs"]:
            frames = pair[REMOVABLE[kind["kind"]]]["frames"]
            if not frames or not _matches(_name(frames[0]), fix.accesses):
                continue
            if pair["gain_share"] is None:
                untold += pair["cpu_share"] or 0.0
                continue
            low, high = pair["gain_share_ci95"]
            share, squares = sums.get(tuple(_name(f) for f in frames), (0.0, 0.0))
            sums[tuple(_name(f) for f in frames)] = (share + pair["gain_share"], squares + ((high - low) / 2) ** 2)
        for key, found in sums.items():
            at[key] = max(at.get(key, (0.0, 0.0)), found)
    value = sum(share for share, _ in at.values())
    half = math.sqrt(sum(squares for _, squares in at.values()))
    return Prediction("interval", value, max(0.0, value - half), value + half, untold)


def _of_methods(report, fix):
    """CPU time of contexts that pass through what is rewritten."""
    cpu = report["cpu"]
    ticks = passing = 0
    share = 0.0
    for context in cpu["contexts"]:
        ticks += context["samples"]
        if any(_matches(_name(f), fix.rewritten) for f in context["frames"]):
            passing += context["samples"]
            share += context["fraction"]
    part = passing / ticks if ticks else 0.0
    half = share / part * Z * math.sqrt(part * (1 - part) / ticks) if passing else 3 / max(ticks, 1)
    return Prediction("bound", share, max(0.0, share - half), share + half)


def predicted(report, fix):
    return _of_accesses(report, fix) if fix.accesses else _of_methods(report, fix)


def findings(text):
    """What comes first in a report as text, in its order: each with all of its lines."""
    found = []
    for line in text.partition("\n\n")[0].splitlines():
        if re.match(r"\d+\. ", line):
            found.append(line)
        elif found and line.startswith("   "):
            found[-1] += "\n" + line
    return found


def rank(text, fix):
    """Of the problem among what comes first, from 1; None where it is not there."""
    return next((i for i, f in enumerate(findings(text), 1) if re.search(fix.finding, f)), None)


def difference(text, fix):
    """The headline of diff, and the rank of the first entry that names the problem."""
    entries = re.split(r"(?m)^#\d+ ", text)
    return text.splitlines()[0] if text else "", next((i for i, e in enumerate(entries[1:], 1) if re.search(fix.finding, e)), None)
