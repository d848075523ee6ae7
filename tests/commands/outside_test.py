#!/usr/bin/env python3
"""outside_test.py CAIRN SOURCE_DIR: the binary as a stranger meets it: exit codes, streams, bad input."""
import json, os, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../http"))
import served

cairn, source = os.path.abspath(sys.argv[1]), sys.argv[2]
slack = served.slack(cairn)
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)
passed = failed = 0


def call(*args, stdin=b"", timeout=30):
    return subprocess.run([cairn, *args], input=stdin, capture_output=True, timeout=timeout)


def expect(what, ok, done=None):
    global passed, failed
    if ok:
        passed += 1
        return
    failed += 1
    print(f"not so: {what}")
    if done is not None:
        print(f"  exit {done.returncode}\n  stdout {done.stdout[:300]!r}\n  stderr {done.stderr[:600]!r}")


def write(name, content):
    with open(name, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return name


hello = "cairn: 1\nname: hello\nversion: 1.0.0\nsteps:\n  - set: {said: = \"hi\"}\noutput: = state.said\n"
write("hello.yaml", hello)

# Wrong calls.
done = call()
expect("no command: exit 2 and the list of commands on stderr", done.returncode == 2 and b"validate" in done.stderr and not done.stdout, done)
done = call("vaildate")
expect("a misspelt command names the nearest", done.returncode == 2 and b"validate" in done.stderr, done)
done = call("--help")
expect("--help goes to stdout with exit 0", done.returncode == 0 and b"Usage" in done.stdout and not done.stderr, done)
names = [line.split()[0].decode() for line in done.stdout.splitlines() if line.startswith(b"  ") and len(line.split()) > 1]
expect("commands are listed", len(names) >= 8, done)
for name in names:
    done = call(name, "--help")
    expect(f"{name} --help has usage and examples", done.returncode == 0 and b"Usage: cairn" in done.stdout and b"Examples:" in done.stdout and not done.stderr, done)
    done = call(name, "--no-such-flag")
    expect(f"{name} --no-such-flag is a wrong call that names the flag", done.returncode == 2 and b"--no-such-flag" in done.stderr and not done.stdout, done)
for shell in ("bash", "zsh", "fish"):
    done = call("completion", shell)
    expect(f"completion {shell}", done.returncode == 0 and b"validate" in done.stdout, done)
done = call("version", "--json")
expect("version --json is one document", done.returncode == 0 and "cairn" in json.loads(done.stdout), done)

# validate.
done = call("validate", "hello.yaml")
expect("a valid file: exit 0, nothing on stderr", done.returncode == 0 and not done.stderr, done)
done = call("validate", "nowhere.yaml")
expect("a file that is not there: exit 2, named", done.returncode == 2 and b"nowhere.yaml" in done.stderr, done)
write("bad.yaml", hello.replace("steps:", "setps:") + "extra: 1\n")
done = call("validate", "bad.yaml", "hello.yaml")
shown = done.stderr.decode().splitlines()  # each finding, its source line and the mark under its column
lines = shown[::3]
expect("all errors in one go, each with its place and pointer", done.returncode == 8 and len(lines) >= 2
       and all(line.startswith("bad.yaml:") and ": error: " in line and line.endswith("]") for line in lines), done)
expect("each with its source line and a mark", shown[1:3] == ["  4 | setps:", "    | ^"] and len(shown) == 3 * len(lines), done)
expect("the misspelt key is at its place and names the nearest", any(line.startswith("bad.yaml:4:1: error:") and "steps" in line for line in lines), done)

hostile = {
    "empty": b"", "comment": b"# nothing\n", "not-yaml": b"{{{{[[[[", "binary": bytes(range(256)) * 40, "nul": b"cairn: 1\nname: a\0b\n",
    "utf16": hello.encode("utf-16"), "latin1": hello.replace("hi", "h\u00ef").encode("latin-1"), "tags": b"cairn: !!python/object:os.system 1\n",
    "duplicate": b"cairn: 1\ncairn: 1\n", "duplicate-deep": (hello + "title: {a: {b: 1, b: 2}}\n").encode(), "two": (hello + "---\n" + hello).encode(),
    "tab": b"cairn: 1\nsteps:\n\t- undo: {}\n", "deep": b"a: " + b"[" * 100000, "deep-json": b"[" * 1000000,
    "quote": b'cairn: 1\nname: "abc\n', "merge": b"a: &x {b: 1}\nc: {<<: *x}\n", "list": b"- 1\n- 2\n", "scalar": b"hello\n",
    "aliases": b"a: &a [1]\nb: [" + b"*a," * 1000000 + b"]\n",
    "bomb": b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n".encode() for i in range(12)),
    "inf": b"cairn: .inf\n", "surrogate": b'{"cairn": 1, "name": "\\ud800"}', "huge-number": b'{"cairn": 1e999}',
}
for name, content in hostile.items():
    write(f"{name}.yaml", content)
    begin = time.monotonic()
    done = call("validate", f"{name}.yaml")
    took = time.monotonic() - begin
    lines = done.stderr.decode(errors="replace").splitlines()
    expect(f"hostile {name}: exit 8 and clear lines with a place, within 5 s (took {took:.2f})",
           done.returncode == 8 and 1 <= len(lines) <= 100 and lines[0].startswith(f"{name}.yaml:") and ": error: " in lines[0]
           and all(len(line) < 500 for line in lines) and took < 5 * slack, done)
with open("huge.yaml", "wb") as file:
    file.truncate(100 << 20)
begin = time.monotonic()
done = call("validate", "huge.yaml")
expect("100 MiB: one clear line at once", done.returncode == 8 and len(done.stderr.splitlines()) == 1 and b"limit" in done.stderr and time.monotonic() - begin < 2 * slack, done)

# compile and decompile.
done = call("compile", "hello.yaml")
canonical = done.stdout
expect("compile prints canonical JSON", done.returncode == 0 and json.loads(canonical)["cairn"] == 1, done)
write("canonical.json", canonical)
expect("a canonical form compiles to itself", call("compile", "canonical.json").stdout == canonical)
done = call("decompile", "canonical.json", "--to", "yaml")
write("back.yaml", done.stdout)
expect("decompile then compile gives the same bytes", call("compile", "back.yaml").stdout == canonical, done)
expect("decompile to C++", b"cairn" in call("decompile", "canonical.json", "--to", "cpp").stdout)
done = call("compile", "bad.yaml")
expect("compile of an invalid file: exit 8, stdout empty", done.returncode == 8 and not done.stdout, done)

# eval.
expect("eval", call("eval", "1 + 2").stdout.strip() == b"3")
done = call("eval", "x +", "--context", "{}")
expect("eval of a wrong expression: exit 8 with its place", done.returncode == 8 and b"1:" in done.stderr and not done.stdout, done)
done = call("eval", "x", "--context", "{")
expect("eval with a context that is not JSON is a wrong call", done.returncode == 2 and b"--context" in done.stderr, done)

# check-data.
write("schema.json", '{"type":"object","required":["a"]}')
write("good.json", '{"a":1}')
write("wrong.json", "{}")
expect("check-data accepts", call("check-data", "--schema", "schema.json", "good.json").returncode == 0)
done = call("check-data", "--schema", "schema.json", "good.json", "wrong.json")
expect("check-data refuses with the file's name", done.returncode == 8 and b"wrong.json" in done.stderr and b"good.json" not in done.stderr, done)

# run.
done = call("run", "hello.yaml")
expect("run prints exactly the output", done.returncode == 0 and done.stdout == b'"hi"\n', done)
done = call("run", "bad.yaml")
expect("run of an invalid file: exit 8, stdout empty", done.returncode == 8 and not done.stdout, done)
done = call("run", "nowhere.yaml")
expect("run of a missing file: exit 2", done.returncode == 2 and b"nowhere.yaml" in done.stderr and not done.stdout, done)
for flags in (["--input", "{"], ["--answer", "x"], ["--signal", "s"], ["--reply", "r"], ["--bogus"], ["--answer", "T={"]):
    done = call("run", "hello.yaml", *flags)
    expect(f"run {flags}: a wrong call that names the flag", done.returncode == 2 and flags[0].encode() in done.stderr and not done.stdout, done)
write("strict.yaml", hello.replace("steps:", "input: {type: object, required: [n]}\nsteps:"))
done = call("run", "strict.yaml", "--input", "{}")
expect("an input that its schema refuses starts nothing: exit 8", done.returncode == 8 and not done.stdout and done.stderr, done)
for text in ('{"n": "\\u0000"}', '{"n": "\\ud800"}', "[" * 200 + "]" * 200):
    done = call("run", "strict.yaml", "--input", text)
    expect(f"input {text[:20]} starts nothing", done.returncode == 8 and not done.stdout and done.stderr, done)

print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed or not passed else 0)
