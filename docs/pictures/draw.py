#!/usr/bin/env python3
"""draw.py [--check]: draws the pictures of the concepts into this folder. They follow the reader's light or dark scheme."""
import os, sys
from xml.sax.saxutils import escape

STYLE = """text{font:14px system-ui,"DejaVu Sans",sans-serif;fill:#1c2430}.small{font-size:12px;fill:#566273}.bold{font-weight:600}
.box{fill:#f5f6f8;stroke:#9aa5b1}.main{fill:#e6effb;stroke:#1f5fbf}.good{fill:#e3f4ea;stroke:#1f8a4c}.bad{fill:#fbe9e7;stroke:#c0392b}.wait{fill:#fff6df;stroke:#b7791f}
.group{fill:none;stroke:#9aa5b1;stroke-dasharray:5 4}.line{fill:none;stroke:#566273;stroke-width:1.6}.dash{stroke-dasharray:5 4}.head{fill:#566273}
@media(prefers-color-scheme:dark){text{fill:#e4e8ed}.small{fill:#9aa7b5}.box{fill:#1c2229;stroke:#5a6673}.main{fill:#16263d;stroke:#79aefc}.good{fill:#12301f;stroke:#4cc27f}
.bad{fill:#3a1a17;stroke:#ef8a7d}.wait{fill:#352a10;stroke:#e0b155}.group{stroke:#5a6673}.line{stroke:#9aa7b5}.head{fill:#9aa7b5}}"""


class Picture:
    def __init__(self, title, width, height):
        self.title, self.width, self.height, self.parts = title, width, height, []

    def box(self, x, y, w, h, *lines, kind="box", round=8):
        self.parts.append(f'<rect class="{kind}" x="{x}" y="{y}" width="{w}" height="{h}" rx="{round}"/>')
        first = y + h / 2 - (len(lines) - 1) * 9 + 5
        for at, line in enumerate(lines):
            name = "" if at == 0 and len(lines) == 1 else ' class="bold"' if at == 0 else ' class="small"'
            self.parts.append(f'<text{name} x="{x + w / 2:g}" y="{first + at * 18:g}" text-anchor="middle">{escape(line)}</text>')

    def group(self, x, y, w, h, title):
        self.parts.append(f'<rect class="group" x="{x}" y="{y}" width="{w}" height="{h}" rx="12"/>')
        self.say(x + 12, y + 20, title, small=True)

    def say(self, x, y, text, small=False, anchor="start"):
        self.parts.append(f'<text{" class=" + chr(34) + "small" + chr(34) if small else ""} x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>')

    def arrow(self, *points, label="", at=None, dash=False, both=False, anchor="middle"):
        path = "M" + " L".join(f"{x} {y}" for x, y in points)
        self.parts.append(f'<path class="line{" dash" if dash else ""}" d="{path}"/>')
        ends = [(points[-2], points[-1])] + ([(points[1], points[0])] if both else [])
        for (ax, ay), (bx, by) in ends:
            length = ((bx - ax) ** 2 + (by - ay) ** 2) ** 0.5 or 1
            ux, uy = (bx - ax) / length, (by - ay) / length
            corners = [(bx, by), (bx - 9 * ux + 4.5 * uy, by - 9 * uy - 4.5 * ux), (bx - 9 * ux - 4.5 * uy, by - 9 * uy + 4.5 * ux)]
            self.parts.append('<path class="head" d="M' + " L".join(f"{x:.1f} {y:.1f}" for x, y in corners) + ' Z"/>')
        if label:
            x, y = at or ((points[0][0] + points[-1][0]) / 2, (points[0][1] + points[-1][1]) / 2 - 7)
            self.say(x, y, label, small=True, anchor=anchor)

    def text(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}" role="img" '
                f'aria-label="{escape(self.title)}">\n<title>{escape(self.title)}</title>\n<style>{STYLE}</style>\n' + "\n".join(self.parts) + "\n</svg>\n")


def data_flow():
    p = Picture("How data flows: something happens, the engine decides, commits and then acts", 900, 330)
    for at, (name, who) in enumerate([("start", "a client"), ("answer", "a person"), ("signal", "another system"), ("result", "a worker"), ("timer", "the clock")]):
        p.box(20, 30 + at * 56, 130, 44, name, who)
        p.arrow((150, 52 + at * 56), (205, 52 + at * 56), (205, 164), (250, 164))
    p.say(228, 155, "event", small=True, anchor="middle")
    p.group(240, 70, 430, 190, "the engine")
    p.box(255, 134, 110, 60, "load", "the snapshot", kind="main")
    p.box(400, 134, 110, 60, "advance", "pure: no I/O", kind="main")
    p.box(545, 134, 110, 60, "commit", "one transaction", kind="main")
    p.arrow((365, 164), (400, 164))
    p.arrow((510, 164), (545, 164))
    p.arrow((600, 134), (600, 110), (310, 110), (310, 134), label="stale: another commit was first", at=(455, 103), dash=True)
    p.box(255, 280, 400, 36, "the store: memory, SQLite or PostgreSQL", kind="wait")
    p.arrow((310, 280), (310, 194))
    p.arrow((600, 194), (600, 280))
    for at, (name, what) in enumerate([("answers", "to callers"), ("runs", "to workers"), ("events", "to other systems"), ("timers", "are set")]):
        p.box(745, 48 + at * 62, 140, 46, name, what, kind="good")
        p.arrow((655, 164), (705, 164), (705, 71 + at * 62), (745, 71 + at * 62))
    p.say(700, 30, "after the commit", small=True)
    return p


def commit():
    p = Picture("What one commit writes: everything that one decision changes, in one transaction", 860, 380)
    p.box(20, 150, 150, 70, "one decision", "event + snapshot", kind="main")
    p.group(230, 20, 420, 340, "one transaction: all of it or nothing")
    rows = [("the snapshot", "state, place and waits"), ("the instance", "status and dates, for people"), ("tasks", "opened, completed, cancelled"),
            ("waits and timers", "for signals and due times"), ("runs", "the intent of each call"), ("events", "for other systems: the outbox"),
            ("history", "what happened, who, when"), ("keys, audit row", "of the request that caused it")]
    for at, (name, what) in enumerate(rows):
        y = 50 + at * 38
        p.parts.append(f'<rect class="{"wait" if at == 0 else "box"}" x="250" y="{y}" width="380" height="32" rx="6"/>')
        p.say(262, y + 21, name)
        p.say(395, y + 21, what, small=True)
    p.arrow((170, 185), (230, 185))
    p.box(710, 100, 130, 60, "the disk", "one sync for many", kind="good")
    p.box(710, 220, 130, 60, "the answer", "to the caller", kind="good")
    p.arrow((650, 130), (710, 130))
    p.arrow((775, 160), (775, 220), label="only then", at=(783, 195), anchor="start")
    return p


def task():
    p = Picture("Life of a task: open, assigned, then completed, expired or cancelled", 760, 270)
    p.box(30, 105, 120, 56, "open", kind="wait")
    p.box(270, 105, 120, 56, "assigned", kind="wait")
    p.box(580, 20, 140, 56, "completed", "form and guards hold", kind="good")
    p.box(580, 105, 140, 56, "expired", "its deadline came", kind="bad")
    p.box(580, 190, 140, 56, "cancelled", "no longer needed", kind="bad")
    p.arrow((150, 122), (270, 122), label="assign")
    p.arrow((270, 146), (150, 146), label="release", at=(210, 164))
    p.arrow((390, 122), (480, 122), (480, 48), (580, 48), label="complete", at=(530, 41))
    p.arrow((390, 133), (580, 133), label="deadline", at=(530, 126))
    p.arrow((390, 146), (480, 146), (480, 218), (580, 218), label="cancel", at=(530, 211))
    p.arrow((90, 105), (90, 48), (480, 48), dash=True, label="a person may complete an open task directly", at=(250, 41))
    p.arrow((90, 161), (90, 218), (480, 218), dash=True)
    p.arrow((330, 105), (330, 82), (360, 82), (360, 105), label="reassign", at=(345, 76))
    return p


def run():
    p = Picture("Life of a run: pending, leased, then succeeded, failed or cancelled", 800, 290)
    p.box(30, 115, 130, 60, "pending", "from run_at on", kind="wait")
    p.box(310, 115, 150, 60, "leased", "worker, end, fence", kind="main")
    p.box(630, 20, 140, 56, "succeeded", "the result is kept", kind="good")
    p.box(630, 115, 140, 60, "failed", "a dead letter", kind="bad")
    p.box(630, 215, 140, 56, "cancelled", "instance or operator", kind="bad")
    p.arrow((160, 130), (310, 130), label="lease: attempt + 1", at=(235, 123))
    p.arrow((310, 160), (160, 160), label="error, or the lease ends", at=(235, 178))
    p.arrow((340, 175), (340, 225), (95, 225), (95, 175), dash=True, label="given back: no attempt counts", at=(217, 242))
    p.arrow((460, 130), (540, 130), (540, 48), (630, 48), label="result", at=(585, 41))
    p.arrow((460, 145), (630, 145), label="last attempt", at=(585, 138))
    p.arrow((460, 162), (540, 162), (540, 243), (630, 243), label="cancel", at=(585, 236))
    p.arrow((362, 115), (362, 88), (408, 88), (408, 115), label="heartbeat extends it", at=(385, 80))
    return p


def cluster():
    p = Picture("A cluster: clients and workers, any number of equal nodes, one PostgreSQL", 860, 400)
    p.box(30, 60, 140, 50, "clients, people", "HTTPS")
    p.box(30, 150, 140, 50, "workers", "lease over HTTPS")
    p.box(30, 240, 140, 50, "programs", "plain SQL")
    p.box(230, 95, 120, 70, "load balancer", "asks /readyz")
    p.arrow((170, 85), (230, 120))
    p.arrow((170, 175), (230, 142))
    p.group(410, 20, 170, 280, "nodes: all equal")
    for at in range(3):
        p.box(430, 52 + at * 82, 130, 60, f"node n{at + 1}", "engine, API, console", kind="main")
        p.arrow((350, 130), (380, 130), (380, 82 + at * 82), (430, 82 + at * 82))
        p.arrow((560, 82 + at * 82), (610, 82 + at * 82), (610, 150), (660, 150), both=False)
    p.box(660, 110, 170, 80, "PostgreSQL", "all state, the only clock", "wakes the nodes", kind="wait")
    p.box(660, 250, 170, 50, "standby", "synchronous")
    p.arrow((745, 190), (745, 250), label="replication", at=(753, 225), anchor="start")
    p.box(430, 335, 130, 46, "Redis", "optional hints")
    p.arrow((495, 300), (495, 335), dash=True, both=True)
    p.arrow((170, 265), (395, 265), (395, 320), (640, 320), (640, 175), (660, 175))
    p.say(610, 60, "no leader: the first commit wins", small=True)
    return p


PICTURES = {"data-flow": data_flow, "commit": commit, "task": task, "run": run, "cluster": cluster}
here = os.path.dirname(os.path.abspath(__file__))
wrong = 0
for name, draw in PICTURES.items():
    path, text = os.path.join(here, name + ".svg"), draw().text()
    if "--check" in sys.argv:
        if not os.path.exists(path) or open(path, encoding="utf-8").read() != text:
            print(f"docs/pictures/{name}.svg is not what draw.py draws: run `./dev docs`")
            wrong = 1
    else:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
sys.exit(wrong)
