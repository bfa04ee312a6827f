"""What a window costs programs that are sensitive to it in a way of their own, seen from outside or held against
the budget."""
# Estimates: costs, from outside.
import re
import time

from lib import jdks, note, run, test
from support.profile import Daemon, Workload, cpu_seconds

OPERATIONS = re.compile(r"operations (\d+)\n")
WINDOW_S = 4
# What the processor makes of a watchpoint once took 60 to 80% of such a program.
LEAST_PACE = 0.75
# Of the CPU time; allocations may have up to a quarter of the budget of 1%, and here met nothing.
ALLOCATIONS_MOST = 0.004

JDK = next(j for j in jdks() if j.release == 17)


class Pace:
    """Operations for each second of a program's CPU time, since the last look."""

    def __init__(self, program):
        self.program = program
        self.at = self.look()

    def look(self):
        return int(OPERATIONS.findall(self.program.output())[-1]), cpu_seconds(self.program.pid)

    def since(self):
        before, self.at = self.at, self.look()
        return (self.at[0] - before[0]) / (self.at[1] - before[1])


@test
def a_program_that_has_large_blocks_copied_keeps_its_pace():
    daemon = Daemon()
    program = Workload(JDK, "FileTable", "-Dprogress=true", "-Xmx256m")
    time.sleep(1)
    pace = Pace(program)
    time.sleep(WINDOW_S)
    before = pace.since()
    report = daemon.attach(program.pid, duration=f"{WINDOW_S}s")
    within = pace.since()
    time.sleep(WINDOW_S)
    beside = (before + pace.since()) / 2
    note(f"{within:.0f} operations a second of CPU time, {beside:.0f} beside; "
         f"{report['quality']['overhead_fraction']:.4f} reported")
    assert report["quality"]["armed"] > 0, report["quality"]
    assert within > LEAST_PACE * beside, (within, beside)
    program.stop()


@test
def the_first_allocations_of_a_program_that_makes_gigabytes_do_not_use_up_the_budget():
    daemon = Daemon()
    program = Workload(JDK, "GrowthArrays", "-Xmx1g", "-XX:+UseG1GC")
    quality = daemon.attach(program.pid, duration=f"{WINDOW_S}s")["quality"]
    share = quality["events_ns"] / quality["cpu_ns"]
    note(f"{quality['objects_sampled']} allocations sampled, {share:.4f} of the CPU time")
    assert quality["objects_sampled"] > 0, quality
    assert share < ALLOCATIONS_MOST, quality
    program.stop()


run()
