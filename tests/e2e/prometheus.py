#!/usr/bin/env python3
"""A real Prometheus scrapes a daemon over several windows, a restart and a kill: what it computes is what the
windows' reports say."""
import os
import signal
import time

from lib import jdks, make_directory, run, test, wait_until
from support.profile import Daemon, Workload, report_of
from support.prometheus import Prometheus, free_port

# More than the test takes: a range that has all of it.
RANGE = "1h"

# Ratios of two counters over the same samples: only the rounding of doubles is between them.
ROUNDING = 1e-9

CONTRACT = {
    "jxperf_checked_bytes_total", "jxperf_inefficient_bytes_total", "jxperf_checked_accesses_total",
    "jxperf_inefficient_accesses_total", "jxperf_window_inefficiency_ratio", "jxperf_window_end_timestamp_seconds",
    "jxperf_numa_accesses_total", "jxperf_numa_remote_accesses_total", "jxperf_windows_total",
    "jxperf_attach_failures_total", "jxperf_dropped_events_total", "jxperf_overhead_ratio", "jxperf_build_info",
    "jxperf_attach_duration_seconds_bucket", "jxperf_attach_duration_seconds_sum",
    "jxperf_attach_duration_seconds_count", "jxperf_store_available", "jxperf_store_failing", "jxperf_store_bytes",
    "jxperf_store_windows", "jxperf_store_windows_written_total", "jxperf_windows_running", "jxperf_history_bytes",
    "process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds", "process_max_fds",
    "process_start_time_seconds", "jxperf_target_cpu_seconds_total", "jxperf_overhead_cpu_seconds_total",
    "jxperf_setup_cpu_seconds_total", "jxperf_wasted_cpu_seconds_total", "jxperf_window_seconds_total",
    "jxperf_own_cpu_seconds_total", "jxperf_config_info", "jxperf_config_last_reload_successful",
    "jxperf_store_log_bytes", "jxperf_store_set_aside_files", "jxperf_control_connections_refused_total",
}


class Scraped:
    """Five windows of one application, with a daemon that ends in order after two and one that is killed after the
    fourth."""

    def __init__(self):
        self.address = f"127.0.0.1:{free_port()}"
        self.state = os.path.join(make_directory(), "state")
        self.start = time.time()
        self.prometheus = Prometheus(self.address)
        self.target = Workload(jdks()[0], "SilentStore")
        self.reports = []
        self.run_windows(2, signal.SIGTERM)
        self.run_windows(2, signal.SIGKILL)
        self.run_windows(1, None)

    def run_windows(self, count, end):
        daemon = Daemon(http=self.address, state=self.state)
        wait_until(lambda: self.prometheus.value("up") == 1, "a scrape")
        for _ in range(count):
            self.reports.append(report_of(daemon.ctl("attach", str(self.target.pid), "--duration", "3s",
                                                     "--kinds", "dead-store,silent-store,silent-load",
                                                     "--format", "json")))
            wait_until(self.has_all, "a scrape of the window's end")
        if end:
            os.kill(daemon.pid, end)
            daemon.child.wait()
            wait_until(lambda: self.prometheus.value("up") == 0, "a scrape of nothing")

    def has_all(self):
        return self.prometheus.value("jxperf_windows_total") == len(self.reports)

    def summed(self, field):
        """Over all reports, by kind."""
        sums = {}
        for report in self.reports:
            for kind in report["inefficiency"]:
                sums[kind["kind"]] = sums.get(kind["kind"], 0) + kind[field]
        return sums


_scraped = []


def scraped():
    if not _scraped:
        _scraped.append(Scraped())
    return _scraped[0]


def by_kind(values):
    return {dict(labels)["kind"]: value for labels, value in values.items()}


def ends(name):
    """First and last values that were scraped, by kind. The first is 0, unless the first window ended before a scrape."""
    return tuple(by_kind(scraped().prometheus.query(f"{which}_over_time({name}[{RANGE}])")) for which in ("min", "max"))


@test
def the_rate_of_waste_is_the_fraction_of_all_windows_reports():
    checked, wasteful = scraped().summed("checked_bytes"), scraped().summed("wasteful_bytes")
    before = {"checked": ends("jxperf_checked_bytes_total")[0], "wasteful": ends("jxperf_inefficient_bytes_total")[0]}
    ratios = by_kind(scraped().prometheus.query(
        f"rate(jxperf_inefficient_bytes_total[{RANGE}]) / rate(jxperf_checked_bytes_total[{RANGE}])"))
    assert sum(checked.values()) > 0 and wasteful["silent_store"] > 0, (checked, wasteful)
    for kind, bytes_checked in checked.items():
        grown = bytes_checked - before["checked"][kind]
        if grown:
            truth = (wasteful[kind] - before["wasteful"][kind]) / grown
            assert abs(ratios[kind] - truth) < ROUNDING, (kind, ratios, checked, wasteful, before)


@test
def counters_grow_by_what_reports_say_and_by_nothing_else():
    fields = {"jxperf_checked_bytes_total": "checked_bytes", "jxperf_inefficient_bytes_total": "wasteful_bytes"}
    for name, field in fields.items():
        last = ends(name)[1]
        for kind, value in scraped().summed(field).items():
            assert last[kind] == value, (name, kind, last, value)


@test
def costs_and_waste_are_those_of_the_reports():
    quality = [report["quality"] for report in scraped().reports]
    for name, field in (("target", "target_cpu_s"), ("overhead", "overhead_cpu_s"), ("setup", "setup_cpu_s")):
        total, truth = scraped().prometheus.value(f"jxperf_{name}_cpu_seconds_total"), sum(q[field] for q in quality)
        assert 0 < truth and abs(total - truth) < 1e-6 * truth + 1e-6 * len(quality), (name, total, truth)
    wasted = by_kind(scraped().prometheus.query("jxperf_wasted_cpu_seconds_total"))
    for kind, seconds in wasted.items():
        shares = [k["cpu_share"] for report in scraped().reports for k in report["inefficiency"] if k["kind"] == kind]
        target = scraped().prometheus.value("jxperf_target_cpu_seconds_total")
        assert seconds <= max(shares) * target * (1 + ROUNDING), (kind, seconds, shares, target)
    assert wasted["silent_store"] > 0, wasted
    own = scraped().prometheus.value("jxperf_own_cpu_seconds_total")
    assert own > scraped().prometheus.value("process_cpu_seconds_total"), own


@test
def no_counter_that_is_kept_was_reset():
    for name in ("jxperf_checked_bytes_total", "jxperf_inefficient_accesses_total", "jxperf_windows_total",
                 "jxperf_attach_failures_total", "jxperf_dropped_events_total", "jxperf_attach_duration_seconds_count",
                 "jxperf_overhead_cpu_seconds_total", "jxperf_wasted_cpu_seconds_total"):
        resets = scraped().prometheus.query(f"resets({name}[{RANGE}])")
        assert resets and not any(resets.values()), (name, resets)
    # The test would see one: this begins with each daemon.
    assert scraped().prometheus.value(f"resets(process_cpu_seconds_total[{RANGE}])") == 2


@test
def exemplars_name_the_windows():
    found = {}
    for series in scraped().prometheus.api("query_exemplars", query="jxperf_checked_bytes_total",
                                           start=scraped().start, end=time.time() + 1):
        for exemplar in series["exemplars"]:
            key = exemplar["labels"]["window_id"], series["seriesLabels"]["kind"]
            found[key] = max(found.get(key, 0), float(exemplar["value"]))
    wanted = {
        (report["window"]["id"], kind["kind"]): kind["checked_bytes"]
        for report in scraped().reports for kind in report["inefficiency"] if kind["checked_bytes"]
    }
    assert wanted and found == wanted, (found, wanted)


@test
def every_metric_that_was_promised_is_there():
    names = set(scraped().prometheus.api("label/__name__/values"))
    assert CONTRACT <= names, CONTRACT - names
    assert scraped().prometheus.value("jxperf_attach_duration_seconds_count") == len(scraped().reports)
    assert scraped().prometheus.value("jxperf_store_windows") == len(scraped().reports)
    assert scraped().prometheus.value("jxperf_store_available") == 1


run()
