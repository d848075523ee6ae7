#!/usr/bin/env python3
"""tidy.py BUILD [FILE…]: clang-tidy over every source of the product, or over these; BUILD has a compile_commands.json.

Most of the time of clang-tidy is spent in the headers of the standard library, once for each file. So several files of a folder are read as
one: such as have no name in common. Where they do not compile together after all, they are read apart, so no file has to follow a rule.
What was clean is remembered in build/tidy by its preprocessed text, its flags and the checks, and is not read again until one of them changes."""
import concurrent.futures, hashlib, json, os, re, shlex, subprocess, sys, tempfile

AT_ONCE = 10  # files in one reading
ONLY_G = re.compile(r"-ftrivial-auto-var-init=zero|--param=ggc-min-heapsize=\d+|-Werror(=[a-z-]+)?|-Wno-(restrict|stringop-\w+)|-Winvalid-pch")


def commands(build):
    """The flags of each source, without those that clang 14 does not know."""
    found = {}
    for entry in json.load(open(os.path.join(build, "compile_commands.json"))):
        name = os.path.relpath(entry["file"])
        words = [word for word in shlex.split(entry["command"]) if not ONLY_G.fullmatch(word)]
        words = words[1:words.index("-o")]
        if "-include" in words:  # a precompiled header of g++
            at = words.index("-include")
            words[at:at + 2] = []
        found[name] = words
    return {name: flags for name, flags in found.items() if name.startswith("src/") and not name.endswith("_test.cc")}


def fingerprint(source, flags):
    """A hash of all that clang-tidy would read, comments included (they can silence a check); None where it cannot be preprocessed."""
    text = subprocess.run(["clang++", "-E", "-C", "-P", *flags, source], capture_output=True)
    if text.returncode != 0:
        return None
    return hashlib.sha256(b"\0".join([text.stdout, shlex.join(flags).encode(), open(".clang-tidy", "rb").read()])).hexdigest()


def tidy(files, flags):
    """What clang-tidy says about these files, read as one; None where they do not compile together."""
    with tempfile.NamedTemporaryFile("w", suffix=".cc", dir="build/tidy") as joined:
        joined.write("".join(f'#include "{os.path.abspath(name)}"\n' for name in files))
        joined.flush()
        one = joined.name if len(files) > 1 else files[0]
        known = fingerprint(one, flags)
        clean = os.path.join("build/tidy", f"{known}.clean")
        if known and os.path.exists(clean):
            return ""
        done = subprocess.run(["clang-tidy", "--quiet", "--warnings-as-errors=*", "--config-file=.clang-tidy", "--checks=-bugprone-suspicious-include",
                               "--header-filter=/(src|include)/", one, "--", *flags], capture_output=True, text=True)
        if len(files) > 1 and "clang-diagnostic-error" in done.stdout:
            return None
        if done.returncode != 0:
            return done.stdout
        if known:
            open(clean, "w").close()
        return ""


def own_names(path):
    """What a file declares outside of functions and classes; the lines that begin at the margin tell."""
    names = set()
    for line in open(path, encoding="utf-8"):
        if found := re.match(r"(?:struct|class|enum class|enum|union|using|concept) (\w+)(?!.*;$)", line) or re.match(r"using (\w+) =", line):
            names.add(found[1])
        elif re.match(r"[A-Za-z_]", line) and (found := re.match(r"(?!using|namespace|struct|class|enum|return)[^(={;]*?(?<![:\w])(\w+)(?:\[\w*\])?\s*[({=;]", line)):
            names.add(found[1])
    return names


def grouped(files):
    """As few groups as possible in which no two files have a name in common."""
    groups = []
    for path in files:
        names = own_names(path)
        for group, taken in groups:
            if len(group) < AT_ONCE and not names & taken:
                group.append(path)
                taken |= names
                break
        else:
            groups.append(([path], set(names)))
    return [group for group, _ in groups]


def said_about(files, flags):
    said = tidy(files, flags)
    if said is not None:
        return said, 1
    half = len(files) // 2
    (first, first_runs), (second, second_runs) = said_about(files[:half], flags), said_about(files[half:], flags)
    return first + second, 1 + first_runs + second_runs


def main(build, chosen):
    flags_of = commands(build)
    unknown = [name for name in chosen if name not in flags_of]
    if unknown:
        sys.exit(f"not a source of the product: {', '.join(unknown)}")
    alike = {}  # files with the same folder and the same flags may be read together
    for name in sorted(chosen or flags_of):
        alike.setdefault((name.split("/")[1], *flags_of[name]), []).append(name)
    groups = [(group, list(key[1:])) for key, names in alike.items() for group in grouped(names)]
    os.makedirs("build/tidy", exist_ok=True)
    failed = readings = done = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for said, runs in pool.map(lambda group: said_about(*group), groups):
            readings, done = readings + runs, done + 1
            failed += bool(said)
            print(said or f"   {done} of {len(groups)} groups", flush=True)
    print(f"{sum(len(files) for files, _ in groups)} files in {readings} readings, {failed} groups with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
