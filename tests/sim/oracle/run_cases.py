#!/usr/bin/env python3
"""Lives random cases with a driver and judges them as they come: run_cases.py DRIVER --workflows A..B [--environments N]

Several processes share the work; the differences and the coverage of all are printed together.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import check  # noqa: E402


def judge_range(driver, first, last, environments):
    """Counts, coverage and the differences of one range of workflow seeds."""
    command = [driver, "--workflows", f"{first}..{last}", "--environments", str(environments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    coverage, counts, differences = {}, collections.Counter(), []
    for line in process.stdout:
        case = json.loads(line)
        difference = check.judged(case, coverage, counts)
        if difference is not None and len(differences) < 5:
            differences.append(f"{check.name_of(case)}\n  {difference}")
    if process.wait() != 0:
        counts["different"] += 1
        differences.append(f"{' '.join(command)} ended with {process.returncode}")
    return counts, coverage, differences


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("driver")
    parser.add_argument("--workflows", default="1..300", metavar="A..B")
    parser.add_argument("--environments", type=int, default=1, metavar="N")
    parser.add_argument("--processes", type=int, default=1, metavar="N")
    parser.add_argument("--piece", type=int, default=250, metavar="N", help="workflow seeds a process takes at a time")
    arguments = parser.parse_args()
    first, last = (int(number) for number in arguments.workflows.split(".."))

    started = time.monotonic()
    coverage, counts, shown = collections.Counter(), collections.Counter(), 0
    pieces = [(at, min(last, at + arguments.piece - 1)) for at in range(first, last + 1, arguments.piece)]
    with concurrent.futures.ProcessPoolExecutor(arguments.processes) as pool:
        tasks = [pool.submit(judge_range, arguments.driver, a, b, arguments.environments) for a, b in pieces]
        for done, task in enumerate(concurrent.futures.as_completed(tasks), 1):
            its_counts, its_coverage, differences = task.result()
            counts.update(its_counts)
            coverage.update(its_coverage)
            for difference in differences[:max(0, 20 - shown)]:
                print(difference, flush=True)
                shown += 1
            if sys.stderr.isatty():
                print(f"\r{done} of {len(pieces)} pieces", end="", file=sys.stderr, flush=True)
    print(f"{time.monotonic() - started:.0f} s; replay one with {arguments.driver} --only WORKFLOW,ENVIRONMENT")
    return check.report(counts, coverage, True)


if __name__ == "__main__":
    sys.exit(main())
