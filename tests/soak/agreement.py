"""First screens of ten programs: two windows of each, one after the other. Do their problems agree, and is each of them a problem?

  one      two problems are taken for one where they have the operation in common, or an access, or where one's operation is the
           other's caller and both touch the same
  agree    of the first four problems that a window calls sure the other one's screen has three; of two or three all but one. That
           holds for both. A screen without a sure problem says nothing, and does not agree
  by name  how many operations the first four of both have in common, sure or not
  twice    two of a window's problems are taken for one
  spill    a problem of what lies on a stack, or has no class

Prints the table, and every problem's sentence for somebody to read: whether two are one, or one is a walk, only they can say.

  AGREEMENT_SECONDS   of each window (default 30)       AGREEMENT_ONLY     comma-separated programs
  AGREEMENT_WARM_UP   seconds before the first (default 20)   AGREEMENT_JDK      a release (default 17, else the oldest)
  AGREEMENT_BUDGET    of each window (default 2%)       AGREEMENT_RESULTS  where the JSON goes (default build/agreement/results.json;
                                                        reports lie beside it)
  AGREEMENT_AT_ONCE   programs side by side, each on two processors of its own (default 1), and for how
  AGREEMENT_DEADLINE_S   many seconds at most (default 3600)

Exits with 1 where the windows of a program do not agree.
"""
import itertools
import json
import os
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))
from lib import BUILD, Process, jdks  # noqa: E402
from support import profile  # noqa: E402
from support.parallel import rows_of  # noqa: E402

# Who makes which access is for others to hold against classes (tests/methods).
profile.CHECK_METHODS = False

PROGRAMS = {"Lucene": "LuceneSearch", "PDFBox": "PdfText", "Tomcat": "TomcatPages", "H2": "H2Queries", "Jython": "JythonScript",
            "JRuby": "RubyScript", "Derby": "DerbyQueries", "XSLTC": "XsltTransform", "javac": "JavacCompile", "Batik": "BatikPaint"}
SECONDS = int(os.environ.get("AGREEMENT_SECONDS", "30"))
WARM_UP_S = float(os.environ.get("AGREEMENT_WARM_UP", "20"))
BUDGET = os.environ.get("AGREEMENT_BUDGET", "2%")
ONLY = [n for n in os.environ.get("AGREEMENT_ONLY", "").split(",") if n]
RELEASE = int(os.environ.get("AGREEMENT_JDK", "17"))
RESULTS = os.environ.get("AGREEMENT_RESULTS", os.path.join(BUILD, "agreement/results.json"))
AT_ONCE = int(os.environ.get("AGREEMENT_AT_ONCE", "1"))
DEADLINE_S = float(os.environ.get("AGREEMENT_DEADLINE_S", "3600"))

SCREEN = 5
FIRST = 4
SAME_LEAST = 3


# ---------------------------------------------------------------- problems


def _name(method):
    return f"{method['class']}.{method['method']}" if method else ""


def operation(problem):
    """What tells it from others: where it is, or what it is where it is nowhere in particular."""
    return _name(problem.get("operation")) or problem["kind"]


def _places(problem):
    return {(p.get("class"), p.get("field")) for p in problem.get("places") or () if p.get("class")}


def _lines(problem):
    return {tuple(sorted((problem[side] or {}).items(), key=str)) for side in ("watch", "trap") if problem.get(side)}


def _may_be_one(a, b):
    nested = operation(a) == _name(b.get("caller")) or operation(b) == _name(a.get("caller"))
    return operation(a) == operation(b) or bool(_lines(a) & _lines(b)) or (nested and bool(_places(a) & _places(b)))


def _is_spill(problem):
    places = problem.get("places") or ()
    return bool(places) and not any(p.get("class") for p in places)


def faults(problems):
    """What a program can say of a screen."""
    found = [f"twice: #{a + 1} and #{b + 1}" for a, b in itertools.combinations(range(len(problems)), 2)
             if _may_be_one(problems[a], problems[b])]
    return found + [f"spill: #{i + 1}" for i, p in enumerate(problems) if _is_spill(p)]


def by_name(screens):
    first = [{operation(p) for p in problems[:FIRST]} for problems in screens]
    return len(first[0] & first[1])


def found_again(problems, other):
    """Of a window's first sure problems: how many there are, and how many of them another screen has, each once."""
    first, left = [p for p in problems if p["sure"]][:FIRST], list(other)
    for problem in first:
        again = next((p for p in left if operation(p) == operation(problem)), None) or \
            next((p for p in left if _may_be_one(p, problem)), None)
        if again:
            left.remove(again)
    return len(first), len(other) - len(left)


def same(screens):
    """What each finds again of the other's, and whether that is enough."""
    found = [found_again(screens[0], screens[1]), found_again(screens[1], screens[0])]
    return found, all(again >= (SAME_LEAST if first == FIRST else max(1, first - 1)) for first, again in found)


# ---------------------------------------------------------------- windows


def keep(name, number, report):
    directory = os.path.join(os.path.dirname(RESULTS), "reports")
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, f"{name}-{number}.json"), "w", encoding="utf-8") as f:
        json.dump(report, f, indent=1)


def screens_of(daemon, name, jdk):
    """Of two windows."""
    environment = {k: v for k, v in os.environ.items() if "JAVA" not in k}
    program = Process([jdk.java, "-Xmx1g", "-Djava.awt.headless=true", "-cp", profile.BENCH_CLASS_PATH, PROGRAMS[name]], env=environment)
    try:
        program.wait_for("up\n", 120)
        time.sleep(WARM_UP_S)
        reports = [daemon.attach(program.pid, "--budget", BUDGET, duration=f"{SECONDS}s", timeout=SECONDS + 120) for _ in range(2)]
    finally:
        program.stop()
    for number, report in enumerate(reports, 1):
        keep(name, number, report)
    screens = [report["problems"][:SCREEN] for report in reports]
    again, agree = same(screens)
    wanted = ("traps", "samples", "target_cpu_s", "overhead_fraction")
    return {"program": name, "again": again, "by_name": by_name(screens), "agree": agree, "faults": [faults(s) for s in screens], "screens": screens,
            "quality": [{w: report["quality"][w] for w in wanted} for report in reports]}


# ---------------------------------------------------------------- the table

HEADER = (f"{'program':<8} {'problems':>8} {'sure, found again':>18} {'by name':>7} {'agree':>5} {'pairs':>12} {'CPU s':>11} "
          f"{'overhead %':>11}  what may be none")


def two(form, values):
    return ", ".join(form.format(v) for v in values)


def line(row):
    quality = row["quality"]
    doubtful = "; ".join(f"window {number}: {', '.join(found)}" for number, found in enumerate(row["faults"], 1) if found)
    again = two("{0[1]} of {0[0]}", row["again"])
    return (f"{row['program']:<8} {two('{}', map(len, row['screens'])):>8} {again:>18} {row['by_name']:>7} {'yes' if row['agree'] else 'NO':>5} "
            f"{two('{}', (q['traps'] for q in quality)):>12} {two('{:.1f}', (q['target_cpu_s'] for q in quality)):>11} "
            f"{two('{:.2f}', (100 * q['overhead_fraction'] for q in quality)):>11}  {doubtful or '-'}")


def sentences(row):
    for number, problems in enumerate(row["screens"], 1):
        for rank, problem in enumerate(problems, 1):
            saved = problem.get("saved_share")
            yield (f"{row['program']}, window {number}, #{rank} {problem['kind']}, {'' if problem['sure'] else 'less sure, '}"
                   f"{'-' if saved is None else f'{100 * saved:.1f}%'}: "
                   f"{problem['sentence']}")


def one_by_one(names):
    found = jdks()
    jdk = next((j for j in found if j.release == RELEASE), found[0])
    daemon = profile.Daemon()
    for name in names:
        yield screens_of(daemon, name, jdk)


def main():
    names, rows = ONLY or list(PROGRAMS), []
    print(HEADER, flush=True)
    for row in rows_of("AGREEMENT", names, RESULTS, AT_ONCE, DEADLINE_S) if AT_ONCE > 1 else one_by_one(names):
        rows.append(row)
        print(line(row), flush=True)
        os.makedirs(os.path.dirname(RESULTS), exist_ok=True)
        with open(RESULTS, "w", encoding="utf-8") as f:
            json.dump(rows, f, indent=1)
    for row in rows:
        print("\n".join(sentences(row)))
    agreeing = sum(row["agree"] for row in rows)
    print(f"{agreeing} of {len(names)} programs' windows agree, in {sum(not any(row['faults']) for row in rows)} no problem may be none; {RESULTS}")
    sys.exit(0 if agreeing == len(names) else 1)


main()
