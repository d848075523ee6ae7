#!/usr/bin/env python3
"""disk_test.py CAIRN SOURCE_DIR: a full disk, a disk that became read-only, a second process. Needs root to mount a small
tmpfs; without it that part is skipped and says so."""
import json, os, re, shutil, signal, subprocess, sys, tempfile, time, urllib.error, urllib.request

cairn = os.path.abspath(sys.argv[1])
folder = tempfile.mkdtemp()
disk = os.path.join(folder, "disk")
os.mkdir(disk)
passed = failed = 0


def expect(what, ok, seen=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"not so: {what}\n  {seen}")


def mount(*arguments):
    return subprocess.run(["mount", *arguments], capture_output=True).returncode == 0


with open(f"{folder}/order.yaml", "w") as file:
    file.write("cairn: 1\nname: order\nversion: 1.0.0\nsteps: [ { signal: { name: go, result: go } } ]\noutput: { n: = input.n }\n")
store = f"sqlite:{disk}/store.db"


class Server:
    def __init__(self, at=store, err=f"{folder}/err"):
        self.process = subprocess.Popen([cairn, "dev", f"{folder}/order.yaml", "--listen", "0", "--store", at], cwd=folder,
                                        stdout=subprocess.PIPE, stderr=open(err, "w"), text=True)
        line = self.process.stdout.readline()
        found = re.search(r"http://[^/]+", line)
        self.url = found.group(0) if found else None

    def call(self, path, body):
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), {"content-type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as refused:
            return refused.code, json.loads(refused.read() or b"{}")

    def ready(self):
        try:
            with urllib.request.urlopen(self.url + "/readyz", timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()

    def becomes(self, status):
        """Readiness is asked for anew now and then."""
        end = time.monotonic() + 60
        while self.ready()[0] != status and time.monotonic() < end:
            time.sleep(0.05)
        return self.ready()[0] == status

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)
        return self.process.returncode


def verified():
    done = subprocess.run([cairn, "verify", "--store", store], capture_output=True, text=True)
    return done.returncode == 0, done.stdout + done.stderr


try:
    small = os.geteuid() == 0 and mount("-t", "tmpfs", "-o", "size=6m", "tmpfs", disk)
    if not small:
        print("skipped: a full and a read-only disk need root and the right to mount")
    server = Server()
    second = subprocess.run([cairn, "dev", f"{folder}/order.yaml", "--listen", "0", "--store", store], cwd=folder, capture_output=True, text=True, timeout=60)
    expect("a second process on the same file is refused and told why", second.returncode != 0 and "store.db" in second.stderr, second.stderr)
    for name, link in (("soft", os.symlink), ("hard", os.link)):
        link(f"{disk}/store.db", f"{disk}/{name}.db")
        other = Server(f"sqlite:{disk}/{name}.db", f"{folder}/{name}.err")
        expect(f"a {name} link to it has the same owner", other.url is None, other.url and other.call("/v1/instances", {"definition": "order", "input": {"n": 1}}))
        other.end()
        said = open(f"{folder}/{name}.err").read()
        expect(f"the owner of a {name} link is named", "in use" in said, said)
        os.remove(f"{disk}/{name}.db")
    expect("it is ready", server.ready()[0] == 200, server.ready())
    started, refusal = [], None
    for n in range(5000 if small else 20):
        status, answer = server.call("/v1/instances", {"definition": "order", "input": {"n": n, "text": "x" * 20000}})
        if status != 201:
            refusal = status, answer
            break
        started.append(answer["id"])
    if small:
        expect("a full disk refuses with 503", refusal and refusal[0] == 503, refusal)
        expect("and says so", refusal and re.search("full|space", json.dumps(refusal[1])), refusal)
        expect("what was acknowledged can be read", server.call(f"/v1/instances/{started[-1]}/signals", {"name": "nobody"})[0] in (200, 503))
        expect("it is not ready while it cannot write", server.becomes(503), server.ready())
        for n in range(200):
            status, answer = server.call("/v1/instances", {"definition": "order", "input": {"n": n, "text": "x" * 20000}})
            if status == 201:
                started.append(answer["id"])
        lines = open(f"{folder}/err").read().count("\n")
        expect("the log does not repeat the same line for each refusal", lines < 120, lines)
        expect("there is room again", mount("-o", "remount,size=64m", disk))
        expect("it is ready again", server.becomes(200), server.ready())
        status, answer = server.call(f"/v1/instances/{started[0]}/signals", {"name": "go", "payload": 1})
        expect("then it goes on without a restart", status == 200 and answer["status"] == "completed", answer)
    expect("it ends cleanly", server.end() in (0, 130), open(f"{folder}/err").read())
    ok, seen = verified()
    expect("nothing is lost or half written", ok and f"{len(started)} instances" in seen, (len(started), seen))
    if small:
        expect("the disk becomes read-only", mount("-o", "remount,ro", disk))
        server = Server()
        expect("a read-only file is a clear error", server.url is None and re.search("(?i)read-only|readonly", open(f"{folder}/err").read()), open(f"{folder}/err").read())
        server.process.wait(timeout=60)
        expect("looking is still possible", subprocess.run([cairn, "list", "--store", store], capture_output=True).returncode == 0)
        mount("-o", "remount,rw", disk)
    server = Server()
    status, answer = server.call(f"/v1/instances/{started[1]}/signals", {"name": "go", "payload": 1})
    expect("after all that the others go on", status == 200 and answer["status"] == "completed", answer)
    server.end()
finally:
    subprocess.run(["umount", disk], capture_output=True)
    shutil.rmtree(folder, ignore_errors=True)
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
