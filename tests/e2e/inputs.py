#!/usr/bin/env python3
"""jxperfctl subsume: files as other people's tools write them (tests/inputs), made from public reports of bugs.

Right values are counts by stack. What is left out is said in one line on standard error, and in the JSON.
"""
import gzip
import json
import os
import subprocess
import time
import unicodedata

from lib import BUILD, HANG_S, ROOT, make_directory, note, run, test

CLIENT = os.path.join(BUILD, "bin/jxperfctl")
STACKS = os.path.join(BUILD, "tests/stacks")
INPUTS = os.path.join(ROOT, "tests/inputs")
HERE = make_directory()


def bytes_of(name):
    with open(os.path.join(INPUTS, name), "rb") as f:
        return f.read()


def subsume(content, *arguments, name="profile", standard_input=False):
    path = os.path.join(HERE, name)
    with open(path, "wb") as f:
        f.write(content)
    return subprocess.run([CLIENT, "--socket", "/nonexistent/socket", "subsume", "-" if standard_input else path, *arguments],
                          input=content if standard_input else None, capture_output=True, timeout=HANG_S, check=False)


def stacks(content, *arguments):
    """The whole tree that it is read as, and the line on standard error."""
    error = subsume(content, *arguments).stderr.decode()
    lines = subprocess.run([STACKS, os.path.join(HERE, "profile")], capture_output=True, text=True, timeout=HANG_S,
                           check=True).stdout.splitlines()[1:]
    found = {stack: float(count) for stack, _, count in (line.rpartition(" ") for line in lines)}
    assert len(found) == len(lines), lines
    return found, error


def own(content, *arguments):
    """Own cost by method, where there are few methods; and the JSON."""
    result = subsume(content, *arguments, "--height", "0", "--distance", "0", "--json", "--top", "1000")
    assert result.returncode == 0, result
    subsuming = json.loads(result.stdout)["subsuming"]
    found = {}
    for row in subsuming["by_induced"]:
        for part in row["pattern"]:
            name = ".".join(x for x in (part["class"], part["method"] + part["descriptor"]) if x)
            found[name] = found.get(name, 0) + part["fraction"] * row["induced"]
    return {name: round(cost, 6) for name, cost in found.items()}, subsuming


def is_read(name, right, *said, arguments=(), unit="samples", sampled=True):
    """For a file and for standard input. Returns what the JSON says."""
    content = bytes_of(name)
    found, subsuming = own(content, *arguments)
    assert found == right, (name, found)
    assert subsuming["unit"] == unit, subsuming["unit"]
    assert (subsuming["by_induced"][0]["induced_ci95"] is not None) == sampled, subsuming["by_induced"][0]
    for standard_input in (False, True):
        result = subsume(content, *arguments, standard_input=standard_input)
        error = result.stderr.decode()
        assert result.returncode == 0 and result.stdout, (name, result)
        assert error.count("\n") == bool(said), (name, error)
        for words in said:
            assert words in error, (name, words, error)
    assert bool(subsuming["left_out"] or subsuming["remark"]) == bool(said), subsuming
    return subsuming


def is_refused(content, *words, arguments=()):
    for standard_input in (False, True):
        result = subsume(content, *arguments, standard_input=standard_input)
        error = result.stderr.decode()
        assert result.returncode in (1, 2) and result.stdout == b"" and error.count("\n") == 1, result
        for word in words:
            assert word in error, (word, error)


CONTROL = {"b": 10, "c": 80, "d": 10}
CUT = "1 line is no stack (line 4)"


# ---------------------------------------------------------------- collapsed stacks


@test
def lines_that_are_no_stacks_are_counted_and_named():
    is_read("folded/04-good.folded", CONTROL)
    for name, line in (("comment", 1), ("comment-number", 1), ("emptystack", 1), ("cutlast", 4), ("shell", 1)):
        found = is_read(f"folded/04-{name}.folded", CONTROL, f"1 line is no stack (line {line})")
        assert [(x["part"], x["count"], x["first"]) for x in found["left_out"]] == [("line", 1, line)], found["left_out"]
    found, said = stacks(b"#a\n#b\n#c\nmain;a 1\nKilled\n[1] 4711\ntotal: 12\nmain;b 2\nmain;c 3\nmain;d\t4\n")
    assert found == {"main;a": 1, "main;b": 2, "main;c": 3, "main;d": 4}, found
    assert "6 lines are no stacks (the first: line 1)" in said, said


@test
def a_file_of_other_lines_is_refused():
    is_refused(b"Hello\nworld\nmain;a 1\n", "most lines, 2 of 3, are no stacks", "line 1")
    is_refused(b"<html>\n<body>12</body>\n", "most lines, 2 of 2")
    is_refused(b"# nothing 12\n", "no line of it is a stack")


@test
def two_counts_a_line_are_a_differential_file():
    diff = bytes_of("folded/01-diff.folded")
    for content in (diff, diff[:-1], diff + b"main;a;d 1", b"# before after\n" + diff, diff + diff):
        is_refused(content, "two counts a line: a differential file", "--column 1", "--column 2")
    assert own(diff, "--column", "1")[0] == {"b": 10, "c": 80}
    assert own(diff, "--column", "2")[0] == {"b": 90, "c": 5}
    assert own(diff, "--column", "last")[0] == {"b 10": 90, "c 80": 5}
    is_refused(diff, "use 1, 2 or last", arguments=("--column", "3"))


@test
def names_that_end_in_numbers_are_names():
    is_read("folded/01-legit.folded", {"worker 12": 5, "worker 13": 7})
    is_read("folded/01-mixed.folded", {"b": 10, "c 80": 5}, "1 of 2 stacks ends in two numbers (the first: line 2)")
    assert own(b"main;worker 12 5\nmain;worker 13 7\n")[0] == {"worker 12": 5, "worker 13": 7}
    legit = bytes_of("folded/01-legit.folded")
    found, said = own(legit.rstrip()[:-2])
    assert found == {"worker 12": 5} and said["left_out"][0]["first"] == 2, (found, said["left_out"])


@test
def fractions_are_read_as_they_are():
    found = is_read("folded/05-frac.folded", {"a": 12.5, "b": 0.25, "c": 1000, "d": 7}, unit="counts", sampled=False)
    assert found["total"] == 1019.75 and found["samples"] == 0, found
    assert stacks(bytes_of("folded/05-frac.folded"))[0] == {"main;a": 12.5, "main;b": 0.25, "main;c": 1000, "main;d": 7}
    assert own(b"a;b 1e3\na;c 2.50e1\n")[1]["samples"] == 1025
    assert stacks(b"a;b 1e-12\na;c 3e-12\n")[0] == {"a;b": 1e-12, "a;c": 3e-12}


@test
def negative_and_huge_counts_are_left_out():
    found, subsuming = own(b"a;b 5\na;c -2\na;d 99999999999999999999\n")
    assert found == {"b": 5} and len(subsuming["left_out"]) == 2, subsuming["left_out"]
    is_refused(b"a;b -5\na;c -2\na;d 1\n", "most counts, 2 of 3, are negative: a difference of two profiles")


@test
def encodings_of_text():
    two = {"b": 10, "c": 80}
    is_read("folded/06-min-bom.folded", two)
    is_read("folded/06-min-utf16.folded", two)
    text = bytes_of("folded/06-min-utf16.folded").decode("utf-16")
    for encoding in ("utf-16-le", "utf-16-be"):
        assert own(text.encode(encoding))[0] == two, encoding
        assert stacks("\ufeff".encode(encoding) + text.encode(encoding))[0] == {"main;a;b": 10, "main;a;c": 80}, encoding
    is_refused(text.encode("utf-32"), "UTF-32: convert it to UTF-8")
    bom = bytes_of("folded/06-min-bom.folded")
    assert stacks(bom + bom)[0] == {"main;a;b": 20, "main;a;c": 160}
    for end in (b"\r\n", b"\r"):
        assert stacks(bytes_of("folded/04-good.folded").replace(b"\n", end))[0] == \
            {"main;a;b": 10, "main;a;c": 80, "main;d": 10}, end


@test
def names_are_shown_as_they_are_and_told_apart():
    both = {"\U00020bb7": 5, "\U00020bb8": 6}
    cesu, plain = bytes_of("folded/07-cesu8.folded"), bytes_of("folded/07-plain-utf8.folded")
    is_read("folded/07-cesu8.folded", both)
    is_read("folded/07-plain-utf8.folded", both)
    assert stacks(cesu + plain)[0] == {f"main;{name}": 2 * cost for name, cost in both.items()}
    # What no terminal shows, or shows somewhere else, is shown as its code.
    hidden = {"a\u202eb": 1, "a\u2066b": 2, "a\u200bb": 3, "ab": 4, "a\U000e0001b": 5, "a\u2028b": 6}
    content = "".join(f"main;{name} {cost}\n" for name, cost in hidden.items()).encode()
    content += b"main;a\xed\xa0\xbdb 7\nmain;a\xffb 8\nmain;a\xfeb 9\n"
    codes = {name.encode("ascii", "backslashreplace").decode(): cost for name, cost in hidden.items()}
    codes.update({"a\\ud83db": 7, "a\\xffb": 8, "a\\xfeb": 9})
    assert stacks(content)[0] == {f"main;{name}": cost for name, cost in codes.items()}, stacks(content)[0]
    for form in ("text", "json", "collapsed"):
        shown = subsume(content, "--height", "0", "--distance", "0", "--output-format", form).stdout.decode()
        assert not any(unicodedata.category(c) in ("Cf", "Zl", "Zp", "Cs") for c in shown), shown
    # Reduced, too: no two stacks are one.
    deep = b"".join(b"r;" + name + b";x;y;z %d\n" % cost for name, cost in ((b"a\xff", 1), (b"a\\xff", 2), (b"a\xfe", 3)))
    lines = subsume(deep, "--height", "1", "--distance", "0", "--output-format", "collapsed").stdout.decode().splitlines()
    assert sorted(lines) == ["r;a\\xfe;x 3", "r;a\\xff#2;x 2", "r;a\\xff;x 1"], lines
    long = b"r;" + b"\xff" * 60000 + b";x;y;z 1\n"
    assert subsume(long, "--height", "0", "--distance", "0", "--output-format", "collapsed").returncode == 0
    spaces = b"r;a b;x;y;z 1\nr;a_b;x;y;z 2\n"
    lines = subsume(spaces, "--height", "1", "--distance", "0", "--output-format", "collapsed").stdout.decode().splitlines()
    assert sorted(lines) == ["r;a_b#2;x 2", "r;a_b;x 1"], lines


# ---------------------------------------------------------------- compression


@test
def gzip_is_read_and_others_are_named():
    plain, _ = own(gzip.decompress(bytes_of("folded/x.folded.gz")))
    is_read("folded/x.folded.gz", plain)
    is_refused(bytes_of("folded/x.folded.xz"), "compressed by xz: decompress it")
    for magic, name in ((b"\x28\xb5\x2f\xfd", "zstd"), (b"BZh91AY&SY", "bzip2"), (b"\x04\x22\x4d\x18", "lz4")):
        is_refused(magic + bytes(32), f"compressed by {name}: decompress it")
        is_refused(gzip.compress(magic + bytes(32)), f"compressed by {name}: decompress it")
    is_refused(gzip.compress(gzip.compress(b"a;b 1\n")), "compressed twice: decompress it")
    is_refused(gzip.compress(b""), "it is empty")
    good = bytes_of("folded/04-good.folded")
    assert own(gzip.compress(good[:20]) + gzip.compress(good[20:]))[0] == CONTROL
    many = "".join(f"main;a{i * 7919 % 9973} 1\n" for i in range(20000)).encode()
    found, subsuming = own(gzip.compress(many)[:-2000])
    assert 0 < subsuming["total"] < 20000 and "end too early" in subsuming["remark"], subsuming["remark"]


# ---------------------------------------------------------------- pprof


WORK = {"leaf": 10}


@test
def samples_that_are_none_are_left_out():
    found = is_read("pprof/01-sample-without-location.pb", WORK, "1 sample has no stack (sample 2; 5 of 15 samples)")
    assert found["left_out"][0]["cost"] == 5, found["left_out"]
    assert stacks(bytes_of("pprof/01-sample-without-location.pb"))[0] == {"main;work;leaf": 10}
    is_read("pprof/03m-one-negative-min.pb", WORK, "1 sample has a negative value (sample 2)")
    negative = bytes_of("pprof/03m-one-negative-min.pb")
    one = negative[16:34]
    is_refused(negative[:34] + one + negative[34:], "negative values: a difference of two profiles")


@test
def fields_that_nobody_knows_are_passed_over():
    is_read("pprof/15-unknown-fixed64.pb", WORK)
    is_read("pprof/16-unknown-fixed32.pb", WORK)
    profile = bytes_of("pprof/15-unknown-fixed64.pb")
    for unknown in (b"\x99\x06" + bytes(8), b"\x9d\x06" + bytes(4), b"\x9b\x06\x12\x01\x01\x9c\x06"):
        assert own(unknown + profile)[0] == WORK, unknown


@test
def a_type_without_a_cost_is_refused_with_those_that_have_one():
    profile = bytes_of("pprof/20-last-type-all-zero.pb")
    is_refused(profile, "all values of its sample type 'cpu' are zero: use --sample-type", "(samples)")
    assert own(profile, "--sample-type", "samples")[0] == {"leaf": 10, "work": 5}
    is_refused(profile, "it has samples, cpu", arguments=("--sample-type", "bytes"))


@test
def profiles_one_behind_the_other_and_cut_ones_are_refused():
    profile = bytes_of("pprof/15-unknown-fixed64.pb")
    is_refused(profile + profile, "profiles one behind the other, give one of them")
    is_refused(gzip.compress(profile) * 2, "profiles one behind the other, give one of them")
    is_refused(profile[:95], "the file is cut or damaged, get it anew")
    is_refused(profile[:90], "most samples, 1 of 1, cannot be read", "is the file cut?")
    is_refused(gzip.compress(profile)[:90], "the file is cut, get it anew")


@test
def what_gzip_makes_of_little_is_bounded():
    bomb = gzip.compress(b"\x12\x00" * (1 << 27), 9)
    begun = time.monotonic()
    is_refused(bomb, "more than 64 times its bytes", "decompress it before it is given")
    note(f"{time.monotonic() - begun:.1f} s for two refusals")


# ---------------------------------------------------------------- flight recordings


@test
def what_a_killed_or_running_jvm_left_loses_nothing_of_the_rest():
    right = {"pkg.Class0.m0(I);pkg.Class1.m1(I);pkg.Class2.m2(I)": 1}
    for name, said in (("03-complete-then-cut", "1 chunk cannot be read (chunk 2: at byte 840: a chunk of 840 bytes"),
                       ("03-flushed-then-tail", "1 chunk cannot be read (chunk 2: at byte 840: ")):
        content = bytes_of(f"jfr/{name}.jfr")
        found = is_read(f"jfr/{name}.jfr", {"pkg.Class2.m2(I)": 1}, said)
        assert [(x["part"], x["count"], x["first"]) for x in found["left_out"]] == [("chunk", 1, 2)], found["left_out"]
        for form in (content, gzip.compress(content), content[:840] + content[840:-20] + content[:840]):
            found, said = stacks(form)
            assert set(found) == set(right) and "chunk" in said, (found, said)
    whole, cut = bytes_of("jfr/03-complete-then-cut.jfr")[:840], bytes_of("jfr/03-complete-then-cut.jfr")[840:]
    assert stacks(cut + whole)[0] == right
    assert stacks(whole) == (right, "")
    assert stacks(whole + whole[:700] + whole)[0] == {stack: 2 for stack in right}
    is_refused(whole[:700], "at byte 0: a chunk of 840 bytes, and there are 700")
    running = whole[:8] + bytes(24) + whole[32:]
    is_refused(running, "the chunk is not finished", "jcmd PID JFR.dump")
    is_refused(whole, "it has jdk.ExecutionSample (1)", arguments=("--sample-type", "jdk.Other"))


run()
