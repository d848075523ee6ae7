"""Writes ../expr/*.json: python3 tests/vectors/make"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import dates  # noqa: E402
import decimals  # noqa: E402

AREAS = (dates, decimals)

if __name__ == "__main__":
    folder = pathlib.Path(__file__).resolve().parent.parent / "expr"
    folder.mkdir(exist_ok=True)
    counts = {module.__name__: module.area().write(folder) for module in AREAS}
    print(counts, sum(counts.values()))
