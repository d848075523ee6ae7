#!/usr/bin/env python3
"""alternate.py BEFORE AFTER [--rounds N] [--store URL] [WORKLOAD…] [-- FLAG…]: two builds in alternating runs on this machine.

BEFORE and AFTER are the programs with the workloads: cairn-bench, or a cairn binary that has the command `bench`. Every
round runs each workload once with each program, and the order changes with the round. The table has the medians and the
median of the ratios of the rounds. A ratio above 1 means that AFTER is better: more per second, or less CPU time. Flags after
`--` go to both programs. The exit status is 1 if AFTER loses more than 3 % in rate and in CPU time."""
import json, os, statistics, subprocess, sys, tempfile

WORKLOADS = ["one-wait", "five-checkpoints", "W1", "W2", "W3", "W4", "W5", "W7", "http-one-wait", "http-W1", "http-W2", "http-W3", "http-W7"]
LOSS_MAX = 0.03


def command(program):
    return [program] if os.path.basename(program).startswith("cairn-bench") else [program, "bench"]


def run(program, workload, store, flags):
    """The rows of one run: {what: (rate, CPU seconds for 1 000)}. The ceilings are not ours and are left out."""
    with tempfile.TemporaryDirectory(prefix="cairn-alternate-") as folder:
        done = subprocess.run([*command(program), workload, "--store", store, "--dir", folder, "--repeats", "1", "--json", *flags],
                              capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{program} {workload} failed:\n{done.stderr[-2000:]}")
    rows = {}
    for row in json.loads(done.stdout)["rows"]:
        if row["workload"] != "ceiling" and row["rate"] > 0:
            rows[(row["workload"], row["variant"], row["outstanding"])] = (row["rate"], row["cpu_s_per_1000"])
    return rows


def main():
    args, flags = sys.argv[1:], []
    if "--" in args:
        at = args.index("--")
        args, flags = args[:at], args[at + 1:]
    rounds, store, names = 5, "sqlite", []
    while args:
        word = args.pop(0)
        if word in ("-h", "--help"):
            print(__doc__)
            return
        if word == "--rounds": rounds = int(args.pop(0))
        elif word == "--store": store = args.pop(0)
        else: names.append(word)
    if len(names) < 2:
        sys.exit(__doc__)
    before, after, *workloads = names
    seen, lost = {}, []
    print(f"| workload | outstanding | before /s | after /s | ratio | CPU before | after | ratio |\n| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for workload in workloads or WORKLOADS:
        found = {}
        for at in range(rounds):
            got = {}
            for which in (("before", "after") if at % 2 == 0 else ("after", "before")):
                got[which] = run(before if which == "before" else after, workload, store, flags)
            for key in got["before"].keys() & got["after"].keys():
                found.setdefault(key, []).append((got["before"][key], got["after"][key]))
            print(f"{workload}: round {at + 1} of {rounds}", file=sys.stderr, flush=True)
        for key, pairs in sorted(found.items()):
            rate = [statistics.median(pair[side][0] for pair in pairs) for side in (0, 1)]
            cpu = [statistics.median(pair[side][1] for pair in pairs) for side in (0, 1)]
            faster = statistics.median(pair[1][0] / pair[0][0] for pair in pairs)
            cheaper = statistics.median(pair[0][1] / pair[1][1] for pair in pairs) if all(pair[1][1] > 0 for pair in pairs) else 1.0
            name = key[0] + (f", {key[1]}" if key[1] else "")
            print(f"| {name} | {key[2]} | {rate[0]:.0f} | {rate[1]:.0f} | {faster:.2f} | {cpu[0]:.3f} | {cpu[1]:.3f} | {cheaper:.2f} |", flush=True)
            if faster < 1 - LOSS_MAX and cheaper < 1 - LOSS_MAX:
                lost.append(f"{name} at {key[2]}: rate x{faster:.2f}, CPU x{cheaper:.2f}")
    for line in lost:
        print(f"lost more than 3 %: {line}")
    sys.exit(1 if lost else 0)


main()
