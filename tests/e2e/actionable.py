"""What a report leads with can be acted on: programs of which it is plain what that is."""
# Takes two places: its windows keep both processors busy.
# Estimates: which pair of few samples comes first.
from lib import add_test, jdks, note, run, skip
from support.profile import Windows, Workload, assert_quality, succeeded

CPU_S = 4
FIRST_SCREEN = 40

VIRTUAL_SINCE = 21
# What a virtual thread's stack has below its own code.
SCAFFOLDING = ("java.util.concurrent.ForkJoin", "java.lang.VirtualThread", "jdk.internal.vm.Continuation")


def measure(daemon, jdk, program, *options):
    """The report as JSON, and as text."""
    jvm = Workload(jdk, program, "-Xmx256m")
    try:
        report = daemon.attach(jvm.pid, *options, cpu_s=CPU_S)
        return report, succeeded(daemon.ctl("report", str(report["window"]["id"])))
    finally:
        jvm.stop()


def first_screen(text):
    return "\n".join(text.splitlines()[:FIRST_SCREEN])


def rows_of_classes(report):
    """What a failed assertion shows."""
    return [{k: row[k] for k in ("class", "fraction", "fraction_ci95", "samples", "older_fraction")}
            for row in report["classes"][:5]]


# ---------------------------------------------------------------- objects


def leads_with_what_is_old(report, text):
    """An array made at the start gets the heap's CPU time: no allocation that a window could see."""
    first = report["classes"][0]
    low, high = first["fraction_ci95"]
    note(f"{first['class']} {first['fraction']:.3f} [{low:.3f}, {high:.3f}], older {first['older_fraction']:.3f}")
    assert first["class"] == "long[]", rows_of_classes(report)
    assert first["fraction"] > 0.9, rows_of_classes(report)
    assert first["older_fraction"] > 0.95, rows_of_classes(report)
    field = first["fields"][0]
    assert field["kind"] == "element" and field["accesses"][0]["frames"][0]["method"] == "sum", field
    assert "long[]" in first_screen(text), first_screen(text)


def is_sure_of_what_grows(report, text):
    """Arrays of floats that are made again and again: more than nine tenths of all accesses, plus or minus 8 points."""
    row = next(row for row in report["classes"] if row["class"] == "float[]")
    low, high = row["fraction_ci95"]
    note(f"float[] {row['fraction']:.3f} [{low:.3f}, {high:.3f}] of {row['samples']} samples")
    assert row["fraction"] > 0.9, rows_of_classes(report)
    assert high - low <= 0.16, rows_of_classes(report)
    assert report["classes"][0] is row, rows_of_classes(report)
    assert "float[]" in first_screen(text), first_screen(text)


# An interval of 95%, half as wide again: 99.7%.
WIDER = 1.5


def says_where_nodes_come_from(report, text):
    """Three of four nodes are made in one method, whether or not any access met one that was tracked; and no site of
    which nothing is known is called one where little could be gained."""
    row = report["classes"][0]
    origin = row["origin"]
    shares = {site["alloc_frames"][0]["method"]: site for site in origin["sites"]}
    note(f"{row['class']} {row['fraction']:.3f}, {row['tracked_samples']} of {row['samples']} accesses met a tracked one; "
         f"{origin['basis']} from {origin['alloc_samples']} allocations: "
         + ", ".join(f"{m} {s['share']:.3f} {s['share_ci95']}" for m, s in shares.items()))
    assert row["class"] == "NodeOrigins$Node", rows_of_classes(report)
    assert report["objects_summary"]["min_size"] == 0, report["objects_summary"]
    assert origin["basis"] in ("inferred", "tracked"), origin
    assert ("assumption" in origin) == (origin["basis"] == "inferred"), origin
    for method, truth in (("makeMost", 0.75), ("makeSome", 0.25)):
        if method == "makeSome" and method not in shares:
            continue  # Few allocations were sampled, none of them there; the other's share is all, and tells as much.
        share, (low, high) = shares[method]["share"], shares[method]["share_ci95"]
        assert low <= share <= high, shares
        assert share - WIDER * (share - low) <= truth <= share + WIDER * (high - share), (method, share, low, high)
    if origin["basis"] == "inferred":
        assert "it is assumed that" in text and "inferred from" in text, text
    for line in text.split("little to gain from faster access\n")[1:]:
        for site in line.split("\n\n")[0].split("-----")[0].splitlines()[1:]:
            assert float(site.split(" to ")[1].split("%")[0]) < 1, site


# ---------------------------------------------------------------- pairs


def leads_with_no_spill(report, text):
    """Iterators' fields before a register that the compiler had no room for."""
    for kind in report["inefficiency"]:
        rows = kind["by_location"]
        note(f"{kind['kind']}: " + ", ".join(
            f"{r['location'].get('class')}.{r['location'].get('field')} {r['location']['kind']} {r['cpu_share']:.3f}" for r in rows[:3]))
        if any(r["region"] == "heap" for r in rows):
            assert rows[0]["location"]["kind"] not in ("spill", "stack"), rows[:3]
        if any(p["region"] == "heap" for p in kind["pairs"]):
            assert kind["pairs"][0]["region"] == "heap", kind["pairs"][0]
    opening = text.split("\n\n")[0] + "\n".join(text.splitlines()[:8])
    assert "spill" not in opening, opening


def adds_up_virtual_threads(report, text):
    """One line is one row, whatever carries the thread."""
    kind = next(k for k in report["inefficiency"] if k["kind"] == "silent_load")
    lines = [(leaf(row["watch"]), leaf(row["trap"])) for row in kind["by_lines"]]
    note(f"{len(kind['pairs'])} pairs of paths, {len(lines)} of lines: {lines[:3]}")
    assert len(set(lines)) == len(lines), lines
    assert lines[0][0][:2] == ("VirtualSum", "sum"), lines[:3]
    assert not any(name in first_screen(text) for name in SCAFFOLDING), first_screen(text)


def leaf(access):
    """Class, method and line of an access in a row."""
    frame = access["frames"][0] if "frames" in access else access
    return frame["class"], frame["method"], frame["line"]


# ---------------------------------------------------------------- plan

PROGRAMS = [
    ("what is older than the window leads", "OldArray", leads_with_what_is_old, ["--kinds", "objects"]),
    ("a class that is all of the heap's accesses is known to be", "GrowthArrays", is_sure_of_what_grows, ["--kinds", "objects"]),
    ("a class says where its objects come from", "NodeOrigins", says_where_nodes_come_from, ["--kinds", "objects"]),
    ("spills do not come first", "SetWalk", leads_with_no_spill, ["--kinds", "dead-store,silent-store,silent-load"]),
    ("lines of virtual threads are one row", "VirtualSum", adds_up_virtual_threads, ["--kinds", "silent-load"]),
]
# What is spilled is the compiler's choice. How rows are ranked is not the JDK's: the others run on the newest, and that classes and
# fields of JDK 17 are read right is for places.py and objects.py.
ON_EACH = ("SetWalk",)


def judge(judgement, result):
    report, text = result.result()
    assert_quality(report, 0)
    judgement(report, text)


def main():
    windows = Windows(measure)
    every = jdks()
    found = [j for j in every if j.release == 17 or j is every[-1]]
    for sentence, program, judgement, options in PROGRAMS:
        for jdk in found:
            if jdk is not every[-1] and program not in ON_EACH or program == "VirtualSum" and jdk.release < VIRTUAL_SINCE:
                continue
            result = windows.ask(jdk, program, *options)
            add_test(f"{sentence} ({program}, {jdk})", lambda j=judgement, r=result: judge(j, r))
    if found[-1].release < VIRTUAL_SINCE:
        add_test("lines of virtual threads are one row", lambda: skip(f"no JDK {VIRTUAL_SINCE} or newer found"))
    run()


main()
