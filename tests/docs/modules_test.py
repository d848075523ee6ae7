#!/usr/bin/env python3
"""modules_test.py SOURCE_DIR: each module declares the modules that its files include, and no others. One header of each opens with
a short text: what the module is for, what it may use, and what to read first.

A module is a folder of src; its declaration is the USES list of `cairn_folder` in CMakeLists.txt. The linker refuses only
modules that no declared module uses either, so without this test the lists would hide most dependencies.
"""
import glob, os, re, sys

os.chdir(sys.argv[1])
# The headers of include/cairn belong to the modules that implement them.
public = {"definition": "definition", "flow_steps": "definition", "flow_values": "definition", "engine": "node", "work": "instance", "worker": "worker",
          "transport": "transport", "sink": "outbox"}
declared = {}
for name, uses in re.findall(r"cairn_folder\((\w+)[^)]*?USES ([^)]*)\)", re.sub(r"#.*", "", open("CMakeLists.txt").read())):
    declared[name] = {use[len("cairn_"):] for use in uses.split() if use.startswith("cairn_")}

wrong = []
for name, uses in declared.items():
    included = {}
    headers = [f"include/cairn/{header}.h" for header, module in public.items() if module == name]
    for file in sorted(glob.glob(f"src/{name}/**/*", recursive=True)) + headers:
        if not file.endswith((".h", ".cc")) or file.endswith(("_test.cc", "_test.h")):
            continue
        for folder, header in re.findall(r'^#include "(\w+)/(?:[\w/]*/)?(\w+)\.\w+"', open(file).read(), re.M):
            module = public.get(header, header) if folder == "cairn" else folder
            if module in declared and module != name:
                included.setdefault(module, file)
    for module in sorted(set(included) - uses):
        wrong.append(f"CMakeLists.txt: cairn_folder({name}) does not declare cairn_{module}, which {included[module]} includes")
    for module in sorted(uses & set(declared) - set(included)):
        wrong.append(f"CMakeLists.txt: cairn_folder({name}) declares cairn_{module}, which none of its files includes")

# The text of the header: its first paragraph, of about five sentences.
for name in declared:
    opening = [found.group(0) for path in glob.glob(f"src/{name}/*.h") if (found := re.match(rf"// src/{name} (?:.|\n(?=// ))*", open(path).read()))]
    if len(opening) != 1:
        wrong.append(f"src/{name}: {len(opening)} headers open with a text that introduces the module")
        continue
    sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z`])", " ".join(line.removeprefix("//").strip() for line in opening[0].splitlines()))
    if not 3 <= len(sentences) <= 6:
        wrong.append(f"src/{name}: {len(sentences)} sentences introduce the module; write about five, and the rest below them")
    for needed in ("use", "[Rr]ead"):
        if not re.search(rf"\b{needed}", opening[0]):
            wrong.append(f"src/{name}: the text that introduces the module does not say what " + ("it may use" if needed == "use" else "to read first"))
if len(declared) < 20:
    wrong.append(f"CMakeLists.txt: only {len(declared)} modules were found")
print("\n".join(wrong) if wrong else f"{len(declared)} modules declare what they include")
sys.exit(1 if wrong else 0)
