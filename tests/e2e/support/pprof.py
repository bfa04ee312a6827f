"""pprof as Debian's golang has it, unpacked and not installed (tests/pprof/fetch)."""
import os
import re
import subprocess

from lib import HANG_S, make_directory, skip
from support.unpacked import unpacked

# Everything, however little.
ALL = ("-nodefraction=0", "-nodecount=1000000")


def pprof(*arguments):
    """What it prints; it has to succeed and to say nothing on stderr."""
    directory = unpacked("pprof", "pprof")
    if not directory:
        skip("Debian's golang, which has pprof, cannot be downloaded")
    home = make_directory()
    done = subprocess.run([os.path.join(directory, "pprof"), *arguments],
                          env={"HOME": home, "PATH": os.environ["PATH"], "TZ": "UTC"}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=HANG_S, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


def top(path, sample_type, unit, *options):
    """What -top says of a sample type: its total, and {name: (flat, cum)}, in the unit."""
    text = pprof("-top", f"-sample_index={sample_type}", f"-unit={unit}", *ALL, *options, path)
    assert f"\nType: {sample_type}\n" in text, text
    lines = text.splitlines()
    total = re.search(r"Showing nodes accounting for .*% of (\d+)", text)
    first = next(i for i, line in enumerate(lines) if line.split()[:2] == ["flat", "flat%"]) + 1
    rows = {}
    for line in lines[first:]:
        flat, _, _, cum, _, name = line.split(None, 5)
        rows[name.removesuffix(" (inline)")] = (_number(flat), _number(cum))
    return int(total.group(1)) if total else 0, rows


def _number(text):
    return int(re.match(r"\d+", text).group())
