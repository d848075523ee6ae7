#!/usr/bin/env python3
"""unit_file_test.py CAIRN SOURCE_DIR: systemd reads deploy/cairn.service without a complaint and calls it well confined; the settings
beside it are settings that there are."""
import os, re, shutil, subprocess, sys, tempfile

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
        said = subprocess.run(["systemd-analyze", "security", "--no-pager", "--offline=true", "--threshold=25", unit], capture_output=True, text=True)
        expect("its exposure is at most 2.5", said.returncode == 0, said.stdout[-300:] + said.stderr)
        print(said.stdout.strip().splitlines()[-1])
else:
    print("no systemd here: only the settings were checked")
sys.exit(1 if failed else 0)
