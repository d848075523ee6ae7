#!/usr/bin/env python3
"""boot_test.py CAIRN SOURCE_DIR: starts deploy/cairn.service in a fresh Debian 12 with its own kernel and systemd.

The machine is emulated by QEMU, with KVM where that works. It runs the commands of docs/server.md as they are written there, and then
`inside.sh`. The installed system is cached in build/boot; making it needs root, debootstrap and a Debian mirror (CAIRN_DEBIAN_MIRROR).
"""
import os, re, shutil, subprocess, sys, tempfile, time

cairn, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
here = os.path.dirname(os.path.abspath(__file__))
cache = os.path.join(source, "build/boot")
mirror = os.environ.get("CAIRN_DEBIAN_MIRROR", "http://deb.debian.org/debian")

KERNEL = "linux-image-cloud-amd64"
SYSTEM = ["systemd", "systemd-sysv", "dbus", "initramfs-tools", "zstd", "curl", "ca-certificates", "openssl", "tzdata", KERNEL]
BOOT_SECONDS = 1800  # both boots and all checks, emulated on a busy machine

UNIT = """[Unit]
Description=The checks of tests/deploy
RequiresMountsFor=/payload
[Service]
ExecStart=/bin/bash /payload/inside.sh
StandardOutput=file:/dev/ttyS1
StandardError=file:/dev/ttyS1
[Install]
WantedBy=multi-user.target
"""


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(command)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def libraries():
    """The Debian packages of the libraries that the program names."""
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", run(["readelf", "-d", cairn]))
    paths = dict(re.findall(r"(\S+) => (\S+) \(", run(["ldd", cairn])))
    packages = set()
    for name in needed:
        path = os.path.realpath(paths.get(name, name))
        if os.path.exists(path):
            # dpkg knows some as /lib/… and some as /usr/lib/….
            packages.add(re.match(r"[^:,]+", run(["dpkg-query", "-S", "*/" + os.path.basename(path)])).group(0))
    return sorted(packages)


def make_system():
    """A minimal Debian with systemd, as an image of a disk. Made again when what belongs in it has changed."""
    packages = SYSTEM + libraries()
    stamp = f"bookworm {' '.join(packages)}\n{UNIT}"
    stamp_file = os.path.join(cache, "stamp")
    if os.path.exists(stamp_file) and open(stamp_file).read() == stamp:
        return
    if os.getuid() != 0:
        sys.exit("making the system needs root; run this test as root once")
    print("installing Debian 12 into build/boot", flush=True)
    shutil.rmtree(cache, ignore_errors=True)
    root = os.path.join(cache, "root")
    os.makedirs(root)
    run(["debootstrap", "--variant=minbase", "--include=" + ",".join(packages), "bookworm", root, mirror])
    with open(os.path.join(root, "etc/systemd/system/inside.service"), "w") as file:
        file.write(UNIT)
    with open(os.path.join(root, "etc/fstab"), "w") as file:
        file.write("LABEL=payload /payload ext4 ro 0 0\n")
    os.mkdir(os.path.join(root, "payload"))
    run(["chroot", root, "systemctl", "enable", "inside.service"])
    for name in ("vmlinuz", "initrd.img"):
        shutil.copy(os.path.realpath(os.path.join(root, "boot", os.path.basename(os.readlink(os.path.join(root, name))))), os.path.join(cache, name))
    run(["mke2fs", "-q", "-t", "ext4", "-L", "root", "-d", root, os.path.join(cache, "root.img"), "1500M"])
    shutil.rmtree(root)
    with open(stamp_file, "w") as file:
        file.write(stamp)


def documented_commands():
    """What docs/server.md tells an operator to type on a fresh Debian."""
    text = open(os.path.join(source, "docs/server.md")).read()
    return re.search(r"On a fresh Debian.*?```sh\n(.*?)```", text, re.S).group(1)


def make_payload(folder, image):
    work = os.path.join(folder, "work")
    os.makedirs(work)
    shutil.copytree(os.path.join(source, "deploy"), os.path.join(work, "deploy"))
    shutil.copy(os.path.join(source, "examples/hello.yaml"), work)
    run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-keyout", work + "/key.pem", "-out", work + "/certificate.pem"])
    shutil.copy(os.path.join(here, "inside.sh"), folder)
    run(["strip", "-o", os.path.join(folder, "cairn"), cairn])
    with open(os.path.join(folder, "commands.sh"), "w") as file:
        file.write(documented_commands())
    run(["mke2fs", "-q", "-t", "ext4", "-L", "payload", "-d", folder, image, "256M"])


def boot(folder, payload, accelerator, cpu, processors, first_line_seconds):
    """The report of the checks, or nothing when the kernel says nothing for so long: not every KVM runs every kernel."""
    console, report = os.path.join(folder, "console"), os.path.join(folder, "report")
    for path in (console, report):
        open(path, "w").close()
    started = time.monotonic()
    machine = subprocess.Popen(
        ["qemu-system-x86_64", "-accel", accelerator, "-cpu", cpu, "-m", "1024", "-smp", processors, "-nodefaults", "-display", "none",
         "-serial", "file:" + console, "-serial", "file:" + report,
         "-kernel", os.path.join(cache, "vmlinuz"), "-initrd", os.path.join(cache, "initrd.img"),
         "-append", "root=LABEL=root rw console=ttyS0 panic=10 systemd.unit=multi-user.target",
         "-drive", f"file={os.path.join(cache, 'root.img')},format=raw,if=virtio,snapshot=on",
         "-drive", f"file={payload},format=raw,if=virtio,readonly=on"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        while machine.poll() is None:
            passed = time.monotonic() - started
            silent = os.path.getsize(console) == 0
            if (silent and passed > first_line_seconds) or passed > BOOT_SECONDS:
                break
            try:
                machine.wait(1)
            except subprocess.TimeoutExpired:
                pass
    finally:
        if machine.poll() is None:
            machine.kill()
        machine.wait()
    said = open(console, errors="replace").read()
    if not said:
        return None
    answer = open(report, errors="replace").read().replace("\r", "")
    if "\ndone\n" not in answer:
        print(said[-6000:])
    return answer


def main():
    make_system()
    with tempfile.TemporaryDirectory() as folder:
        payload = os.path.join(folder, "payload.img")
        make_payload(os.path.join(folder, "payload"), payload)
        report = None
        if os.access("/dev/kvm", os.R_OK | os.W_OK):
            report = boot(folder, payload, "kvm", "host", "2", 20)
        if report is None:
            print("without KVM: emulated", flush=True)
            report = boot(folder, payload, "tcg", "max", "1", 300)
    if report is None:
        sys.exit("the machine did not start")
    print(report, end="")
    failed = re.findall(r"^not so: ", report, re.M)
    passed = re.findall(r"^ok: ", report, re.M)
    print(f"{len(passed)} passed, {len(failed)} failed")
    sys.exit(1 if failed or not passed or "\ndone\n" not in report else 0)


main()
