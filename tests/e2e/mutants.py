#!/usr/bin/env python3
"""1,000 mutants of the files in tests/inputs: cut, joined, reordered, in another encoding.

Each is read, or refused in one line. What is read has no method that the files it was made of do not have, and of none
more than they have. The same each time: the seed is fixed (MUTANTS_SEED for another).
"""
import collections
import glob
import gzip
import os
import random
import subprocess

from lib import BUILD, HANG_S, ROOT, make_directory, note, run, test

STACKS = os.path.join(BUILD, "tests/stacks")
CLIENT = os.path.join(BUILD, "bin/jxperfctl")
MUTANTS, SEED, AT_ONCE, SHOWN = 1000, int(os.environ.get("MUTANTS_SEED", "33")), 100, 20
HERE = make_directory()
# What one reads in the differential file if each of its lines is taken as it stands.
AS_IT_STANDS = {"01-diff": {"main": 0, "a": 0, "b 10": 90, "c 80": 5, "b": 10, "c": 80}}
# Of the complete and the cut chunk of each recording, and what is behind them.
CHUNK_BYTES = 840


class Input:
    def __init__(self, path):
        self.name = os.path.splitext(os.path.basename(path))[0]
        self.format = os.path.basename(os.path.dirname(path))
        with open(path, "rb") as f:
            self.bytes = f.read()


def read_all(contents):
    """Of each: a table of own cost by method, with all methods, or None; and the words."""
    results, paths = [], []
    for i, content in enumerate(contents):
        paths.append(os.path.join(HERE, f"{i}"))
        with open(paths[-1], "wb") as f:
            f.write(content)
    for first in range(0, len(paths), AT_ONCE):
        out = subprocess.run([STACKS, "--each", *paths[first:first + AT_ONCE]], capture_output=True, timeout=HANG_S, check=True)
        for line in out.stdout.decode().split("\n")[:-1]:
            word, _, rest = line.partition(": ")
            if word in ("file", "refused") and " " not in word:
                results.append([collections.Counter() if word == "file" else None, rest])
                head = True
            elif head:
                head = False  # how many samples there are
            else:
                stack, _, cost = line.rpartition(" ")
                frames = stack.split(";")
                for frame in frames:
                    results[-1][0][frame] += 0
                results[-1][0][frames[-1]] += float(cost)
    assert len(results) == len(contents), (len(results), len(contents))
    return results


# ---------------------------------------------------------------- parts


def fields(profile):
    """Those of a message of protocol buffers, whole."""
    def varint(at):
        value = shift = 0
        while True:
            value |= (profile[at] & 0x7f) << shift
            shift, at = shift + 7, at + 1
            if profile[at - 1] < 0x80:
                return value, at

    found, at = [], 0
    while at < len(profile):
        tag, end = varint(at)
        size = {0: 0, 1: 8, 5: 4}.get(tag & 7)
        if size is None:
            size, end = varint(end)
        elif size == 0:
            _, end = varint(end)
        found.append((tag >> 3, profile[at:end + size]))
        at = end + size
    return found


def text_of(file):
    """As characters, where it is text."""
    if file.name.endswith("utf16"):
        return file.bytes.decode("utf-16")
    return file.bytes.decode("utf-8", "surrogatepass").encode("utf-16", "surrogatepass").decode("utf-16").removeprefix("\ufeff")


def reordered(file, rng):
    if file.format == "folded":
        lines = text_of(file).splitlines()
        rng.shuffle(lines)
        return "".join(f"{line}\n" for line in lines).encode()
    if file.format == "jfr":
        return file.bytes[CHUNK_BYTES:] + file.bytes[:CHUNK_BYTES] if file.bytes[CHUNK_BYTES:].startswith(b"FLR") else file.bytes
    parts = fields(file.bytes)
    # What counts is the order of strings, and that of sample types.
    groups = [[p for n, p in parts if n == number] for number in {n for n, _ in parts}]
    for group in groups:
        if group[0][0] >> 3 not in (1, 6):
            rng.shuffle(group)
    rng.shuffle(groups)
    return b"".join(part for group in groups for part in group)


def encoded(file, rng):
    if file.format != "folded":
        return gzip.compress(file.bytes)
    text = text_of(file)
    return rng.choice([
        lambda: text.encode("utf-16"),
        lambda: text.encode("utf-16-le"),
        lambda: b"\xfe\xff" + text.encode("utf-16-be"),
        lambda: b"\xef\xbb\xbf" + text.encode(),
        lambda: text.replace("\n", "\r\n").encode(),
        lambda: gzip.compress(text.encode()),
        lambda: gzip.compress(text.encode("utf-16")),
        # As a JVM hands it out.
        lambda: "".join(c if ord(c) < 0x10000 else c.encode("utf-16-be").decode("utf-16-be", "surrogatepass")
                        for c in text).encode("utf-8", "surrogatepass"),
    ])()


def joined(first, second):
    content = first.bytes
    if first.format == "folded" and not first.name.endswith("utf16") and not content.endswith(b"\n"):
        content += b"\n"
    return content + second.bytes


def mutant(files, rng):
    """The files that it is of, how it was made, and its bytes."""
    how = rng.choice(["cut", "joined", "reordered", "encoded"])
    file = rng.choice(files)
    if how == "joined":
        second = rng.choice([f for f in files if f.format == file.format])
        return [file, second], how, joined(file, second)
    if how == "cut":
        # Of text behind the first line: where a number is cut off the only line of a file nobody can tell.
        least = file.bytes.find(b"\n") + 2 if file.format == "folded" else 1
        return [file], how, file.bytes[:rng.randrange(least, len(file.bytes))]
    return [file], how, reordered(file, rng) if how == "reordered" else encoded(file, rng)


@test
def mutants_have_no_method_that_nobody_wrote():
    files = [Input(path) for path in sorted(glob.glob(os.path.join(ROOT, "tests/inputs/*/*"))) if not path.endswith((".gz", ".xz"))]
    own, whole = {}, {}
    for file, (found, why) in zip(files, read_all([f.bytes for f in files])):
        whole[file.name] = found
        own[file.name] = collections.Counter(AS_IT_STANDS.get(file.name) or found or {})
        assert found is not None or file.name in AS_IT_STANDS or "--sample-type" in why, (file.name, why)
    names = set().union(*own.values())
    rng = random.Random(SEED)
    mutants = [mutant(files, rng) for _ in range(MUTANTS)]
    read = collections.Counter()
    for (made_of, how, content), (found, words) in zip(mutants, read_all([m[2] for m in mutants])):
        what = (how, [f.name for f in made_of], content, found, words)
        read[how, found is not None] += 1
        assert how in ("cut", "joined") or found == whole[made_of[0].name], what
        if found is None:
            assert words, what
            continue
        right = sum((own[f.name] for f in made_of), collections.Counter())
        known = names if how == "cut" else set().union(*(own[f.name] for f in made_of))
        assert not set(found) - known, what
        assert how == "cut" or all(cost <= right[name] for name, cost in found.items()), what
    note(", ".join(f"{how} {'read' if was else 'refused'}: {count}" for (how, was), count in sorted(read.items())))
    assert min(read[how, True] for how in ("cut", "joined", "reordered", "encoded")) >= MUTANTS // 20, read


@test
def the_command_says_one_line_of_each():
    files = [Input(path) for path in sorted(glob.glob(os.path.join(ROOT, "tests/inputs/*/*"))) if not path.endswith((".gz", ".xz"))]
    rng = random.Random(SEED)
    for _ in range(SHOWN):
        content = mutant(files, rng)[2]
        result = subprocess.run([CLIENT, "--socket", "/nonexistent/socket", "subsume", "-", "--json"], input=content,
                                capture_output=True, timeout=HANG_S, check=False)
        assert result.returncode in (0, 1) and (result.returncode == 0) == bool(result.stdout), (content, result)
        assert result.stderr.count(b"\n") <= 1 and (result.returncode == 0 or result.stderr), (content, result)


run()
