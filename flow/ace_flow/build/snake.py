# SPDX-License-Identifier: Apache-2.0
"""Snakemake, made to rest: python -m ace_flow snake, with Snakemake's own arguments.

The scheduler of Snakemake 9 looks for work again at once when it has found none that fits the free cores, and keeps
up to half a core busy with it as long as a long step runs. Here it waits a moment first.
"""

import time

from snakemake.cli import main
from snakemake.scheduling.job_scheduler import JobScheduler

PAUSE = 0.2  # seconds

_select = JobScheduler.job_selector


def _select_or_rest(self: JobScheduler, jobs: set) -> set:
    selected = _select(self, jobs)
    if not selected:
        time.sleep(PAUSE)
    return selected


JobScheduler.job_selector = _select_or_rest

if __name__ == "__main__":
    main()
