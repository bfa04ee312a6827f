#!/usr/bin/env python3
"""jxperfctl subsume: profiles that other programs wrote, without a daemon.

Flight recordings are made by JVMs of every JDK here, and held against what the JDK's own `jfr print` says of them.
"""
# Starts early: it takes long (it records).
import collections
import gzip
import json
import os
import re
import subprocess

from lib import BUILD, HANG_S, add_test, jdks, make_directory, need_root, note, run, skip, test
from support.profile import classes
from support.tree import TREE, bring_workloads, homes

CLIENT = os.path.join(BUILD, "bin/jxperfctl")
STACKS = os.path.join(BUILD, "tests/stacks")
RECORDED_S = "3"
# A machine with much else to do leaves a recording few.
LEAST_SAMPLES = 20
# Frames that the workload's stacks have at most, and some more.
DEEPEST = 150
# More than a recording's stacks are deep.
DEPTH = "2048"

HERE = make_directory()


def subsume(*arguments, stdin=None):
    return subprocess.run([CLIENT, "--socket", "/nonexistent/socket", "subsume", *arguments], input=stdin,
                          capture_output=True, timeout=HANG_S, check=False)


def report(*arguments, stdin=None):
    result = subsume(*arguments, "--json", stdin=stdin)
    assert result.returncode == 0 and result.stderr == b"", result
    return json.loads(result.stdout)["subsuming"]


def write(name, content):
    path = os.path.join(HERE, name)
    with open(path, "wb") as f:
        f.write(content)
    return path


# ---------------------------------------------------------------- recordings


def normalised(name):
    """Without the numbers that a JVM gives hidden classes."""
    name = re.sub(r"[/+.]0x[0-9a-f]{8,}|/\d+", "", name)
    name = re.sub(r"\$\$Lambda\$\d+", "$$Lambda", name)
    return re.sub(r"(Generated(?:Method|Constructor)Accessor)\d+", r"\1", name)


def label(frame):
    method = frame["method"]
    name = normalised(method["type"]["name"]).replace("/", ".") + "." + method["name"]
    return name + method["descriptor"][:method["descriptor"].index(")") + 1]


def printed(recording):
    """What the newest JDK here reads: stacks, root first, with how many samples; and those that are cut."""
    reader = next(os.path.join(j.home, "bin/jfr") for j in reversed(jdks())
                  if os.access(os.path.join(j.home, "bin/jfr"), os.X_OK))
    text = subprocess.run([reader, "print", "--json", "--stack-depth", DEPTH, "--events", "jdk.ExecutionSample", recording],
                          capture_output=True, timeout=HANG_S, check=True).stdout
    stacks, cut = collections.Counter(), 0
    for event in json.loads(text)["recording"]["events"]:
        trace = event["values"]["stackTrace"]
        if trace is None or trace["truncated"] or not trace["frames"]:
            cut += 1
        else:
            stacks[";".join(label(frame) for frame in reversed(trace["frames"]))] += 1
    return stacks, cut


def read(recording):
    """The same by our reader."""
    lines = subprocess.run([STACKS, recording], capture_output=True, text=True, timeout=HANG_S, check=True).stdout.splitlines()
    samples, cut = map(int, lines[0].split())
    stacks = collections.Counter()
    for line in lines[1:]:
        stack, _, count = line.rpartition(" ")
        stacks[stack] += int(count)
    assert stacks.total() == samples, (stacks.total(), samples)
    return stacks, cut


def tops(stacks):
    found = collections.Counter()
    for stack, count in stacks.items():
        found[stack.rpartition(";")[2]] += count
    return found


def hold_against_the_jdk(recording, depth):
    (ours, our_cut), (theirs, their_cut) = read(recording), printed(recording)
    with open(recording, "rb") as f:
        chunks = f.read().count(b"FLR\0\0\2")
    note(f"{ours.total()} samples, {our_cut} cut, {len(ours)} stacks, {chunks} chunks")
    assert (ours.total(), our_cut) == (theirs.total(), their_cut), (ours.total(), our_cut, theirs.total(), their_cut)
    assert tops(ours) == tops(theirs), (tops(ours) - tops(theirs), tops(theirs) - tops(ours))
    assert ours == theirs, (ours - theirs, theirs - ours)
    assert ours.total() >= LEAST_SAMPLES, ours.total()
    assert (our_cut > 0) == (depth < DEEPEST), our_cut
    found = report(recording, "--format", "jfr")
    assert (found["samples"], found["truncated_samples"]) == (ours.total(), our_cut), found
    assert found["by_induced"] and found["unit"] == "samples", found
    # The same as collapsed stacks, whose frames have no semicolons, gives the same list.
    lines = "".join(f"{plain(stack)} {count}\n" for stack, count in sorted(ours.items())).encode()
    again = report("-", stdin=lines)
    assert rows(again) == rows(found), (rows(again), rows(found))


def plain(stack):
    """A descriptor ends in a parenthesis, and what separates frames is behind that."""
    return re.sub(r"\([^)]*\)", lambda found: found.group().replace(";", ","), stack)


def rows(found):
    return sorted((r["class"], r["method"].partition("(")[0], r["induced"]) for r in found["by_induced"])


def recording_options(path, depth):
    # Small chunks, so that there are several.
    return [f"-XX:FlightRecorderOptions=stackdepth={depth},maxchunksize=1M", "-Xmx128m",
            f"-XX:StartFlightRecording=filename={path},settings=profile"]


def of_installed(jdk, depth):
    path = os.path.join(HERE, f"{jdk.release}-{depth}.jfr")
    environment = {k: v for k, v in os.environ.items() if "JAVA" not in k}
    subprocess.run([jdk.java, *recording_options(path, depth), "-cp", classes(), "DeepCalls", RECORDED_S],
                   env=environment, capture_output=True, timeout=HANG_S, check=True)
    hold_against_the_jdk(path, depth)


def of_contained(home, release, depth):
    """In the file system that the JDK was unpacked to, with a /tmp of its own."""
    need_root()
    bring_workloads()
    path = os.path.join(HERE, f"{release}-{depth}.jfr")
    inside = os.path.join(home[len(TREE):], "bin/java")
    script = f'mount -t tmpfs none "{TREE}/tmp" && mount -t proc proc "{TREE}/proc" && ' \
        f'chroot "{TREE}" "$@" >&2 && cat "{TREE}/tmp/it.jfr"'
    with open(path, "wb") as out:
        subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", inside,
                        *recording_options("/tmp/it.jfr", depth), "-cp", "/workloads", "DeepCalls", RECORDED_S],
                       stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL, timeout=HANG_S, check=True)
    hold_against_the_jdk(path, depth)


def register():
    """Deep enough for all stacks, and cutting many."""
    for depth in (256, 64):
        name = f"a recording is what its JDK says, up to {depth} frames"
        found = set()
        for jdk in jdks():
            found.add(jdk.release)
            add_test(f"{name} ({jdk})", lambda jdk=jdk, depth=depth: of_installed(jdk, depth))
        for release in (11, 21):
            home = homes().get(release)
            if release in found:
                continue
            if home:
                add_test(f"{name} (JDK {release})", lambda h=home, r=release, d=depth: of_contained(h, r, d))
            else:
                add_test(f"{name} (JDK {release})", lambda: skip("tests/jdks/fetch could not unpack it"))


register()


def record(jdk, name, settings):
    path = os.path.join(HERE, name)
    environment = {k: v for k, v in os.environ.items() if "JAVA" not in k}
    subprocess.run([jdk.java, "-Xmx128m", f"-XX:StartFlightRecording:filename={path},{settings}", "-cp", classes(), "DeepCalls",
                    RECORDED_S], env=environment, capture_output=True, timeout=HANG_S, check=True)
    return path


@test
def of_a_recording_that_is_cut_what_was_flushed_is_read():
    path = record(jdks()[-1], "whole.jfr", "settings=profile")
    (whole, _), size = read(path), os.path.getsize(path)
    os.truncate(path, size - 100)
    cut, _ = read(path)
    note(f"{whole.total()} samples, and {cut.total()} without the last 100 bytes")
    assert 0 < cut.total() <= whole.total() and not set(cut) - set(whole), (cut.total(), whole.total())
    result = subsume(path)
    assert result.returncode == 0 and b"cannot be read (" in result.stderr and result.stderr.count(b"\n") == 1, result


@test
def a_recording_of_another_sampler_is_taken_and_said():
    if jdks()[-1].release < 25:
        skip("jdk.CPUTimeSample is of JDK 25")
    path = record(jdks()[-1], "cpu.jfr", "jdk.CPUTimeSample#enabled=true,jdk.CPUTimeSample#throttle=10ms,"
                  "jdk.ExecutionSample#enabled=false,jdk.NativeMethodSample#enabled=false")
    result = subsume(path, "--json")
    found = json.loads(result.stdout)["subsuming"]
    assert found["samples"] > 0 and found["unit"] == "samples", found
    assert "jdk.CPUTimeSample is taken (--sample-type for another)" in found["remark"], found["remark"]
    assert found["remark"] in result.stderr.decode(), result.stderr
    allocations = json.loads(subsume(path, "--json", "--sample-type", "jdk.ObjectAllocationSample").stdout)["subsuming"]
    assert (allocations["unit"], allocations["samples"]) == ("bytes", 0) and allocations["total"] > 0, allocations
    assert allocations["by_induced"][0]["induced_ci95"] is None, allocations["by_induced"][0]


# ---------------------------------------------------------------- the command


# main calls a chain of methods, at whose end all time is spent; b is also near main.
CHAIN = "main;a;b;c;d;e;f;g;h;i;work"


@test
def collapsed_stacks_are_taken_as_they_look():
    found = report(write("chain", f"{CHAIN} 90\nmain;a 10\n".encode()))
    assert (found["samples"], found["total"], found["nodes"], found["methods"]) == (100, 100, 12, 12), found


@test
def bounds_and_rows_can_be_chosen():
    path = write("chain", f"{CHAIN} 90\nmain;a 10\n".encode())
    few, many = report(path, "--height", "40"), report(path, "--height", "1", "--distance", "0", "--top", "3")
    assert few["bounds"] == {"height": 40, "distance": 4} and few["subsuming_methods"] < many["subsuming_methods"]
    assert len(many["by_induced"]) <= 3


@test
def the_reduced_tree_is_collapsed_stacks():
    path = write("chain", f"{CHAIN} 90\nmain;a 10\n".encode())
    result = subsume(path, "--output-format", "collapsed", "--height", "1", "--distance", "0")
    assert result.returncode == 0, result
    lines = [line.rpartition(b" ") for line in result.stdout.splitlines()]
    assert sum(int(count) for _, _, count in lines) == 100, result.stdout
    out = os.path.join(HERE, "out")
    assert subsume(path, "-o", out).stdout == b""
    with open(out, encoding="utf-8") as f:
        assert f.read().startswith("Subsuming methods"), out


@test
def files_that_cannot_be_profiles_end_in_one_line():
    bad = {
        "empty": (b"", "it is empty"),
        "text": (b"a;b 1\nno count\nnone\n", "most lines, 2 of 3, are no stacks with a count (the first: line 2)"),
        "binary": (bytes(range(64)), "at byte 0: neither collapsed stacks"),
        "cut.jfr": (b"FLR\0\0\2\0\1", "at byte 0: a chunk's header is cut off: 8 bytes"),
        "cut.gz": (gzip.compress(b"\x32\x04name" * 99)[:20], "the compressed data end too early"),
        "name": (b"a" * (1 << 20) + b" 1\n", "no stack in it has a cost"),
        "nothing": (b"a;b 0\n", "no stack in it has a cost"),
    }
    for name, (content, why) in bad.items():
        result = subsume(write(name, content))
        error = result.stderr.decode()
        assert result.returncode == 1 and result.stdout == b"" and error.count("\n") == 1, (name, result)
        assert name in error and why in error, error
    result = subsume("/nonexistent/profile")
    assert result.returncode == 1 and b"No such file" in result.stderr, result


@test
def wrong_usage_is_told_from_bad_files():
    path = write("chain", f"{CHAIN} 90\n".encode())
    for arguments in ([], [path, "--format", "perf"], [path, "--output-format", "pprof"], [path, "--height", "-1"],
                      [path, "--distance", "33"], [path, "--top", "0"], [path, "--nonsense"]):
        result = subsume(*arguments)
        assert result.returncode == 2 and result.stderr.count(b"\n") == 1, (arguments, result)


@test
def a_bomb_is_given_up():
    """A quarter of a gibibyte of zeros in a file of some 260 KB: no profile, and little memory."""
    bomb = write("bomb", gzip.compress(b"\x32\x80\x80\x80\x01" + bytes(1 << 28), 9))
    if "asan" in BUILD:
        skip("AddressSanitizer takes the address space")
    result = subprocess.run(["bash", "-c", 'ulimit -v 600000; exec "$@"', "bash", CLIENT, "subsume", bomb],
                            capture_output=True, timeout=HANG_S, check=False)
    assert result.returncode == 1 and result.stderr.count(b"\n") == 1, result


run()
