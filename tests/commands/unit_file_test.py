#!/usr/bin/env python3
"""unit_file_test.py CAIRN SOURCE_DIR: systemd reads deploy/cairn.service without a complaint and calls it well confined; the settings
beside it are settings that there are."""
import os, pwd, re, shutil, signal, subprocess, sys, tempfile

cairn, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
failed = 0


def expect(what, ok, seen=""):
    global failed
    if not ok:
        failed += 1
        print(f"not so: {what}\n  {seen}")


with open(os.path.join(source, "deploy/cairn.service")) as file:
    text = file.read()
with open(os.path.join(source, "deploy/cairn.toml")) as file:
    settings = file.read()
with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "store-url"), "w") as file:
        file.write("sqlite:cairn.db")
    with open(os.path.join(folder, "cairn.toml"), "w") as file:
        file.write(settings.replace("/etc/cairn/store-url", folder + "/store-url"))
    drain = subprocess.run([cairn, "config", "show", "--config", folder + "/cairn.toml"], capture_output=True, text=True)
expect("deploy/cairn.toml has only settings that there are", drain.returncode == 0, drain.stderr)
seconds = next(int(re.search(r"(\d+)s", line).group(1)) for line in drain.stdout.splitlines() if line.startswith("drain"))
stop = int(re.search(r"TimeoutStopSec=(\d+)", text).group(1))
expect("systemd waits longer than the server drains", stop > seconds, (stop, seconds))
if shutil.which("systemd-analyze"):
    with tempfile.TemporaryDirectory() as folder:
        unit = os.path.join(folder, "cairn.service")
        with open(unit, "w") as file:
            file.write(text.replace("/usr/bin/cairn", cairn))
        said = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True)
        expect("systemd has no complaint", said.returncode == 0 and "cairn.service" not in said.stderr, said.stderr)
        said = subprocess.run(["systemd-analyze", "security", "--no-pager", "--offline=true", "--threshold=20", unit], capture_output=True, text=True)
        expect("its exposure is at most 2.0", said.returncode == 0, said.stdout[-300:] + said.stderr)
        print(said.stdout.strip().splitlines()[-1])
else:
    print("no systemd here: only the settings were checked")


# As on a fresh Debian: the user that the unit names is made by the file beside it, and this user may read the settings that belong to root.
with open(os.path.join(source, "deploy/cairn.sysusers")) as file:
    users = file.read()
user = re.search(r"^User=(\w+)$", text, re.M)
expect("the unit has a user of its own, which sysusers makes", user and re.search(rf"^u {user.group(1)} ", users, re.M), users)
expect("systemd gives the folder of the settings to nobody else", "ConfigurationDirectory" not in text and "DynamicUser" not in text)


def starts_as(uid, gid):
    """Settings as the documentation says, root's and for the group to read; the server as the unit starts it."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        etc, state = os.path.join(folder, "etc"), os.path.join(folder, "state")
        os.mkdir(etc, 0o750)
        os.mkdir(state, 0o700)
        with open(os.path.join(etc, "store-url"), "w") as file:
            file.write(f"sqlite:{state}/cairn.db")
        plain = re.sub(r"(?ms)^\[tls\].*?(?=^#|^\[)", "", settings.replace("/etc/cairn", etc)).replace("0.0.0.0:8400", "127.0.0.1:0")
        with open(os.path.join(etc, "cairn.toml"), "w") as file:
            file.write(plain)
        for name in ("store-url", "cairn.toml"):
            os.chmod(os.path.join(etc, name), 0o640)
        if uid != os.getuid():
            os.chown(state, uid, gid)
            for path in (etc, etc + "/store-url", etc + "/cairn.toml"):
                os.chown(path, 0, gid)
        more = {"user": uid, "group": gid, "extra_groups": []} if uid != os.getuid() else {}
        made = subprocess.run([cairn, "keys", "create", "--store", f"sqlite:{state}/cairn.db", "--subject", "me", "--role", "admin"], capture_output=True,
                              text=True, timeout=60, umask=0o022, **more)
        expect("the first key is made", made.returncode == 0, made.stderr)
        command = re.search(r"^ExecStart=(.*)$", text, re.M).group(1).replace("/usr/bin/cairn", cairn).replace("/etc/cairn", etc).split()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/", umask=0o022, **more)
        line = process.stdout.readline()
        expect("the server starts as its own user", line.startswith("cairn serves on"), line)
        modes = {name: oct(os.stat(os.path.join(state, name)).st_mode & 0o777) for name in os.listdir(state)}
        expect("data files are for their owner alone", len(modes) > 1 and set(modes.values()) == {"0o600"}, modes)
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=60)[1]
        expect("and ends", process.returncode == 0, said)
        expect("it says whether it is confined", "process.confined" in said or "process.not_confined" in said, said)


# As another user where the tests may change it, and where that user can reach the program; else as ourselves.
nobody, reachable = pwd.getpwnam("nobody"), False
if os.getuid() == 0:
    try:
        reachable = subprocess.run([cairn, "version"], user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[], capture_output=True, cwd="/").returncode == 0
    except OSError:
        pass
starts_as(*((nobody.pw_uid, nobody.pw_gid) if reachable else (os.getuid(), os.getgid())))
sys.exit(1 if failed else 0)
