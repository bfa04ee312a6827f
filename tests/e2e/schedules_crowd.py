"""A crowd of JVMs under one schedule with less room than it wants: the short form of `make soak-schedules`."""
# Takes half a place: it waits most of the time.
from lib import note, run, test
from support.crowd import Crowd, Settings
from support.footprint import MIB

# 14 windows of 1 s, one at a time, do not fit 12 s, so some are missed.
SETTINGS = Settings(jvms=12, late=2, every_s=12, window_s=1, at_once=1, warm_up_s=10, epochs=3, host_budget=2)
MEMORY_MOST = 64 * MIB

_crowd = []


def crowd():
    if not _crowd:
        c = Crowd(SETTINGS)
        _crowd.append((c, c.run()))
    return _crowd[0]


@test
def every_window_is_run_once_or_counted_as_missed():
    c, _ = crowd()
    assert c.account() >= SETTINGS.epochs
    assert c.missed["limit"] > 0, c.missed


@test
def windows_that_began_have_ended_well():
    crowd()[0].assert_all_ended_well()


@test
def limits_are_kept():
    crowd()[0].assert_limits_were_kept()
    crowd()[0].assert_budget_was_kept()


@test
def the_daemon_stays_small():
    _, cost = crowd()
    note(f"{100 * cost.cpu_share:.2f}% of one processor; memory (PSS) {cost.mean_pss / MIB:.1f} MiB on average, "
         f"{cost.most_pss / MIB:.1f} at most (RSS {cost.most_rss / MIB:.1f})")
    assert cost.most_pss < MEMORY_MOST, cost


run()
