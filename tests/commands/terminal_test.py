#!/usr/bin/env python3
"""terminal_test.py CAIRN: commands at a terminal and in pipes: readers that leave, colours, UTF-8, hostile texts, stray words, watched folders, addresses."""
import fcntl, json, os, pty, re, select, signal, socket, struct, subprocess, sys, tempfile, termios, time

cairn = os.path.abspath(sys.argv[1])
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)
passed = failed = 0


def expect(what, ok, seen=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"not so: {what}\n  {seen}")


def write(name, steps, more=""):
    path = os.path.join(folder.name, name)
    with open(path, "w") as file:
        file.write(f"cairn: 1\nname: {os.path.basename(name)[:-5]}\nversion: 1.0.0\n{more}steps: [ {steps} ]\n")
    return path


def in_terminal(*arguments, feed=b"", until=None, term="xterm", locale="C.UTF-8", columns=80, then=None):
    """What the command prints at a terminal: up to a match of `until`, or all of it. Calls `then` after the first output."""
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        os.execve(cairn, [cairn, *arguments], {**environment, "TERM": term, "LC_ALL": locale})
    out, end = b"", time.monotonic() + 30
    while time.monotonic() < end and not (until and re.search(until, out)):
        if not select.select([terminal], [], [], end - time.monotonic())[0]:
            break
        try:
            read = os.read(terminal, 65536)
        except OSError:  # the command has ended
            break
        # The prompt may write cursor movements, so what it echoes is not compared.
        if feed and not out:
            os.write(terminal, feed)
        if then and not out:
            then()
        out += read
    os.close(terminal)
    os.kill(child, signal.SIGTERM)
    os.waitpid(child, 0)
    return out


os.mkdir("flows")
write("flows/inside.yaml", "{ task: { name: T, roles: [ clerk ] } }")
named = write("named.yaml", "{ set: { a: 1 } }")
hostile = write("hostile.yaml", "{ task: { name: T, title: = input, roles: [ clerk ] } }, { set: { a: = input } }, { fail: { code: bad, message: = input } }",
                "reference: { key: = input, parts: { a: = input } }\n")
server = subprocess.Popen([cairn, "dev", os.path.join(folder.name, "flows"), named, hostile, "--listen", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
line = server.stdout.readline()
found = re.search(r"http://[^/\s]+", line) or sys.exit(f"cairn dev said {line!r}")
environment = {**os.environ, "CAIRN_SERVER": found.group(0)}
for unset in ("CAIRN_STORE", "NO_COLOR"):
    environment.pop(unset, None)


def run(*arguments):
    return subprocess.run([cairn, *arguments], env=environment, capture_output=True, text=True, timeout=60)


instance = json.loads(run("start", "inside", "--json").stdout)["id"]

# A command that follows ends when its reader does.
for arguments in (["watch", instance], ["history", instance, "--follow"]):
    following = subprocess.Popen([cairn, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    following.stdout.readline()
    following.stdout.close()
    try:
        following.wait(30)
    except subprocess.TimeoutExpired:
        following.kill()
        following.wait()
        expect(f"{arguments[0]} ends when its reader is gone", False)

# Colours and the prompt.
expect("a terminal gets colours", b"\x1b[" in in_terminal("list"), in_terminal("list"))
for arguments in (["list"], ["show", instance], ["tasks"], ["eval", "1 + 1"]):
    shown = in_terminal(*arguments, term="dumb")
    expect(f"TERM=dumb: {arguments[0]} has no escape sequences", shown and b"\x1b" not in shown, shown)
for locale in ("C", "POSIX", "C.UTF-8"):
    shown = in_terminal("eval", feed='"gr\u00fc\u00dfe \u4f60".size() + 100\n'.encode(), until=b"107", locale=locale)
    expect(f"the prompt of eval takes UTF-8 in the locale {locale}", b"107" in shown, shown)

# `watch` draws over its last picture: it moves up by the rows of the terminal, not by the lines of its text.
narrow = write("narrow.yaml", "{ task: { name: T, title: " + "a long title " * 10 + ", roles: [ clerk ] } }, { task: { name: U, roles: [ clerk ] } }")
watched = json.loads(run("start", narrow, "--json").stdout)["id"]
task = json.loads(run("tasks", "--instance", watched, "--json").stdout)["items"][0]["id"]
shown = in_terminal("watch", watched, until=rb"\x1b\[\d+[AF]", columns=30, then=lambda: run("task", "complete", task, "--as", "ann")).decode()
up = re.search(r"\x1b\[(\d+)[AF]", shown)
lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown[:up.start()] if up else "").replace("\r", "").split("\n")[:-1]
rows = sum(max(1, -(-len(line) // 30)) for line in lines)
expect("watch moves up by its rows on a narrow terminal", up and int(up.group(1)) == rows > len(lines), (up, rows, shown))

# Texts of other people cannot control the terminal: every command writes their control characters as escapes.
EVIL = "evil\x1b[2J\x1b]0;x\x07\x9b31m\x9d0;y\x9c\x08\x7f\rend"
control = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
attacked = json.loads(run("start", "hostile", "--input", json.dumps(EVIL), "--json").stdout)["id"]
task = json.loads(run("tasks", "--instance", attacked, "--json").stdout)["items"][0]["id"]
views = [["show", attacked], ["why", attacked], ["history", attacked], ["tasks"], ["list"], ["task", "show", task], ["list", "--json"]]


def check_texts(when):
    for arguments in views:
        done = subprocess.run([cairn, *arguments], env=environment, capture_output=True, timeout=60)
        for name, text in (("output", done.stdout), ("errors", done.stderr)):
            text = text.decode("utf-8")
            expect(f"{when}, {arguments[0]}: the {name} has no control character of a text", not control.search(text), repr(text))
        if arguments[0] == "show":
            expect(f"{when}, show: the text is there", b"evil" in done.stdout, done.stdout)


check_texts("a task is open")
run("task", "complete", task, "--as", "ann")
check_texts("it has failed")
done = run("start", EVIL)
expect("an error message has no control character of a text", done.returncode != 0 and not control.search(done.stdout + done.stderr), repr(done.stderr))

# Words that mean nothing are refused, on every command.
stray = [["version"], ["doctor"], ["config", "show"], ["list"], ["tasks"], ["dead"], ["verify"], ["keys", "list"], ["audit", "verify"], ["audit", "export"],
         ["runs"], ["definitions"], ["serve"], ["schema"], ["completion", "bash"], ["migrate"], ["show", instance], ["why", instance],
         ["history", instance], ["cancel", instance], ["suspend", instance], ["resume", instance], ["retry", instance], ["skip", instance],
         ["signal", instance, "Paid"], ["render", instance, "b"], ["dev", "time", "+1h"], ["schedules", "list"], ["state", instance, "b"],
         ["start", "inside"], ["task", "show", "t"], ["bulk", "cancel"], ["keys"], ["help", "list"], ["runs", "show", "r"],
         ["definitions", "source", "inside", "1.0.0"], ["dead", "replay", "1"], ["watch", instance], ["run", named], ["eval", "1"]]
for words in stray:
    done = run(*words, "stray")
    expect(f"cairn {' '.join(words)} refuses a stray word", done.returncode == 2,
           f"{done.returncode}: {done.stdout[:200]}{done.stderr[:200]}")



def next_deployment():
    return next((line for line in server.stdout if "deployed as" in line), "")


# `flows-old` begins with the name of the watched folder. The change of `named.yaml` comes after it and is reported.
write("flows-old.yaml", "{ set: { a: 1 } }")
write("named.yaml", "{ set: { a: 2 } }")
line = next_deployment()
expect("a file that was named is watched", "named.yaml: changed, deployed as named 1.0.0+2" in line, line)
deployed = {line.split("\t")[0] for line in run("definitions").stdout.splitlines()}
expect("a file beside the folder is not deployed", deployed == {"inside", "named", "hostile", "narrow"}, deployed)
write("flows/inside.yaml", "{ task: { name: Other, roles: [ clerk ] } }")
line = next_deployment()
expect("a file in the folder is", "inside.yaml: changed, deployed as inside 1.0.0+2" in line, line)

server.terminate()
server.communicate(timeout=30)
expect("SIGTERM ends the server cleanly", server.returncode == 0, server.returncode)

# The URL of an IPv6 address has brackets.
try:
    with socket.create_server(("::1", 0), family=socket.AF_INET6):
        pass
    store = "sqlite:" + os.path.join(folder.name, "six.db")
    subprocess.run([cairn, "keys", "create", "--store", store, "--subject", "me", "--role", "admin"], check=True, capture_output=True, timeout=60)
    six = subprocess.Popen([cairn, "serve", "--store", store, "--listen", "[::1]:0", "--drain-delay", "0s"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    line = six.stdout.readline()
    six.terminate()
    six.communicate(timeout=60)
    expect("the URL of an IPv6 address has brackets", "http://[::1]:" in line, line)
except OSError as missing:
    print(f"IPv6 is not available: {missing}")
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
