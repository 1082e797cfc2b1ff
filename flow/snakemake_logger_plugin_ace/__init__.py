# SPDX-License-Identifier: Apache-2.0
"""Progress of the flow: one line per finished step. Snakemake finds this module by its name."""

import re
import sys
import time
from logging import ERROR, LogRecord

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

# Steps that are over in a moment and say nothing.
SILENT = {"all", "models"}
# What Snakemake adds when a step has failed and has said why.
JOB_FAILED = re.compile(r"CalledProcessError|At least one job did not complete")


class LogHandler(LogHandlerBase):
    """Prints `[ 3/28] synth         aes-tower      21.4 s`."""

    def __post_init__(self) -> None:
        self._jobs: dict[int, tuple[str, str]] = {}
        self._started: dict[int, float] = {}
        self._begin = time.monotonic()
        self._total = 0
        self._done = 0

    def emit(self, record: LogRecord) -> None:
        event = getattr(record, "event", None)
        if event == LogEvent.RUN_INFO:
            self._run_info(record.stats)
        elif event == LogEvent.JOB_INFO:
            wildcards = dict(record.wildcards or {})
            name = wildcards.get("name", "")
            if "device" in wildcards:
                name += f" {wildcards['device']}"
            if "seed" in wildcards:
                name += f" seed {wildcards['seed']}"
            self._jobs[record.jobid] = (record.rule_name, name)
            self._started[record.jobid] = time.monotonic()
        elif event == LogEvent.JOB_FINISHED:
            self._finished(record.job_id)
        elif event in (LogEvent.JOB_ERROR, LogEvent.GROUP_ERROR, LogEvent.SHELLCMD):
            pass  # the step has said what went wrong
        elif record.levelno >= ERROR and record.getMessage() and not JOB_FAILED.search(record.getMessage()):
            print(record.getMessage(), file=sys.stderr, flush=True)

    def _run_info(self, stats: dict) -> None:
        self._total = sum(n for rule, n in stats.items() if rule not in SILENT and rule != "total")

    def _finished(self, job: int) -> None:
        rule, name = self._jobs.get(job, ("", ""))
        if not rule or rule in SILENT:
            return
        self._done += 1
        width = len(str(self._total))
        seconds = time.monotonic() - self._started[job]
        count = f"[{self._done:{width}}/{self._total}]"
        print(f"{count} {rule:14} {name:28} {seconds:6.1f} s", flush=True)

    @property
    def writes_to_stream(self) -> bool:
        return True

    @property
    def writes_to_file(self) -> bool:
        return False

    @property
    def has_filter(self) -> bool:
        return True

    @property
    def has_formatter(self) -> bool:
        return True

    @property
    def needs_rulegraph(self) -> bool:
        return False
