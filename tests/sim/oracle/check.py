#!/usr/bin/env python3
"""Judges records of cases (../RECORD.md): check.py FILE… [--coverage] [--keep-going N]

Exit code 0 when the specification explains every case, 1 when one differs, 2 for a wrong call.
"""
import argparse
import collections
import json
import os
import sys
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from failure import Unspecified  # noqa: E402
from verdict import judge  # noqa: E402

MUST_REACH = {
    "step": ["call", "complete", "continue_with", "emit", "fail", "first", "if", "parallel", "reference", "repeat", "set",
             "signal", "subworkflow", "switch", "task", "try", "undo", "wait"],
    "lane": ["then", "else", "case", "default", "repeat for_each", "repeat while", "repeat times", "join all", "join any",
             "join N", "branch cancelled", "on_complete", "deadline", "deadline that does not interrupt",
             "deadline strand cancelled", "reminder", "on_timeout", "on_failure", "on_timeout of a signal",
             "kept signal used", "first won at once", "first: signal", "first: task", "first: wait", "catch", "finally",
             "finally after an unhandled error", "compensate", "on_error: suspend", "on_error: fail",
             "on_error: compensate", "suspended while undoing", "skipped by when", "complete in a branch",
             "complete in a deadline", "finally of complete", "incident at result", "held timer", "held signal",
             "held answer", "kept signal whose condition fails"],
    "error": ["business", "expression no_such_key", "expression no_such_overload", "expression not_boolean",
              "expression divide_by_zero", "expression path_conflict", "timeout call_timeout", "timeout signal_timeout",
              "transport connect_failed", "transport no_handler_registered", "definition unknown_workflow",
              "definition repeat_max", "definition invalid_input"],
    "event": ["start", "task", "signal", "timer", "run", "child", "cancel", "suspend", "resume", "retry", "skip", "edit",
              "refused", "broadcast", "continued"],
}


# Features that are in use at the same time: rare, so only a long run must reach each.
MEETINGS = ["waiting finally of complete in 1 branches", "waiting finally of complete in 2 branches",
            "held timer before a signal", "held signal before a timer", "result conflict of signal",
            "result conflict of task", "result conflict of call", "result conflict of subworkflow",
            "result conflict of first"]
LONG = 10_000  # cases


def cases_of(paths):
    for path in paths:
        with sys.stdin if path == "-" else open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield f"{path}:{number}", json.loads(line)


def name_of(case):
    note = f" ({case['note']})" if case.get("note") else ""
    return f"workflow seed {case['workflow_seed']}, environment seed {case['environment_seed']}{note}"


def judged(case, coverage, counts):
    """The difference of one case, None without one; counts it."""
    counts["cases"] += 1
    counts["events"] += len(case["history"])
    counts["instances"] += len(case["instances"])
    try:
        difference = judge(case, coverage)
    except Unspecified as silent:
        counts["silent"] += 1
        coverage[("silent", str(silent))] = coverage.get(("silent", str(silent)), 0) + 1
        return None
    except Exception:  # the judge itself broke: as bad as a difference
        difference = traceback.format_exc()
    if difference is not None:
        counts["different"] += 1
    return difference


def report(counts, coverage, with_coverage):
    """Prints the sum; the exit code."""
    print(f"{counts['cases']} cases, {counts['instances']} instances, {counts['events']} events: "
          f"{counts['different']} differ, {counts['silent']} without a verdict")
    must_reach = dict(MUST_REACH, meeting=MEETINGS if counts["cases"] >= LONG else [])
    missing = [f"{kind} {what}" for kind, all_of in must_reach.items() for what in all_of
               if (kind, what) not in coverage]
    if with_coverage:
        for kind in ("step", "lane", "error", "event", "meeting", "silent"):
            reached = sorted((what, count) for (of, what), count in coverage.items() if of == kind)
            print(f"{kind}: " + ", ".join(f"{what} {count}" for what, count in reached))
        if missing:
            print("never reached: " + ", ".join(missing))
    return 1 if counts["different"] or (with_coverage and missing) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE", help="JSONL; - for stdin")
    parser.add_argument("--coverage", action="store_true", help="print what was reached, fail when something was not")
    parser.add_argument("--keep-going", type=int, default=10, metavar="N", help="differences to show; 10 when absent")
    arguments = parser.parse_args()

    coverage, counts = {}, collections.Counter()
    for place, case in cases_of(arguments.files):
        difference = judged(case, coverage, counts)
        if difference is not None and counts["different"] <= arguments.keep_going:
            print(f"{place}: {name_of(case)}\n  {difference}")
    return report(counts, coverage, arguments.coverage)


if __name__ == "__main__":
    sys.exit(main())
