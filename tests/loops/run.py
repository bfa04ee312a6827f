"""Programs whose loops are known, in windows of kind loops: prints for each the type, the results for each turn and the turns of
an instance with their intervals, the shares of what is done again, verdict and advice, and what of it is right. Exits with 1
when a type, a verdict or such a share is wrong, or fewer than 90% of the intervals hold the truth.

  LOOPS_ONLY      comma-separated programs or groups: constructed, libraries, rates, repeats (default: all)
  LOOPS_SECONDS   of each window (default 30)      LOOPS_AT_ONCE   windows at the same time (default 2)
  LOOPS_TIMES     windows of each program (default 1); of several it is told how many are right
  LOOPS_JDKS      comma-separated releases (default 17 and the newest)
  LOOPS_GCS       comma-separated collectors (default G1)
  LOOPS_OPTIONS   more options of jxperfctl attach
  LOOPS_REPORTS   a directory for the reports
"""
import concurrent.futures
import json
import os
import platform
import sys

from measure import collector_options, compile_programs, judge, measure
from programs import GROUPS, PROGRAMS, UNDECIDED
from support.profile import Daemon
from support.tree import all_jdks

SECONDS = float(os.environ.get("LOOPS_SECONDS", "30"))
AT_ONCE = int(os.environ.get("LOOPS_AT_ONCE", "2"))
TIMES = int(os.environ.get("LOOPS_TIMES", "1"))
OPTIONS = os.environ.get("LOOPS_OPTIONS", "").split()
REPORTS = os.environ.get("LOOPS_REPORTS")

INSIDE_LEAST = 0.9
TURNS_OFF = 0.1
COLUMNS = "%-18s %3s %-8s %5s  %-13s %-34s %-36s %-14s %-14s %-26s %-24s %s"
HEADER = COLUMNS % ("program", "JDK", "GC", "time", "type (true)", "results of a turn (true)", "turns of an instance (true)",
                    "instances", "turns again", "verdict (true)", "advice", "turns, bursts")


def listed(variable, default=""):
    return [name for name in os.environ.get(variable, default).split(",") if name]


def chosen_jdks():
    found = all_jdks()
    releases = listed("LOOPS_JDKS")
    if releases:
        return [j for j in found if str(j.release) in releases]
    return sorted({j.release: j for j in found if j.release == 17 or j is found[-1]}.values(), key=lambda j: j.release)


def chosen_programs():
    only = [n for name in listed("LOOPS_ONLY") for n in GROUPS.get(name, [name])]
    unknown = [n for n in only if n not in PROGRAMS]
    if unknown:
        sys.exit(f"no such program: {', '.join(unknown)}")
    return [PROGRAMS[n] for n in only or PROGRAMS]


def plan():
    """JDK, collector and program of each window."""
    for jdk in chosen_jdks():
        for collector in listed("LOOPS_GCS", "G1"):
            for program in chosen_programs():
                if not program.newest or jdk.release <= program.newest:
                    yield from [(jdk, collector, program)] * TIMES


def keep(report, program, jdk, collector):
    if REPORTS:
        os.makedirs(REPORTS, exist_ok=True)
        path = os.path.join(REPORTS, f"{program.name.replace('/', '-')}-{jdk.release}-{collector}.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(report, f, indent=1)


def window(daemon, jdk, collector, program):
    """Its finding, or what went wrong, as text."""
    try:
        report = measure(daemon, jdk, program, SECONDS, OPTIONS, collector_options(jdk, collector))
    except AssertionError as e:
        return str(e)
    keep(report, program, jdk, collector)
    return judge(program, report)


# ---------------------------------------------------------------- what is printed


def marked(right, verdict=None):
    """!: wrong; ?: more evidence may tell."""
    return "" if right is not False else " ?" if verdict == UNDECIDED else " !"


def number(truth):
    return "" if truth is None else f"({truth:.4g})"


def line(finding, jdk, collector):
    p, row = finding.program, finding.row
    if not row:
        meant = "no loop is meant" if not p.meant else "no row, its time is in calls" if p.calls else "no row of the loop !"
        return COLUMNS % (p.name, jdk.release, collector, "", meant, "", "", "", "", "", "", "")
    return COLUMNS % (
        p.name, jdk.release, collector, f"{row['time_fraction']:.0%}",
        f"{row.get('type')} ({p.types[0] if p.types else ''}){marked(finding.type_right)}",
        f"{finding.rate or row.get('result_rate')} {number(p.rate)}",
        f"{finding.turns or row.get('iterations_per_instance')} {number(p.turns)}",
        finding.instances or "",
        finding.iterations or "",
        f"{row.get('verdict')} ({p.verdicts[0]}){marked(finding.verdict_right, row.get('verdict'))}",
        ",".join(finding.strategies) + marked(finding.advice_right),
        f"{row.get('iterations')}, {row.get('bursts')}",
    )


def judged(findings, attribute):
    """How many are right, and of how many."""
    known = [getattr(f, attribute) for f in findings if getattr(f, attribute) is not None]
    return sum(known), len(known)


def held(findings, attribute):
    known = [getattr(f, attribute) for f in findings if getattr(f, attribute)]
    return sum(i.holds() for i in known), len(known)


def near(finding):
    """Are its turns of an instance within TURNS_OFF of the truth? None where that is not said."""
    found, truth = finding.row and finding.row.get("iterations_per_instance"), finding.program.turns
    return None if found is None or not truth else abs(found / truth - 1) <= TURNS_OFF


def each_program(findings):
    """Of several windows, how many are right."""
    for name in dict.fromkeys(f.program.name for f in findings):
        of = [f for f in findings if f.program.name == name]
        rows = [f for f in of if f.row]
        told = [near(f) for f in of if near(f) is not None]
        middle = sorted(f.rate.found for f in of if f.rate and f.rate.found is not None)
        print(f"{name:18} {len(rows)} of {len(of)} found, results {'%d of %d' % held(of, 'rate')} hold"
              f"{f' (median {middle[len(middle) // 2]:.4g})' if middle else ''}, turns {'%d of %d' % held(of, 'turns')} hold, "
              f"{sum(told)} of {len(told)} within {TURNS_OFF:.0%}, verdicts {'%d of %d' % judged(rows, 'verdict_right')} right, "
              f"{sum(f.row.get('verdict') == UNDECIDED for f in rows)} undecided")


def totals(findings):
    """Prints them; are they good enough?"""
    meant = [f for f in findings if f.program.meant and (f.row or not f.program.calls)]
    rows = sum(f.row is not None for f in meant)
    types, verdicts, advice = (judged(findings, a) for a in ("type_right", "verdict_right", "advice_right"))
    rates, turns = held(findings, "rate"), held(findings, "turns")
    instances, iterations = held(findings, "instances"), held(findings, "iterations")
    undecided = sum(f.row.get("verdict") == UNDECIDED for f in meant if f.row)
    wrong = sum(len(f.wrong) for f in findings)
    print(f"\n{rows} of {len(meant)} loops found; types right {types[0]} of {types[1]}; verdicts right {verdicts[0]} of "
          f"{verdicts[1]}, {undecided} undecided; advice right {advice[0]} of {advice[1]}")
    print(f"intervals that hold: results of a turn {rates[0]} of {rates[1]}, turns of an instance {turns[0]} of {turns[1]}")
    print(f"shares of what is done again that are right: of instances {instances[0]} of {instances[1]}, of turns {iterations[0]} of "
          f"{iterations[1]}")
    print(f"wrong verdicts on loops that are as they should be: {wrong}")
    inside = rates[0] + turns[0] >= INSIDE_LEAST * (rates[1] + turns[1])
    again = instances[0] == instances[1] and iterations[0] == iterations[1]
    return rows == len(meant) and types[0] == types[1] and verdicts[0] == verdicts[1] and inside and again and wrong == 0


def main():
    compile_programs()
    daemon = Daemon()
    print(f"{platform.machine()}, Linux {platform.release()}, {os.cpu_count()} CPUs, windows of {SECONDS:g} s")
    print(HEADER, flush=True)
    findings, failed = [], 0
    planned = list(plan())
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for (jdk, collector, program), asked in zip(planned, [pool.submit(window, daemon, *p) for p in planned]):
            finding = asked.result()
            if isinstance(finding, str):
                print(f"{program.name} {jdk.release}: {finding}", flush=True)
                failed += 1
                continue
            print(line(finding, jdk, collector).rstrip(), flush=True)
            for wrong in finding.wrong:
                print(f"    wrong: {wrong}", flush=True)
            findings.append(finding)
    if TIMES > 1:
        print()
        each_program(findings)
    good = totals(findings)
    sys.exit(0 if good and not failed else 1)


main()
