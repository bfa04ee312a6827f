"""Programs of Debian's packages that are unpacked and not installed, once for all tests."""
import fcntl
import os
import subprocess

from lib import BUILD, ROOT, made_once


@made_once
def unpacked(name, program):
    """The directory that the program is in, of the tree that tests/NAME/fetch makes; None where the package cannot be
    had. The program is a path in that tree."""
    for build in (BUILD, os.path.join(ROOT, "build")):
        found = os.path.join(build, name, program)
        if os.path.exists(found):
            return os.path.dirname(found)
    tree = os.path.join(BUILD, name)
    with open(os.path.join(BUILD, f"{name}.lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # Other tests may need it, too.
        if not os.path.exists(os.path.join(tree, program)):
            fetch = os.path.join(ROOT, "tests", name, "fetch")
            if subprocess.run([fetch, tree], capture_output=True, check=False).returncode != 0:
                return None
    return os.path.dirname(os.path.join(tree, program))
