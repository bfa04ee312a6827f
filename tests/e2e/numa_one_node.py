"""NUMA on a machine with one node: the report says that there is nothing to measure, at no cost."""
import glob

from lib import jdks, run, skip, test
from support.profile import Daemon, Workload


def need_one_node():
    if len(glob.glob("/sys/devices/system/node/node[0-9]*")) > 1:
        skip("this machine has several NUMA nodes")


@test
def numa_alone_ends_at_once_with_a_report_that_says_why():
    need_one_node()
    daemon, jvm = Daemon(), Workload(jdks()[0], "SilentLoad")
    report = daemon.attach(jvm.pid, "--kinds", "numa", duration="60s")
    assert report["numa"]["nodes"] == 1, report["numa"]
    assert "nothing to measure" in report["numa"]["note"], report["numa"]
    assert report["window"]["state"] == "done", report["window"]
    assert report["quality"]["samples"] == 0, report["quality"]
    again = daemon.attach(jvm.pid, "--kinds", "silent-load", duration="2s")
    assert again["quality"]["traps"] > 0, again["quality"]
    assert again["numa"] is None, again["numa"]


@test
def beside_other_kinds_it_adds_nothing_to_sample():
    need_one_node()
    daemon, jvm = Daemon(), Workload(jdks()[0], "SilentLoad")
    report = daemon.attach(jvm.pid, "--kinds", "numa,silent-load", duration="2s")
    assert report["numa"]["nodes"] == 1 and report["objects"] == [], report["numa"]
    assert report["quality"]["traps"] > 0, report["quality"]


run()
