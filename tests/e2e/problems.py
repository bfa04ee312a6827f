"""Programs that do one thing in vain, of each kind that people know: the first problem of a report is that, with its method,
the first of its fields and its caller; a walk in which nothing is in vain is none, and neither are objects that are kept."""
# Takes two places: its windows keep both processors busy.
# Estimates: shares of CPU time.
from lib import add_test, jdks, note, run
from support.profile import Windows, Workload

CPU_S = 3
BUDGET = "10%"
PROGRAM = "Problems"

# What its main loop spends there: nearly all of its time, in all that these methods call.
LEAST_INCLUSIVE = 0.8

# What is done in vain: its kind, the methods that may be told as doing it, what they touch, and whose doing it is.
KNOWN = {
    "copied": (("copyDeclaration",), "Problems$Declaration", "copied"),
    "cleared": (("cleared", "fill", "fillNumbers"), "int[]", None),
    "rewritten": (("markAll",), "int[]", "rewritten"),
    "searched": (("findNumber",), "int[]", "searched"),
    "bookkeeping": (("bookkeeping", "next"), "Problems$Buffer", None),
    "scaffolding": (("next", "hasNext", "scaffolding"), None, None),
    "repeated": (("parse",), "byte[]", "repeated"),
    "grown": (("grown", "growList", "copyOf"), "long[]", None),
    "allocated": (("allocated",), None, None),
}
# Where C2 keeps all but one step in registers, depending on the JDK.
INLINED = ("scaffolding",)
# By how much the part that is in vain may differ from all of it.
WHOLE = {"copied": 0.05, "rewritten": 0.1, "searched": 0.1, "repeated": 0.05}


def measure(daemon, jdk, which):
    jvm = Workload(jdk, PROGRAM, arguments=(which,))
    try:
        return daemon.attach(jvm.pid, "--budget", BUDGET, cpu_s=CPU_S)
    finally:
        jvm.stop()


def the_first_problem_is_what_the_program_does(which, report):
    for problem in report["problems"]:
        note(f'{problem["kind"]}: {problem["sentence"]}; {problem["saved_share"]}, {problem["gain_share"]}')
    methods, touched, caller = KNOWN[which]
    first = report["problems"][0]
    assert first["kind"] == which, first
    assert first["operation"]["method"] in methods, first
    assert touched is None or touched in [place["class"] for place in first["places"]], first
    assert caller is None or (first["caller"]["method"], first["caller_fraction"] > 0.9) == (caller, True), first
    assert first["inclusive_share"] >= LEAST_INCLUSIVE or which in INLINED, first
    low, high = first["saved_share_ci95"]
    assert 0 < low <= first["saved_share"] <= high <= 1, first
    least, most = first["saved_bounds"]
    assert 0 <= least <= low and first["saved_share"] <= most <= 1, first
    if which in WHOLE:
        assert first["fraction"] >= 1 - WHOLE[which], first


def all_that_is_allocated_is_told(report):
    what = report["problems"][0]["allocated"]
    note(f'{what["alloc_samples"]} allocations, {what["objects_per_s"]:.3g} objects a second, {what["garbage_fraction"]:.0%} garbage')
    assert what["fraction"] > 0.9 and what["fraction_ci95"][1] > 0.95, what
    assert what["classes"][0]["class"] == "java.lang.Long" and what["classes"][0]["fraction"] > 0.9, what
    assert what["garbage_fraction"] > 0.5 and what["objects_per_s"] > 1e6, what


def what_is_kept_is_not_in_vain(report):
    kept = [site for site in report["objects"] if site["class"] == "long[]" and site["alloc_frames"] and site["alloc_frames"][0]["method"] == "kept"]
    assert sum(site["alloc_samples"] for site in kept) > 0, report["objects"]
    assert not [p for p in report["problems"] if p["kind"] == "allocated"], report["problems"]


def each_is_there_once(report):
    said = [(p["operation"]["class"], p["operation"]["method"]) for p in report["problems"]]
    assert len(said) == len(set(said)), said


def nothing_is_in_vain(report):
    silent = next(kind for kind in report["inefficiency"] if kind["kind"] == "silent_load")
    note(f'{silent["pairs_total"] if "pairs_total" in silent else len(silent["pairs"])} pairs of contexts')
    assert silent["fraction"] > 0.5, silent["fraction"]
    walks = [p for p in report["problems"] if p["operation"] == {"class": "Problems$Tree", "method": "has"}]
    assert not walks, walks


def main():
    windows = Windows(measure)
    jdk = jdks()[-1]
    for which in KNOWN:
        report = windows.ask(jdk, which)
        add_test(f"{which} ({jdk})", lambda w=which, r=report: (
            the_first_problem_is_what_the_program_does(w, r.result()), each_is_there_once(r.result())))
        if which == "allocated":
            add_test(f"objects ({jdk})", lambda r=report: all_that_is_allocated_is_told(r.result()))
    report = windows.ask(jdk, "kept")
    add_test(f"objects that are kept ({jdk})", lambda r=report: what_is_kept_is_not_in_vain(r.result()))
    report = windows.ask(jdk, "walk")
    add_test(f"a walk ({jdk})", lambda r=report: nothing_is_in_vain(r.result()))
    run()


main()
