#!/usr/bin/env python3
"""Names as JVMs hand them out, in modified UTF-8: shown as they are, told apart, and nothing invisible on a terminal."""
import json
import os
import unicodedata

from lib import Process, compile_java, jdks, run, test
from support.profile import Daemon, succeeded

# Two beyond U+FFFF that differ in the second half alone, and two that look the same.
NAMES = ["\U00020bb7", "\U00020bb8", "a\u4e01b", "a\u4e02b"]
# javac leaves out what nobody sees: obfuscators do not.
REPLACED = {"\u4e01": "\u200c", "\u4e02": "\u202e"}
SHOWN = ["\U00020bb7", "\U00020bb8", "a\\u200cb", "a\\u202eb"]
CLASS = "C\U00020bb9"

BODY = "".join(f"""
    static long {name}(long x) {{
        for (int i = 0; i < 20000; i++) x = x * 6364136223846793005L + {1 + i}L;
        return x;
    }}""" for i, name in enumerate(NAMES))
SOURCE = f"""
final class {CLASS} {{
    {BODY}
    public static void main(String[] arguments) {{
        long x = 1;
        System.out.println("up");
        while (x != 0) x = {"".join(f"{name}(" for name in NAMES)}x{")" * len(NAMES)};
    }}
}}
"""


@test
def methods_have_their_names_in_every_form():
    directory = compile_java({f"{CLASS}.java": SOURCE})
    compiled = os.path.join(directory, f"{CLASS}.class")
    with open(compiled, "rb") as f:
        content = f.read()
    for name, other in REPLACED.items():
        content = content.replace(name.encode(), other.encode())
    with open(compiled, "wb") as f:
        f.write(content)
    target = Process([jdks()[0].java, "-Xmx128m", "-XX:-Inline", "-Dsun.jnu.encoding=UTF-8", "-Dfile.encoding=UTF-8",
                      "-cp", directory, CLASS], env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"})
    target.wait_for("up")
    daemon = Daemon()
    report = json.loads(succeeded(daemon.ctl("attach", str(target.pid), "--kinds", "cpu", "--duration", "3s", "--budget", "10%",
                                             "--format", "json", "--pairs", "100000")))
    own = [(row["class"], row["method"].partition("(")[0]) for row in report["cpu"]["by_exclusive"]]
    for name in SHOWN:
        assert own.count((CLASS, name)) == 1, (name, own)
    for form in (["--format", "text"], ["--format", "text", "--view", "cpu"], ["--format", "collapsed", "--view", "cpu"],
                 ["--format", "json", "--view", "subsuming"], ["--format", "text", "--view", "subsuming"]):
        text = succeeded(daemon.ctl("report", "w1", *form))
        shown = json.dumps(json.loads(text), ensure_ascii=False) if "json" in form else text
        assert not any(unicodedata.category(c) in ("Cf", "Zl", "Zp", "Cs") for c in shown), (form, shown)
        if "collapsed" in form:
            stacks = [line.rpartition(" ")[0] for line in text.splitlines()]
            assert len(stacks) == len(set(stacks)), stacks
            for name in SHOWN:
                assert any(f"{CLASS}.{name}" in stack for stack in stacks), (name, stacks)


run()
