"""Writes ../expr/*.json: python3 tests/vectors/make"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import containers  # noqa: E402
import dates  # noqa: E402
import decimals  # noqa: E402
import faults  # noqa: E402
import json_values  # noqa: E402
import numbers_mixed  # noqa: E402
import texts  # noqa: E402

AREAS = (containers, dates, decimals, faults, json_values, numbers_mixed, texts)

if __name__ == "__main__":
    folder = pathlib.Path(__file__).resolve().parent.parent / "expr"
    folder.mkdir(exist_ok=True)
    counts = {module.__name__: module.area().write(folder) for module in AREAS}
    print(counts, sum(counts.values()))
