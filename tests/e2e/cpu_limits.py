"""JVMs whose cgroups let them have less than a processor: what a window costs is held against that."""
# Estimates: costs.
import json
import time

from lib import jdks, need_root, note, run, test, test_on_jdks
from support.cgroup import Group
from support.profile import Daemon, Workload, report_of, succeeded, the_one_kind

LIMIT = 0.5
BUDGET = 0.02
# Far shorter than the budget allows, which has to lengthen it.
PERIOD = "200us"


def limited(jdk, limit):
    """A busy JVM, once it has started, below a group with the limit and in one without."""
    outer = Group(controller="cpu")
    inner = Group(outer, controller="cpu")
    jvm = Workload(jdk, "SilentLoad", prefix=inner.enter())
    outer.limit_cpus(limit)
    return jvm, inner, outer


def end(daemon, jvm, inner, outer):
    jvm.stop()
    daemon.stop()
    inner.stop()
    outer.stop()


@test_on_jdks
def a_window_keeps_its_budget_of_half_a_processor(jdk):
    need_root()
    jvm, inner, outer = limited(jdk, LIMIT)
    daemon = Daemon()
    report = report_of(daemon.ctl("attach", str(jvm.pid), "--kinds", "silent-load", "--duration", "8s", "--budget", f"{BUDGET:.0%}",
                                  "--period", PERIOD, "--format", "json"))
    quality = report["quality"]
    assert report["window"]["cpu_limit"] == LIMIT, report["window"]
    used = quality["target_cpu_s"] / report["window"]["duration_s"]
    note(f"{used:.2f} CPUs, overhead {quality['overhead_fraction']:.2%} of them, {quality['samples']} samples, set up in "
         f"{quality['setup_cpu_s']} s")
    assert used < 1.2 * LIMIT, quality
    assert quality["overhead_fraction"] < 1.5 * BUDGET, quality
    assert the_one_kind(report)["fraction"] > 0.8
    end(daemon, jvm, inner, outer)


@test
def check_and_report_say_what_the_tightest_group_allows():
    need_root()
    jvm, inner, outer = limited(jdks()[0], 1.5)
    daemon = Daemon()
    inner.limit_cpus(0.25)
    items = json.loads(daemon.ctl("--json", "check", str(jvm.pid)).stdout)
    item = next(i for i in items if i["name"] == "CPU limit")
    assert item["result"] == "ok" and "0.25 CPUs" in item["detail"], item
    inner.limit_cpus(None)
    report = report_of(daemon.ctl("attach", str(jvm.pid), "--kinds", "silent-load", "--duration", "1s", "--format", "json"))
    assert report["window"]["cpu_limit"] == 1.5, report["window"]
    end(daemon, jvm, inner, outer)


@test
def one_without_a_limit_has_none():
    daemon, jvm = Daemon(), Workload(jdks()[0], "SilentLoad")
    assert "CPU limit" not in succeeded(daemon.ctl("check", str(jvm.pid)))
    report = daemon.attach(jvm.pid, "--kinds", "silent-load", duration="1s")
    assert "cpu_limit" not in report["window"], report["window"]
    jvm.stop()
    daemon.stop()


@test
def a_jvm_below_its_limit_is_not_stopped_for_long_by_a_window():
    """What attaching takes at once may use up a period's time, and no more than a few."""
    need_root()
    group = Group(controller="cpu")
    jvm = Workload(jdks()[-1], "Paced", prefix=group.enter())
    daemon = Daemon()
    group.limit_cpus(LIMIT)
    time.sleep(1)
    before = group.throttled()
    time.sleep(8)
    middle = group.throttled()
    daemon.attach(jvm.pid, "--kinds", "silent-load", "--budget", "1%", duration="8s")
    after = group.throttled()
    alone, profiled = middle[0] - before[0], after[0] - middle[0]
    note(f"{alone} of {middle[1] - before[1]} periods throttled before, {profiled} of {after[1] - middle[1]} in the window")
    assert profiled <= alone + 10, (alone, profiled)
    jvm.stop()
    daemon.stop()
    group.stop()


run(at_once=2)
