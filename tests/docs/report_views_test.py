#!/usr/bin/env python3
"""report_views_test.py SOURCE_DIR: no statement of a store uses a view that is made for reports. A view parses snapshots, and inside a commit it
shows what the commit has not written yet."""
import pathlib, re, sys

source = pathlib.Path(sys.argv[1])
found = []
for store in ("postgres", "sqlite"):
    folder = source / "src/store" / store / "sql"
    views = re.findall(r"^CREATE VIEW (?:cairn\.)?(\w+)", (folder / "schema.sql").read_text(), re.M)
    if not views:
        sys.exit(f"{folder}/schema.sql has no views")
    for file in sorted(folder.glob("statements*.sql")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if not line.startswith("--"):
                found += [f"{file.relative_to(source)}:{number}: {name}" for name in views if re.search(rf"\b{name}\b", line)]
print("\n".join(found) or "no statement uses a view")
sys.exit(1 if found else 0)
