"""A server of this build on a free port, with keys for every role; shared by the tests of this folder."""
import atexit, http.client, json, os, re, signal, subprocess, sys, tempfile

ROLES = ["viewer", "task_worker", "starter", "worker", "operator", "deployer", "admin"]

passed = failed = 0


def expect(what, ok, seen=""):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
        print(f"not so: {what}\n  {str(seen)[:600]}")


def finish():
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


def slack(cairn):
    """How many times the time and the memory of a release build this program may take: 1, or 10 with a sanitizer."""
    with open(cairn, "rb") as file:
        binary = file.read()
    return 10 if b"__asan_init" in binary or b"__tsan_init" in binary else 1


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.text = status, headers, body
        kind = headers.get("content-type", "")
        self.json = json.loads(body) if "json" in kind and isinstance(body, str) and body else None


class Served:
    def __init__(self, cairn, *flags, keys=True, store=None, environment=None):
        self.cairn = os.path.abspath(cairn)
        self.folder = tempfile.TemporaryDirectory()
        self.store = store or "sqlite:" + os.path.join(self.folder.name, "cairn.db")
        self.keys = {}
        if keys:
            for role in ROLES:
                self.keys[role] = self.new_key(role)
        self.start(*flags, environment=environment)

    def run(self, *arguments, **more):
        return subprocess.run([self.cairn, *arguments], capture_output=True, text=True, timeout=60, **more)

    def new_key(self, role, *more):
        if role == "worker":
            more += ("--prefix", "demo.")
        if role == "task_worker":
            more += ("--task-role", "clerk")
        made = self.run("keys", "create", "--store", self.store, "--subject", role + "-person", "--role", role, *more)
        if made.returncode != 0:
            sys.exit("cannot make a key: " + made.stderr)
        return made.stdout.strip()

    def start(self, *flags, environment=None):
        self.process = subprocess.Popen([self.cairn, "serve", "--store", self.store, "--listen", "127.0.0.1:0", *flags],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env={**os.environ, "CAIRN_DRAIN_DELAY": "0s", **(environment or {})})
        atexit.register(lambda process=self.process: process.poll() is None and process.kill())  # also when a test breaks off
        line = self.process.stdout.readline()
        found = re.search(r"(https?)://[^:]+:(\d+)", line)
        if not found:
            self.process.wait(30)
            self.said = self.process.stderr.read()
            self.port = None
            return
        self.port = int(found.group(2))

    def call(self, method, path, body=None, role="admin", text=None, key=None, **headers):
        """One request on a connection of its own."""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        key = key or (self.keys.get(role) if role else None)
        if key:
            headers.setdefault("authorization", "Bearer " + key)
        data = text
        if body is not None:
            data = json.dumps(body)
        if data is not None:
            headers.setdefault("content-type", "application/json")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, data, headers)
            answer = connection.getresponse()
            kind = answer.getheader("content-type", "")
            content = b"" if "event-stream" in kind else answer.read()
            binary = kind.startswith("image/png") or answer.getheader("content-encoding")
            return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()},
                          content if binary else content.decode())
        finally:
            connection.close()

    def end(self, with_signal=signal.SIGTERM):
        """The exit code. With a sanitizer the requests in progress can outlast the watchdog, which ends the process with 124: that is 0 here."""
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
        try:
            _, self.said = self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            _, self.said = self.process.communicate()
            return None
        return 0 if self.process.returncode == 124 and slack(self.cairn) > 1 else self.process.returncode
