#!/usr/bin/env python3
"""Two PostgreSQL servers under Patroni and one etcd, thrown away afterwards.
  patroni.py start FOLDER   prints the URL of both once one is primary and the other a synchronous standby
  patroni.py kill FOLDER    kill -9 of the primary and of the Patroni beside it; returns when the other is primary
  patroni.py mend FOLDER    starts what was killed; returns when it is a synchronous standby
  patroni.py stop FOLDER    ends everything and removes the folder
PostgreSQL refuses to run as root, so root lends the folder to the user postgres."""
import glob, json, os, pwd, shutil, signal, socket, subprocess, sys, time, urllib.request

verb, folder = sys.argv[1], sys.argv[2]
state_file = os.path.join(folder, "state.json")
owner = "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def launch(name, *words):
    """Detached, as the owner; its pid."""
    as_owner = ["runuser", "-u", owner, "--"] if os.getuid() == 0 else []
    with open(os.path.join(folder, name + ".log"), "ab") as log:
        script = 'echo $$ >"$0.pid"; exec "$@"'
        subprocess.Popen([*as_owner, "sh", "-c", script, os.path.join(folder, name), *words], cwd=folder, stdin=subprocess.DEVNULL,
                         stdout=log, stderr=log, start_new_session=True)


def ask(node, path):
    """Status code of Patroni's answer, and the answer."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{node['rest']}{path}", timeout=3) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, ""
    except OSError:
        return 0, ""


def within(seconds, what, so):
    until = time.monotonic() + seconds
    while True:
        found = so()
        if found:
            return found
        if time.monotonic() > until:
            sys.exit(f"patroni.py {verb}: {what} did not happen in {seconds} s; see {folder}/*.log")
        time.sleep(0.1)


def primary(nodes):
    return next((name for name, node in nodes.items() if ask(node, "/primary")[0] == 200), None)


def synchronous(nodes):
    return any(ask(node, "/synchronous")[0] == 200 for node in nodes.values())


def pid_of(path):
    try:
        with open(path) as file:
            return int(file.readline())
    except (OSError, ValueError):
        return None


def kill_tree(pid):
    if pid is None:
        return
    children = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split()
    for process in [pid, *map(int, children)]:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass


def end_node(name):
    # Patroni first, or it would see the server die and start it again.
    kill_tree(pid_of(os.path.join(folder, name + ".pid")))
    main = os.path.join(folder, name, "postmaster.pid")
    kill_tree(pid_of(main))
    if os.path.exists(main):
        os.remove(main)


def start_node(name, state):
    launch(name, "patroni", os.path.join(folder, name + ".yml"))


def settings(name, state):
    node = state["nodes"][name]
    bin_dir = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
    return {
        "scope": "cairn", "name": name,
        "restapi": {"listen": f"127.0.0.1:{node['rest']}", "connect_address": f"127.0.0.1:{node['rest']}"},
        "etcd3": {"host": f"127.0.0.1:{state['etcd']}"},
        "bootstrap": {
            "dcs": {"ttl": 20, "loop_wait": 2, "retry_timeout": 3, "maximum_lag_on_failover": 0, "synchronous_mode": True,
                    "synchronous_mode_strict": True,
                    "postgresql": {"use_pg_rewind": True, "parameters": {"max_connections": 100, "wal_log_hints": "on"}}},
            "initdb": [{"encoding": "UTF8"}, {"locale": "C"}],
        },
        "postgresql": {
            "listen": f"127.0.0.1:{node['port']}", "connect_address": f"127.0.0.1:{node['port']}", "bin_dir": bin_dir,
            "data_dir": os.path.join(folder, name), "pgpass": os.path.join(folder, name + ".pgpass"),
            "authentication": {"superuser": {"username": "cairn"}, "replication": {"username": "replicator"},
                               "rewind": {"username": "cairn"}},
            "parameters": {"unix_socket_directories": folder, "shared_buffers": "64MB"},
            "pg_hba": ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"],
        },
    }


if verb == "start":
    os.makedirs(folder)
    if os.getuid() == 0:
        shutil.chown(folder, owner)
    peer = free_port()
    state = {"etcd": free_port(), "nodes": {name: {"rest": free_port(), "port": free_port()} for name in ("a", "b")}}
    client, other = f"http://127.0.0.1:{state['etcd']}", f"http://127.0.0.1:{peer}"
    launch("etcd", "etcd", "--data-dir", os.path.join(folder, "etcd.data"), "--listen-client-urls", client,
           "--advertise-client-urls", client, "--listen-peer-urls", other, "--initial-advertise-peer-urls", other,
           "--initial-cluster", "default=" + other, "--unsafe-no-fsync")
    for name in state["nodes"]:
        path = os.path.join(folder, name + ".yml")
        with open(path, "w") as file:
            json.dump(settings(name, state), file)  # JSON is YAML
    with open(state_file, "w") as file:
        json.dump(state, file)
    start_node("a", state)
    within(90, "a primary", lambda: primary(state["nodes"]))
    start_node("b", state)
    within(90, "a synchronous standby", lambda: synchronous(state["nodes"]))
    hosts = ",".join(f"127.0.0.1:{node['port']}" for node in state["nodes"].values())
    print(f"postgresql://cairn@{hosts}/postgres")
    sys.exit(0)

with open(state_file) as file:
    state = json.load(file)
if verb == "kill":
    state["dead"] = within(60, "a primary", lambda: primary(state["nodes"]))
    end_node(state["dead"])
    with open(state_file, "w") as file:
        json.dump(state, file)
    within(120, "a new primary", lambda: primary({name: node for name, node in state["nodes"].items() if name != state["dead"]}))
elif verb == "mend":
    start_node(state["dead"], state)
    within(120, "a synchronous standby", lambda: synchronous(state["nodes"]))
elif verb == "stop":
    for name in state["nodes"]:
        end_node(name)
    kill_tree(pid_of(os.path.join(folder, "etcd.pid")))
    shutil.rmtree(folder, ignore_errors=True)
else:
    sys.exit(f"patroni.py: what is {verb}?")
