#!/usr/bin/env python3
"""story.py CAIRN: runs story.yaml on a development server that is killed on the way, and draws what the program shows into story.svg."""
import json, os, re, signal, socket, subprocess, sys, tempfile, time
from xml.sax.saxutils import escape

cairn, here = os.path.abspath(sys.argv[1]), os.path.dirname(os.path.abspath(__file__))
folder = tempfile.TemporaryDirectory()
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
environment = {**os.environ, "CAIRN_SERVER": f"http://127.0.0.1:{port}", "NO_COLOR": "1"}


def run(*command):
    done = subprocess.run([cairn, *command], cwd=folder.name, env=environment, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        sys.exit(f"cairn {' '.join(command)}: {done.stderr}")
    return done.stdout


def serve():
    server = subprocess.Popen([cairn, "dev", os.path.join(here, "story.yaml"), "--listen", f"127.0.0.1:{port}"], cwd=folder.name, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    while "is ready" not in server.stdout.readline():
        if server.poll() is not None:
            sys.exit("the server does not start")
    return server


def until(condition):
    deadline = time.monotonic() + 60
    while not condition():
        if time.monotonic() > deadline:
            sys.exit("it does not happen")
        time.sleep(0.05)


def run_of():
    items = json.loads(run("runs", "list", "--instance", "A-17", "--json"))["items"]
    return items[0] if items else {}


def draw():
    text = run("render", "A-17", "--theme", "tokens", "--format", "svg")
    dark = run("render", "A-17", "--theme", "dark", "--format", "svg")
    for token, colour in zip(re.findall(r"var\(--d-([a-z-]+), #\w+\)", text), re.findall(r'(?:fill|stroke)="(#\w+)"', dark)):
        tokens.setdefault(token, colour)
    text = re.sub(r"<title>.*?</title>\n|<desc>.*?</desc>\n", "", text, flags=re.S)
    # The times of this run are not those of the next.
    text = re.sub(r"(?<=>)((?:[^<]*\s)?)\d+(?:\.\d+)?(?:ms|s)(?=[^<]*<)", r"\g<1>1s", text)
    return text


tokens, frames = {}, []
server = serve()
run("start", "order", "--id", "A-17", "--input", '{"no":"A-17"}')
until(lambda: run_of().get("attempt", 0) >= 1 and run_of().get("status") == "pending")
frames.append(("1. The bank is down.", "cairn repeats the call.", draw()))
server.send_signal(signal.SIGKILL)
server.wait()
frames.append(("2. kill -9", "The server starts again.", None))
server = serve()
until(lambda: "Pack" in run("tasks"))
frames.append(("3. The call got through.", "Now a person is asked.", draw()))
task = json.loads(run("tasks", "--json"))["items"][0]["id"]
run("task", "complete", task)
frames.append(("4. The person answered.", "The workflow has ended.", draw()))
server.send_signal(signal.SIGKILL)
server.wait()

parts, x, height = [], 10, 0
for at, (first, second, drawn) in enumerate(frames):
    parts.append(f'<text class="bold" x="{x + 8}" y="30">{escape(first)}</text><text class="small" x="{x + 8}" y="50">{escape(second)}</text>')
    if drawn is None:
        width, body = 196, '<g transform="translate(98 190)"><circle class="dead" r="46"/><path class="cross" d="M-18 -18L18 18M18 -18L-18 18"/></g>'
        parts.append(f'<g transform="translate({x} 60)">{body}</g>')
    else:
        width, tall = map(int, re.search(r'viewBox="0 0 (\d+) (\d+)"', drawn).groups())
        height = max(height, tall)
        inner = re.sub(r"^<svg[^>]*>|</svg>\s*$", "", drawn.strip())
        parts.append(f'<g transform="translate({x} 60)">{inner}</g>')
    x += width + 8
style = "".join(f"--d-{name}:{colour};" for name, colour in sorted(tokens.items()))
with open(os.path.join(here, "story.svg"), "w", encoding="utf-8") as file:
    file.write(f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {x} {height + 70}" width="{x}" height="{height + 70}" role="img" aria-label="A workflow starts, is killed, continues, asks a person, and ends" font-family="system-ui, 'DejaVu Sans', sans-serif">
<title>A workflow starts, is killed, continues, asks a person, and ends</title>
<style>.bold{{font-weight:600;font-size:14px;fill:#1c2430}}.small{{font-size:13px;fill:#566273}}.dead{{fill:#fbe9e7;stroke:#c0392b;stroke-width:2}}.cross{{fill:none;stroke:#c0392b;stroke-width:6;stroke-linecap:round}}
@media(prefers-color-scheme:dark){{svg{{{style}}}.bold{{fill:#e4e8ed}}.small{{fill:#9aa7b5}}.dead{{fill:#3a1a17;stroke:#ef8a7d}}.cross{{stroke:#ef8a7d}}}}</style>
""" + "\n".join(parts) + "\n</svg>\n")
print("docs/pictures/story.svg")
