#!/usr/bin/env python3
"""changelog.py SOURCE_DIR [--sort]: CHANGELOG.md is for users: each version has the sections Added, Changed, Fixed and Security, in this order.

A section is not empty, and each entry is in one. --sort puts the entries that are in no section into the one that their words suggest, before
the others of it; read the result. A changelog without any section is left alone.
"""
import os, re, sys

SECTIONS = ["Added", "Changed", "Fixed", "Security"]
HEADS = "\n".join(f"### {name}" for name in SECTIONS)


def section_of(entry):
    words = " ".join(entry.split())
    if re.match(r"- (Fixed: )?(Security|Webhooks|Secrets|Sessions?\b|Signing in|Passwords|Tasks: (reading|to be)|Runs: a lease belongs|Idempotency keys and ids of|API keys|"
                r"`cairn serve` confines|`serve` refuses a settings file|The roles of a token|Server: listening|Server: callers|`GET /` shows no|The build writes a bill|"
                r"Commands escape)", words) or re.search(r"credential|Landlock|secret|audit trail is broken|OpenID Connect", words[:120]):
        return "Security"
    if words.startswith("- Fixed") or re.search(r"\bBefore,|\bno longer\b|crash", words):
        return "Fixed"
    if re.search(r"\(before: |are errors|is an error|is refused|are refused|refuses?\b|is \d{3}\b|at most|now\b|renamed|one name|schema \d\d", words) and "New" not in words:
        return "Changed"
    return "Added"


def entries_of(text):
    """The entries of a list, each with its further lines."""
    return re.findall(r"^- .*\n(?:(?!- |#|\n).*\n)*", text, re.M)


def sort(text):
    """The same changelog with every entry in a section."""
    head, *versions = re.split(r"^(?=## )", text, flags=re.M)
    done = [head]
    for version in versions:
        title, _, body = version.partition("\n")
        loose, *parts = re.split(r"^(?=### )", body, flags=re.M)
        found = {name: "" for name in SECTIONS}
        for entry in entries_of(loose):
            found[section_of(entry)] += re.sub(r"^- Fixed: (.)", lambda one: "- " + one.group(1).upper(), entry)
        for part in parts:
            name, _, rest = part.partition("\n")
            found[name[4:].strip()] += rest.strip("\n") + "\n"
        done.append(f"{title}\n" + "".join(f"\n### {name}\n\n{listed}" for name, listed in found.items() if listed.strip()) + "\n")
    return "".join(done).rstrip("\n") + "\n"


def check(text):
    if "\n### " not in text:
        return []
    wrong = []
    for version in re.split(r"^(?=## )", text, flags=re.M)[1:]:
        title = version.split("\n", 1)[0]
        loose, *parts = re.split(r"^(?=### )", version, flags=re.M)
        names = [part.split("\n", 1)[0][4:] for part in parts]
        if entries_of(loose):
            wrong.append(f"{title}: an entry is in no section: {entries_of(loose)[0][:60].strip()} (changelog.py --sort)")
        if names != [name for name in SECTIONS if name in names]:
            wrong.append(f"{title}: the sections are {names}, not some of {SECTIONS} in this order")
        wrong += [f"{title}: {name} is empty" for name, part in zip(names, parts) if not entries_of(part)]
    return wrong


sample = "# C\n\n## Unreleased\n\n- Fixed: x crashed.\n  More.\n- A new command.\n\n### Added\n\n- Old.\n"
assert len(check(sample)) == 1 and check(sort(sample)) == [] and sort(sample) == "# C\n\n## Unreleased\n\n### Added\n\n- A new command.\n- Old.\n\n### Fixed\n\n- X crashed.\n  More.\n", sort(sample)
assert len(check("# C\n\n## A\n\n### Fixed\n\n### Added\n\n- a\n")) == 2
path = os.path.join(sys.argv[1], "CHANGELOG.md")
with open(path, encoding="utf-8") as file:
    page = file.read()
if "--sort" in sys.argv:
    done = sort(page)
    assert sorted(re.sub(r"^- Fixed: (.)", lambda one: "- " + one.group(1).upper(), entry) for entry in entries_of(page)) == sorted(entries_of(done)), "an entry is lost"
    with open(path, "w", encoding="utf-8") as file:
        file.write(done)
    page = done
problems = check(page)
for one in problems:
    print(f"CHANGELOG.md: {one}")
print(f"{len(entries_of(page))} entries, {len(problems)} problems")
sys.exit(1 if problems else 0)
