"""The agent's signal handlers reach only functions that are async-signal-safe.

The call graph is read from the library's own machine code, starting at the SIGTRAP handler and at the
functions it calls through pointers. JNI's GetEnv is the JVM's, reads what is the thread's own, and does not
show as an import.
"""
import collections
import os
import re
import subprocess

from lib import BUNDLE, run, test

AGENT = os.path.join(BUNDLE, "libjxperf-agent.so")
ZYDIS = os.path.join(BUNDLE, "libZydis.so.4.0")

# These but the first are called through struct sampler.
ROOTS = ["on_sigtrap", "on_stop", "on_event", "on_quiet", "on_refused", "on_record", "on_breakpoint"]

# System calls, vDSO calls and pure functions: signal-safety(7), and memcpy and its like, which glibc
# documents as AS-Safe. sched_getcpu reads the thread's rseq area, or calls the vDSO.
SAFE = {"ioctl", "syscall", "read", "pread", "pread64", "sigaction", "raise", "clock_gettime", "memcpy", "memmove",
        "memset", "memcmp", "memchr", "strchr", "strlen", "__errno_location", "__stack_chk_fail", "__memcpy_chk",
        "sched_getcpu", "pthread_sigmask", "sigaddset", "sigemptyset"}
ZYDIS_SAFE = {"memcpy", "memset", "memmove", "memcmp", "strlen", "__stack_chk_fail",
              "__assert_fail"}  # never reached: its assertions are on arguments, which we fix


def call_graph():
    """Function -> the functions it calls or jumps to; imports carry '@plt'. A function is its name and its address, since
    several files have static ones of one name."""
    graph = collections.defaultdict(set)
    current = None
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", AGENT], check=True,
                          capture_output=True, text=True).stdout
    for line in text.splitlines():
        start = re.match(r"^([0-9a-f]+) <([^>]+)>:$", line)
        if start:
            current = f"{start.group(2)} {int(start.group(1), 16)}"
            continue
        target = re.search(r"\s(?:call|j[a-z]+)\s+([0-9a-f]+) <([^>+]+)(?:\+0x([0-9a-f]+))?>", line)
        if not target or not current:
            continue
        address, name, offset = target.groups()
        called = f"{name} {int(address, 16) - int(offset or '0', 16)}"
        if called != current:
            graph[current].add(called)
    return graph


def reachable(graph, roots):
    seen, todo = set(), list(roots)
    while todo:
        function = todo.pop()
        if function not in seen:
            seen.add(function)
            todo.extend(graph.get(function, ()))
    return seen


def base(function):
    """Its name. GCC's clones are parts of the function they are named after."""
    return re.sub(r"\.(part|constprop|isra|cold)\..*$|\.cold$", "", function.split()[0])


def imports_of(graph, roots):
    called = (f.split()[0] for f in reachable(graph, roots))
    return {name[:-len("@plt")] for name in called if name.endswith("@plt")}


@test
def handlers_import_only_async_signal_safe_functions():
    graph = call_graph()
    names = {base(f) for f in graph}
    for root in ROOTS:
        assert root in names, f"{root} is not in {AGENT}: update ROOTS"
    roots = [f for f in graph if base(f) in ROOTS]
    imports = imports_of(graph, roots)
    assert "ioctl" in imports, "the graph does not even reach the breakpoints' control"
    unsafe = {f for f in imports if f not in SAFE and not f.startswith("Zydis")}
    assert not unsafe, f"reached from a signal handler: {sorted(unsafe)}"


@test
def the_check_sees_an_unsafe_function():
    graph = call_graph()
    session = [f for f in graph if base(f) == "conversation_start"]
    imports = imports_of(graph, session)
    assert "calloc" in imports and "calloc" not in SAFE


@test
def the_decoder_imports_nothing_that_allocates_or_locks():
    text = subprocess.run(["nm", "-D", "--undefined-only", ZYDIS], check=True, capture_output=True,
                          text=True).stdout
    imports = {m.group(1) for m in re.finditer(r" U (\w+)", text)}
    assert imports, "no imports found: is this the decoder?"
    assert imports <= ZYDIS_SAFE, f"Zydis imports {sorted(imports - ZYDIS_SAFE)}"


run(at_once=2)
