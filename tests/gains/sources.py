"""Programs before and after a fix: where the sources of a library come from, and classes of a patched copy.

A patch is a small file of ours (patches/NAME.patch), against the source package that Debian has of the library, which is fetched when it is
needed: so nobody's files are copied into this tree. The patched files alone are compiled, against the library itself, and come
before it on the class path. Patches of programs of this tree are against the tree.
"""
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "e2e"))
from lib import BUILD, ROOT, made_once, skip  # noqa: E402  pylint: disable=wrong-import-position

PLACE = os.path.join(BUILD, "gains")
SUITE = "bookworm"
_PATCHED = re.compile(r"^\+\+\+ b/(\S+)", re.M)


def _apt(*arguments, cwd):
    """apt-get with lists of its own, which have sources: no file of the system is changed."""
    state = os.path.join(PLACE, "apt")
    os.makedirs(os.path.join(state, "lists/partial"), exist_ok=True)
    os.makedirs(os.path.join(state, "cache/archives/partial"), exist_ok=True)
    sources = os.path.join(state, "sources.list")
    with open(sources, "w", encoding="ascii") as f:
        f.write(f"deb-src http://deb.debian.org/debian {SUITE} main\n")
    options = {"Dir::Etc::SourceList": sources, "Dir::Etc::SourceParts": "/dev/null", "Dir::State::Lists": os.path.join(state, "lists"),
               "Dir::Cache": os.path.join(state, "cache"), "APT::Sandbox::User": "root"}
    command = ["apt-get", "-qq", *(w for k, v in options.items() for w in ("-o", f"{k}={v}")), *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@made_once
def _lists():
    """Once a run, and of each machine: where a package has moved on, its old files are gone."""
    os.makedirs(PLACE, exist_ok=True)
    done = _apt("update", cwd=PLACE)
    if done.returncode != 0:
        skip(f"Debian's lists of sources cannot be had: {done.stderr.strip()}")


@made_once
def tarball(package):
    """The path of the original source of a Debian source package."""
    directory = os.path.join(PLACE, "sources", package)
    os.makedirs(directory, exist_ok=True)

    def found():
        return [os.path.join(directory, n) for n in os.listdir(directory) if ".orig.tar." in n]

    if not found():
        _lists()
        done = _apt("source", "--tar-only", "--download-only", package, cwd=directory)
        if done.returncode != 0 or not found():
            skip(f"the source of {package} cannot be had: {done.stderr.strip().splitlines()[:1]}")
    return found()[0]


@made_once
def unpacked(package):
    """A binary package of this system's own lists, unpacked and not installed: some conflict with what other tests need."""
    directory = os.path.join(PLACE, "packages", package)
    if not os.path.isdir(os.path.join(directory, "usr")):
        os.makedirs(directory, exist_ok=True)
        done = subprocess.run(["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", package], cwd=directory, capture_output=True,
                              text=True, check=False)
        archives = [n for n in os.listdir(directory) if n.endswith(".deb")]
        if done.returncode != 0 or not archives:
            skip(f"{package} cannot be had: {done.stderr.strip().splitlines()[:1]}")
        subprocess.run(["dpkg", "-x", archives[0], directory], cwd=directory, check=True)
    return directory


def jar_of(name):
    """The path of a jar: PACKAGE/JAR of a package that is unpacked, or JAR of one that is installed."""
    package, _, file = name.rpartition("/")
    return os.path.join(unpacked(package) if package else "/", "usr/share/java", f"{file}.jar")


def _unpack(package, names, to):
    """Files of a source package, named from its top."""
    wanted = set(names)
    with tarfile.open(tarball(package)) as tar:
        for member in tar:
            name = member.name.partition("/")[2]
            # Some archives have no directory at their top.
            name = member.name if member.name in wanted else name
            if name in wanted:
                path = os.path.join(to, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as f:
                    shutil.copyfileobj(tar.extractfile(member), f)
                wanted.discard(name)
    assert not wanted, f"{package} has no {', '.join(wanted)}"


def patched(name, package, javac, class_path):
    """The directory of the classes of patches/NAME.patch applied; package: Debian's source package, or None for this tree."""
    patch = os.path.join(HERE, "patches", f"{name}.patch")
    with open(patch, encoding="utf-8") as f:
        text = f.read()
    files = _PATCHED.findall(text)
    # Compiled once: of a patch and, in this tree, of what it patches.
    contents = hashlib.sha256(text.encode())
    for file in () if package else files:
        with open(os.path.join(ROOT, file), "rb") as f:
            contents.update(f.read())
    work = os.path.join(PLACE, "fixes", name)
    source, classes = os.path.join(work, "source"), os.path.join(work, f"classes-{contents.hexdigest()[:16]}")
    if os.path.isdir(classes):
        return classes
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    if package:
        _unpack(package, files, source)
    else:
        for file in files:
            os.makedirs(os.path.dirname(os.path.join(source, file)), exist_ok=True)
            shutil.copy(os.path.join(ROOT, file), os.path.join(source, file))
    subprocess.run(["patch", "--quiet", "-p1", "-d", source, "-i", patch], check=True)
    compile_files(javac, [os.path.join(source, f) for f in files], class_path, f"{classes}.new")
    os.rename(f"{classes}.new", classes)
    return classes


def compile_files(javac, files, class_path, to):
    os.makedirs(to, exist_ok=True)
    command = [javac, "-nowarn", "-Xlint:none", "-proc:none", "-encoding", "UTF-8", "-source", "11", "-target", "11", "-cp", class_path, "-d", to, *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
