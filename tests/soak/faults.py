"""Attaches to JVMs on two JDKs again and again, half of the windows cut short by a fault, and accounts for each.

  FAULTS_CYCLES (default 1000)   FAULTS_SEED (default: the time; it is printed)
"""
import os
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/e2e"))
from support.faults import Faults  # noqa: E402

CYCLES = int(os.environ.get("FAULTS_CYCLES", "1000"))
SEED = int(os.environ.get("FAULTS_SEED", str(int(time.time()))))

print(f"seed {SEED}, {CYCLES} windows", flush=True)
start = time.monotonic()
faults = Faults(CYCLES, SEED)
account = faults.run(lambda text: print(f"{time.monotonic() - start:6.0f} s  {text}", flush=True))
for name, count in sorted(faults.happened.items()):
    print(f"{name:<18}{count:>6}")
for name, count in account.items():
    print(f"{name:<18}{count:>6}")
print(f"{faults.lives} daemons, of at most {faults.most_mib:.0f} MiB each")
