"""64 JVMs under one schedule for ten minutes: every window accounted for, the limits kept, and what the daemon costs:
all of its processes together, engine, broker and whatever these start.

  SOAK_MINUTES (default 10)   SOAK_JVMS (default 64)
"""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))
from lib import note  # noqa: E402
from support.crowd import Crowd, Settings  # noqa: E402
from support.footprint import MIB  # noqa: E402

MINUTES = float(os.environ.get("SOAK_MINUTES", "10"))
JVMS = int(os.environ.get("SOAK_JVMS", "64"))
LATE = 4
EVERY_S = 120
CPU_SHARE_MOST = 0.02  # of one processor
MEMORY_MOST = 64 * MIB

settings = Settings(jvms=JVMS - LATE, late=LATE, every_s=EVERY_S, window_s=5, at_once=4, warm_up_s=30,
                    epochs=max(2, round(60 * MINUTES / EVERY_S)), host_budget=2)
crowd = Crowd(settings)
cost = crowd.run()
note(f"{100 * cost.cpu_share:.2f}% of one processor; memory (PSS) {cost.mean_pss / MIB:.1f} MiB on average, "
     f"{cost.most_pss / MIB:.1f} at most (RSS {cost.most_rss / MIB:.1f})")
crowd.account()
crowd.assert_all_ended_well()
crowd.assert_limits_were_kept()
assert {w["pid"] for w in crowd.late_windows()} == {jvm.pid for jvm in crowd.late}, crowd.late_windows()
crowd.assert_budget_was_kept()
assert cost.cpu_share < CPU_SHARE_MOST, cost
assert cost.most_pss < MEMORY_MOST, cost
