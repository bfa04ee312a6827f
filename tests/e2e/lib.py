"""What the end-to-end tests share: JDKs, JVMs, throw-away directories, and TAP output.

A test file registers functions with @test (or @test_on_jdks for one run on every JDK found) and ends
with run(). A test fails by raising, mostly through assert; it skips itself with skip(reason).
What is started here ends with the test after which nobody holds it; everything started or made here is ended and
removed when the file's run is over.
"""
import atexit
import functools
import gc
import glob
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("JXPERF_BUILD", os.path.join(ROOT, "build")))
BUNDLE = os.path.join(BUILD, "lib/jxperf")
OLDEST_JDK = 11
# Ends the wait for what would otherwise never come, on a machine that is slow or busy, too.
HANG_S = 180

# References to an object that nobody but the local variable has: it, and the argument of who counts.
ONLY_OURS = 2

_tests = []
_processes = []
_directories = []


class Skip(Exception):
    """A test lacks what it needs."""


def skip(reason):
    raise Skip(reason)


def need_root():
    if os.geteuid() != 0:
        skip("needs root")


def made_once(function):
    """What function makes of its arguments the first time, and again for whoever asks: also of tests side by side."""
    cached, lock = functools.lru_cache(maxsize=None)(function), threading.RLock()

    @functools.wraps(function)
    def make(*arguments):
        with lock:
            return cached(*arguments)

    return make


# ---------------------------------------------------------------- JDKs


class Jdk:
    def __init__(self, home):
        self.home = home
        self.java = os.path.join(home, "bin/java")
        self.javac = os.path.join(home, "bin/javac")
        self.release = _release(home)

    def __repr__(self):
        return f"JDK {self.release}"

    def runs_with(self, *options, env=None):
        """Does it know the options, such as that of a collector?"""
        return _starts_with(self.java, options, tuple((env or os.environ).items()))


@made_once
def _starts_with(java, options, environment):
    command = [java, *options, "-Xmx64m", "-version"]
    return subprocess.run(command, env=dict(environment), capture_output=True, check=False).returncode == 0


def _release(home):
    try:
        with open(os.path.join(home, "release"), encoding="utf-8") as f:
            version = re.search(r'JAVA_VERSION="([^"]*)"', f.read())
    except OSError:
        return 0
    if not version:
        return 0
    return int(re.match(r"(?:1\.)?(\d+)", version.group(1)).group(1))


def jdks():
    """Every JDK that the agent supports, oldest first, one of each release."""
    homes = [os.environ.get("JAVA_HOME", "")]
    homes += [os.path.dirname(os.path.dirname(p)) for p in sorted(glob.glob("/usr/lib/jvm/*/bin/java"))]
    on_path = shutil.which("java")
    if on_path:
        homes.append(os.path.dirname(os.path.dirname(os.path.realpath(on_path))))
    found = {}
    for home in homes:
        if home and os.access(os.path.join(home, "bin/java"), os.X_OK):
            jdk = Jdk(os.path.realpath(home))
            if jdk.release >= OLDEST_JDK:
                found.setdefault(jdk.release, jdk)
    return [found[release] for release in sorted(found)]


def compile_java(sources, kept=True):
    """Compiles {"Main.java": text} for every supported JDK into a directory that all users can read. What another
    program had compiled is taken from the build, which may lie below a home that is closed to others; kept: not False
    for sources that no other run has."""
    compiler = next(j for j in jdks() if os.access(j.javac, os.X_OK))
    if not kept:
        return _compile(compiler, sources, make_directory())
    contents = hashlib.sha256(repr((compiler.javac, sorted(sources.items()))).encode()).hexdigest()
    compiled = os.path.join(BUILD, "tests/java", contents)
    if not os.path.isdir(compiled):
        os.makedirs(os.path.dirname(compiled), exist_ok=True)
        made = _compile(compiler, sources, make_directory(os.path.dirname(compiled)))
        try:
            os.rename(made, compiled)
        except OSError:
            pass  # Another was first.
    return shutil.copytree(compiled, make_directory(), dirs_exist_ok=True)


def _compile(compiler, sources, directory):
    for name, text in sources.items():
        with open(os.path.join(directory, name), "w", encoding="utf-8") as f:
            f.write(text)
    command = [compiler.javac, "--release", str(OLDEST_JDK), "-Xlint:-options", "-d", directory, *sources]
    subprocess.run(command, cwd=directory, check=True)
    return directory


def compile_jni(source):
    """Builds a native library for a program in Java of a file of tests/e2e, and returns its path."""
    home = next(j.home for j in jdks() if os.path.isdir(os.path.join(j.home, "include")))
    built = os.path.join(make_directory(), f"lib{os.path.basename(source)[:-len('.c')]}.so")
    headers = [f"-I{home}/include", f"-I{home}/include/linux"]
    command = ["cc", "-shared", "-fPIC", "-O2", "-D_GNU_SOURCE", *headers, source, "-o", built]
    subprocess.run(command, cwd=os.path.join(ROOT, "tests/e2e"), check=True)
    return built


# ---------------------------------------------------------------- processes and files


def make_directory(parent="/var/tmp", mode=0o755):
    """A directory that is removed at the end."""
    directory = tempfile.mkdtemp(prefix="jxperf-e2e-", dir=parent)
    os.chmod(directory, mode)
    _directories.append(directory)
    return directory


class FairClock:
    """Goes as a watch does while there is a processor for everybody, and slower while threads have to wait for one: by
    how many want to run for each processor. What it shows is the time that something would have taken on an idle
    machine. It has to be looked at often."""

    def __init__(self):
        self.seconds = 0.0
        self.last = time.monotonic()

    def tick(self):
        with open("/proc/loadavg", encoding="ascii") as f:
            runnable = int(f.read().split()[3].split("/")[0]) - 1  # without this thread
        now = time.monotonic()
        self.seconds += (now - self.last) / max(1.0, runnable / len(os.sched_getaffinity(0)))
        self.last = now
        return self.seconds


class Stopwatch:
    """Measures a block by a FairClock: `with Stopwatch() as watch: ...`, then watch.seconds and watch.wall_seconds."""

    def __enter__(self):
        self.seconds = 0.0
        self.wall_seconds = 0.0
        self._start = time.monotonic()
        self._clock, self._ended = FairClock(), threading.Event()
        self._thread = threading.Thread(target=self._tick, daemon=True)
        self._thread.start()
        return self

    def _tick(self):
        while not self._ended.wait(0.01):
            self._clock.tick()

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()
        self.seconds = self._clock.tick()
        self.wall_seconds = time.monotonic() - self._start


def wait_until(condition, what, seconds=30):
    """Polls condition until it is true, and returns its value. The seconds are those of a FairClock. Who asks a daemon
    by a client takes no more than a quarter of a processor."""
    clock = FairClock()
    while True:
        begin = time.monotonic()
        value = condition()
        if value:
            return value
        assert clock.tick() < seconds, f"{what}: not within {seconds} s"
        time.sleep(min(max(0.01, 3 * (time.monotonic() - begin)), 0.1))


def register(process):
    """Has its stop() called at the end: of the test after which nobody holds it any more, or of all."""
    _processes.append(process)


def _end_what_nobody_holds():
    """A JVM that a test has left would work beside all that come after it."""
    gc.collect()
    for _ in range(len(_processes)):
        process = _processes.pop(0)
        if sys.getrefcount(process) == ONLY_OURS:
            process.stop()
        else:
            _processes.append(process)


class Process:
    """A program whose output goes to a file. pid is the program's own, also behind unshare(1)."""

    def __init__(self, command, **options):
        self.output_path = os.path.join(make_directory(), "output")
        options.setdefault("stdin", subprocess.DEVNULL)
        with open(self.output_path, "wb") as out:
            self.child = subprocess.Popen(
                command, stdout=out, stderr=subprocess.STDOUT, **options
            )
        self.pid = self.child.pid
        register(self)

    def output(self):
        with open(self.output_path, encoding="utf-8", errors="replace") as f:
            return f.read()

    def wait_for(self, text, seconds=30):
        def arrived():
            assert self.alive(), f"ended early: {self.output()}"
            return text in self.output()

        wait_until(arrived, f"'{text}' in the output", seconds)

    def alive(self):
        return self.child.poll() is None

    def stop(self):
        """Lets it remove its own files, as a JVM does at SIGTERM, and insists when it does not end."""
        self._signal(signal.SIGTERM)
        self._signal(signal.SIGCONT)
        try:
            self.child.wait(20)
        except subprocess.TimeoutExpired:
            self._signal(signal.SIGKILL)
            self.child.kill()
            self.child.wait()
        self._remove_attach_socket()

    def _remove_attach_socket(self):
        """A JVM that was killed leaves it, and one of another user's that gets the same pid could not be attached to."""
        try:
            os.unlink(f"/tmp/.java_pid{self.pid}")
        except OSError:
            pass  # It was none, or has removed it.

    def _signal(self, number):
        if self.alive():
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                pass


def only_child(pid):
    """The pid of the one child that process pid has, or 0."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            children = f.read().split()
    except OSError:
        return 0
    return int(children[0]) if len(children) == 1 else 0


def _clean_up():
    while _processes:
        _processes.pop(0).stop()
    while _directories:
        shutil.rmtree(_directories.pop(), ignore_errors=True)


atexit.register(_clean_up)
# The run's time limit sends it.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
# A shell in the background ignores it, and so would what is started here.
signal.signal(signal.SIGINT, signal.default_int_handler)


# ---------------------------------------------------------------- TAP


def add_test(name, function):
    _tests.append((name, function))


def test(function):
    add_test(function.__name__.replace("_", " "), function)
    return function


def test_on_jdks(function):
    """Registers function(jdk) once for every JDK."""
    for jdk in jdks():
        name = f"{function.__name__.replace('_', ' ')} ({jdk})"
        add_test(name, lambda jdk=jdk: function(jdk))
    return function


_here = threading.local()  # what a thread that runs a test has: the lines that it prints


def _say(line):
    if hasattr(_here, "lines"):
        _here.lines.append(line)
    else:
        print(line, flush=True)


def note(text):
    """Shows what a test measured."""
    _say(f"# {text}")


def _run_one(number, name, function):
    try:
        function()
    except Skip as reason:
        _say(f"ok {number} - {name} # SKIP {reason}")
        return True
    except Exception as why:  # pylint: disable=broad-except; every kind of failure is reported
        _say(f"not ok {number} - {name}")
        for line in traceback.format_exc().splitlines():
            _say(f"# {line}")
        # One line that tests/run repeats at its end, whatever the next test notes.
        _say(f"# why: {type(why).__name__}: {' '.join(str(why).split())}")
        return False
    _say(f"ok {number} - {name}")
    return True


class _SideBySide:
    """Tests in threads, so many at a time; what each printed is shown in their order."""

    def __init__(self, tests, at_once):
        self._left = list(enumerate(tests, 1))
        self._lock = threading.Lock()  # of what is left, and of the processes' end
        self._done = [threading.Event() for _ in tests]
        self._outcomes = [None] * len(tests)  # (lines, whether it is well)
        for _ in range(at_once):
            threading.Thread(target=self._work, daemon=True).start()

    def _work(self):
        while True:
            with self._lock:
                if not self._left:
                    return
                number, (name, function) = self._left.pop(0)
            _here.lines = []
            try:
                well = _run_one(number, name, function)
                with self._lock:
                    _end_what_nobody_holds()
            except BaseException as why:  # pylint: disable=broad-except; the thread's end would be nobody's to see
                _say(f"# why: {type(why).__name__}: {' '.join(str(why).split())}")
                well = False
            self._outcomes[number - 1] = _here.lines, well
            self._done[number - 1].set()

    def outcomes(self):
        for done, i in zip(self._done, range(len(self._done))):
            done.wait()
            lines, well = self._outcomes[i]
            print("\n".join(lines), flush=True)
            yield well


def _one_by_one():
    for number, (name, function) in enumerate(_tests, 1):
        yield _run_one(number, name, function)
        _end_what_nobody_holds()


def run(at_once=1):
    """Runs what was registered and exits with 1 when a test failed. More at once where tests mostly wait: they have to
    hold what they started, by more than its pid, and share nothing that one of them changes."""
    print(f"1..{len(_tests)}", flush=True)
    try:
        results = list(_one_by_one() if at_once == 1 else _SideBySide(_tests, at_once).outcomes())
    finally:
        _clean_up()
    sys.exit(0 if all(results) else 1)
