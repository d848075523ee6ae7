#!/usr/bin/env python3
"""Tables for docs/scale.md from `cairn-bench scale-instance --json`.

scale_instance.py AFTER.json [BEFORE.json]     Markdown, one table for each dimension
scale_instance.py --csv AFTER.json [BEFORE]    the same figures for a chart
"""

import json
import sys


def figures(path):
    """{dimension: {size: row}} in the order of the file."""
    found = {}
    for row in json.load(open(path))["rows"]:
        found.setdefault(row["variant"], {})[row["extra"]["size"]] = row
    return found


def short(value):
    if value >= 100:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.3g}"


def cpu_us(row):
    return row["cpu_s_per_1000"] * 1000


def cells(row):
    if row is None:
        return ["", "", ""]
    if "refused" in row["extra"]:
        return ["refused", "", ""]
    return [short(cpu_us(row)), short(row["wal_bytes_each"]), short(row["p99_ms"])]


def growth(rows):
    measured = [row for row in rows.values() if "refused" not in row["extra"]]
    return f"{cpu_us(measured[-1]) / cpu_us(measured[0]):.1f}×" if len(measured) > 1 else ""


def main():
    arguments = sys.argv[1:]
    csv = arguments[:1] == ["--csv"]
    paths = arguments[1:] if csv else arguments
    if not paths or len(paths) > 2:
        sys.exit(__doc__)
    after = figures(paths[0])
    before = figures(paths[1]) if len(paths) == 2 else {}
    if csv:
        print("dimension,size,build,cpu_us,log_bytes,p99_ms")
        for build, measured in (("after", after), ("before", before)):
            for name, rows in measured.items():
                for size, row in rows.items():
                    if "refused" not in row["extra"]:
                        print(f"{name},{size},{build},{cpu_us(row):.1f},{row['wal_bytes_each']:.0f},{row['p99_ms']:.3f}")
        return
    for name, rows in after.items():
        print(f"| {name} | CPU, µs | bytes | p99, ms |" + (" CPU before | bytes before | p99 before |" if before else ""))
        print("| --- |" + " --: |" * (6 if before else 3))
        for size, row in rows.items():
            line = [short(size)] + cells(row)
            if before:
                line += cells(before.get(name, {}).get(size))
            print("| " + " | ".join(line) + " |")
        line = ["last ÷ first", growth(rows), "", ""]
        if before:
            line += [growth(before.get(name, {})), "", ""]
        print("| " + " | ".join(line) + " |\n")


if __name__ == "__main__":
    main()
