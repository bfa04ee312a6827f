"""Each fuzzer runs for a moment, from the inputs that are kept of it: what was found once stays mended, and the harness
still comes as far as it did. 'make fuzz' runs them for longer.
"""
# Starts early: it takes long (each has its seconds).
import glob
import os
import re
import subprocess

from lib import BUILD, HANG_S, ROOT, add_test, make_directory, note, run, skip

BUILT = os.path.join(BUILD, "fuzz")
# As libFuzzer counts: it ends a second later.
RUNS_S = 1
# Of one input, on a machine where others take the processors; no input takes a second by itself.
INPUT_S = 60


def kept(name):
    """The folder of a fuzzer's inputs, if it has any."""
    return [d for d in [os.path.join(ROOT, "tests/fuzz/corpus", name)] if os.path.isdir(d)]


def fuzz(name):
    """What it said of a moment's run."""
    program = os.path.join(BUILT, name)
    if not os.path.exists(program):
        skip(f"{program} is not built: make check-clang")
    # What it finds goes to the first folder, and to the other what it ends with, for somebody to look at.
    command = [program, f"-max_total_time={RUNS_S}", f"-timeout={INPUT_S}", "-rss_limit_mb=2048", "-print_final_stats=1",
               f"-artifact_prefix={BUILT}/", make_directory(), *kept(name)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                          timeout=HANG_S, check=False)
    assert done.returncode == 0, f"exit status {done.returncode}: {done.stderr[-4000:]}"
    return done.stderr


def runs_clean(name):
    inputs = sum(len(files) for d in kept(name) for _, _, files in os.walk(d))
    said = fuzz(name)
    runs = int(re.search(r"number_of_executed_units: (\d+)", said).group(1))
    covered = int(re.findall(r" cov: (\d+)", said)[-1])
    note(f"{inputs} kept inputs, {runs} runs, {covered} places reached")
    assert runs >= inputs and covered > 0, said[-4000:]
    return said


def comes_to_the_analysis_of_code():
    analyses, loops = re.search(r"(\d+) analyses of code, (\d+) mapped loops", runs_clean("fuzz_agent_frame")).groups()
    note(f"{analyses} analyses of code, {loops} loops")
    # Of the kept inputs alone there are that many.
    assert int(analyses) >= 8 and int(loops) >= 8, (analyses, loops)


def main():
    for source in sorted(glob.glob(os.path.join(ROOT, "tests/fuzz/fuzz_*.c"))):
        name = os.path.basename(source)[:-len(".c")]
        if name == "fuzz_agent_frame":
            add_test(f"{name} comes to the analysis of code", comes_to_the_analysis_of_code)
        else:
            add_test(name, lambda name=name: runs_clean(name))
    run()


main()
