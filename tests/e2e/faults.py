#!/usr/bin/env python3
"""Sixty windows, half of them cut short by a fault: a short `make soak-faults`, by a seed that has each fault twice."""
import os

from lib import note, run, test
from support.faults import FAULTS, Faults

SEED = int(os.environ.get("FAULTS_SEED", "38"))


@test
def windows_that_are_cut_short_harm_no_jvm_and_are_all_accounted_for():
    faults = Faults(60, SEED)
    account = faults.run()
    note(f"seed {SEED}: {account}; {dict(faults.happened)}; {faults.lives} daemons of at most {faults.most_mib:.0f} MiB")
    assert "FAULTS_SEED" in os.environ or min(faults.happened[f.__name__] for f in FAULTS) >= 2, faults.happened


run()
