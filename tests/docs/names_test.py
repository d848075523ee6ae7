#!/usr/bin/env python3
"""names_test.py SOURCE_DIR: every file, class, function and column that docs/architecture.md and docs/glossary.md name exists.

A name is what stands between backticks. Paths and file names must be in the tree, routes in src/api, `Class::member` in the class or one of its bases, other
names as a word in src or include. Also, the first header that the page names for a module must open with the text that introduces the module."""
import fnmatch, os, re, sys

PAGES = ["docs/architecture.md", "docs/glossary.md"]
FOLDERS = ["src", "include", "tests", "bench", "docs", "examples"]
SOURCE_ENDS = (".h", ".cc", ".sql")
FILE = re.compile(r"[\w*./-]+\.(?:h|cc|md|py|sql|yaml|sh)")
FOLDER = re.compile(r"(?:(?:src|include|tests|bench|docs|examples)/[\w*./-]+|[\w-]+/)")
BRACE = re.compile(r"[{}]")
# Words of other standards, and forms that mean many names.
FOREIGN = {"ETag", "COMMIT", "NAME", "TIME"}


class Tree:
    """The text of the sources, and the paths of all files."""

    def __init__(self, paths, read):
        self.paths = set(paths)
        self.folders = {folder for path in paths for folder in ancestors(path)}
        self.read = read
        sources = {path: read(path) for path in paths if path.startswith(("src/", "include/")) and path.endswith(SOURCE_ENDS) and "_test." not in path}
        self.code = "\n".join(sources.values())
        self.words = set(re.findall(r"\w+", self.code))
        self.qualified = set(re.findall(r"\b(?=(\w+)::~?(\w+))", self.code))
        self.classes = {}  # name → [(bases, body)]
        for path, text in sources.items():
            if path.endswith(".sql"):
                continue
            for found in re.finditer(r"\b(?:class|struct|enum class|enum|namespace)\s+(?:\[\[\w+\]\]\s+)?([\w:]+)(?:\s+final)?\s*(?::(?!:)([^{;]*))?\{", text):
                bases = re.findall(r"\w+", found.group(2) or "")
                self.classes.setdefault(found.group(1).split("::")[-1], []).append((bases, body_from(text, found.end())))
        self.types = set(self.classes) | set(re.findall(r"\b(?:class|struct|using)\s+(\w+)", self.code))

    def has_member(self, owner, member, depth=0):
        if (owner, member) in self.qualified:
            return True
        for bases, body in self.classes.get(owner, []):
            if re.search(rf"\b{member}\b", body) or (depth < 4 and any(self.has_member(base, member, depth + 1) for base in bases if base != owner)):
                return True
        return False

    def fault(self, name):
        """What is wrong with the name; nothing if it exists or is no name."""
        if FILE.fullmatch(name) or FOLDER.fullmatch(name):
            plain = name.rstrip("/")
            pattern = plain if plain.startswith(tuple(folder + "/" for folder in FOLDERS)) else "*/" + plain
            if any(fnmatch.fnmatchcase(path, pattern) for path in self.paths | self.folders):
                return None
            return "there is no such file"
        if name.startswith("/v1/"):
            return None if name in self.code else "there is no such route"
        name = name.removesuffix("()")
        if name in FOREIGN or not re.fullmatch(r"[A-Za-z_][\w:]*", name):
            return None
        if "::" in name:
            *owners, member = name.split("::")
            return None if self.has_member(owners[-1], member) else "the class does not have it"
        if re.fullmatch(r"[A-Z]\w*[a-z]\w*", name):
            return None if name in self.types else "there is no such type"
        return None if name in self.words else "no source has this word"


def ancestors(path):
    parts = path.split("/")
    return ["/".join(parts[:n]) for n in range(1, len(parts))]


def body_from(text, at):
    depth = 1
    for brace in BRACE.finditer(text, at):
        depth += 1 if brace.group() == "{" else -1
        if depth == 0:
            return text[at : brace.start()]
    return text[at:]


def check(tree):
    faults, count = [], 0
    for page in PAGES:
        text = tree.read(page)
        for name in sorted(set(re.findall(r"`([^`\n]+)`", text))):
            count += 1
            if why := tree.fault(name):
                faults.append(f"{page}: `{name}`: {why}")
    for folder, header in re.findall(r"^\| `([\w/]+)` \|.*\| `([\w./]+)`[^|]*\|$", tree.read(PAGES[0]), re.M):
        count += 1
        path = header if "/" in header else f"{folder}/{header}"
        if path not in tree.paths or not tree.read(path).startswith(f"// {folder} "):
            faults.append(f"{PAGES[0]}: {path} does not open with the text that introduces {folder}")
    return faults, count


# The check itself can fail.
sample = {
    "src/a/a.h": "// src/a adds.\nclass Base {\n void inherited();\n};\nclass Adder : public Base {\n public:\n  int add(int a);\n};\n",
    "docs/architecture.md": "| `src/a` | adds | `a.h` |\n| `src/b` | - | `gone.h` |\n`Adder::add` `Adder::inherited` `Adder::gone` `Missing` `add` `lost_word` `src/a/a.cc` `/v1/no` `x + y`",
    "docs/glossary.md": "",
}
faults, _ = check(Tree(list(sample), sample.get))
wrong = {re.search(r"md: (?:`.*?`|.*? (?=does not))", fault).group(0)[4:].strip("` ") for fault in faults}
assert wrong == {"gone.h", "src/b/gone.h", "Adder::gone", "Missing", "lost_word", "src/a/a.cc", "/v1/no", "src/b"}, wrong

root = os.path.abspath(sys.argv[1])


def read(path):
    with open(os.path.join(root, path), errors="replace") as file:
        return file.read()


paths = []
for folder in FOLDERS:
    for place, folders, files in os.walk(os.path.join(root, folder)):
        folders[:] = [one for one in folders if one != "node_modules"]
        paths += [os.path.relpath(os.path.join(place, file), root) for file in files]
faults, count = check(Tree(paths, read))
for fault in faults:
    print("not so:", fault)
print(f"{count - len(faults)} passed, {len(faults)} failed")
sys.exit(1 if faults else 0)
