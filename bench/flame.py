#!/usr/bin/env python3
"""perf script … | bench/flame.py TITLE > FILE.svg: a flame graph; a frame's width is its share of the samples.

Frames below half a percent are left out, so that a graph stays small enough to be kept with the documentation.
"""
import html
import re
import sys

LEAST = 0.005
WIDTH, ROW, TOP = 1200, 17, 44
# Where the time goes, by colour: the kernel, SQLite and PostgreSQL's client, JSON and hashing, the allocator, everything else.
KINDS = [
    ("kernel", re.compile(r"\[k\]"), "#e0a3a3"),
    ("database", re.compile(r"^(sqlite3|PQ|pq|unix[A-Z]|vdbe|wal|pager|btree|balance)"), "#9dbde0"),
    ("JSON, hashing", re.compile(r"[Jj]son|sha256|SHA256|snapshot|number_text|canonical"), "#d9c98b"),
    ("memory", re.compile(r"malloc|free$|operator (new|delete)|_int_|memcpy|memmove|memset"), "#c6b3d9"),
    ("cairn and the rest", re.compile(""), "#a9cfae"),
]


def short(symbol):
    """A function's name without parameters, template arguments and our own namespace."""
    depth, kept = 0, []
    name = re.sub(r"\(anonymous namespace\)::|\[abi:\w+\]|\[clone [^\]]*\]|\.(constprop|part|isra|cold)\.?\d*", "", symbol)
    name = name.replace("operator()", "operator~")
    for letter in name:
        if letter == "<":
            depth += 1
        elif letter == ">" and depth:
            depth -= 1
        elif letter == "(" and not depth:
            break
        elif not depth:
            kept.append(letter)
    name = "".join(kept).replace("operator~", "{lambda}")
    name = re.sub(r"^(?:[\w:]+\s+)+(?=[\w~])", "", name.strip())
    return re.sub(r"\bcairn::", "", name) or symbol[:40]


class Frame:
    def __init__(self, name):
        self.name, self.samples, self.children = name, 0, {}

    def add(self, stack):
        self.samples += 1
        if stack:
            self.children.setdefault(stack[0], Frame(stack[0])).add(stack[1:])

    def depth(self, least):
        below = [child.depth(least) for child in self.children.values() if child.samples >= least]
        return 1 + max(below, default=0)


def read(lines):
    """Samples as stacks, the outermost frame first, below the name of their thread."""
    root, thread, stack = Frame("all"), None, []
    for line in lines:
        if not line.strip():
            if thread is not None:
                root.add([thread] + stack[::-1])
            thread, stack = None, []
        elif thread is None:
            thread = re.match(r"\s*(.+?)\s+\d+", line).group(1)
        else:
            found = re.match(r"\s*[0-9a-f]+ (.*) \((.*)\)$", line.rstrip())
            if not found or found.group(1) == "[unknown]":
                continue
            symbol = re.sub(r"\+0x[0-9a-f]+$", "", found.group(1))
            kernel = "kernel" in found.group(2) or found.group(2).startswith("[")
            name = symbol + " [k]" if kernel else short(symbol)
            # A template that calls itself through wrappers of the same name is one frame.
            if not stack or stack[-1] != name:
                stack.append(name)
    return root


def draw(root, title, out):
    least = root.samples * LEAST
    height = TOP + root.depth(least) * ROW + 30
    write = out.append
    write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">')
    write("<style>text{font:11px ui-monospace,monospace;fill:#1f2328}.t{font:600 15px system-ui,sans-serif}.s{font:12px system-ui,sans-serif}"
          "rect{stroke:#fff;stroke-width:.5}@media (prefers-color-scheme:dark){.t,.s{fill:#e6edf3}rect{stroke:#0d1117}}</style>")
    write(f'<text class="t" x="8" y="20">{html.escape(title)}</text>')
    x = 8
    for name, _, colour in KINDS:
        write(f'<rect x="{x}" y="27" width="11" height="11" fill="{colour}"/><text class="s" x="{x + 16}" y="37">{name}</text>')
        x += 32 + 7 * len(name)
    write(f'<text class="s" x="{x}" y="37">{root.samples} samples, frames below {LEAST * 100:g} % left out</text>')

    def frame(node, left, level):
        width = node.samples / root.samples * WIDTH
        y = height - 24 - (level + 1) * ROW
        colour = next(colour for _, pattern, colour in KINDS if pattern.search(node.name))
        share = f"{node.samples / root.samples * 100:.1f} %"
        text = node.name if len(node.name) * 6.7 < width - 4 else node.name[: max(0, int((width - 10) / 6.7))]
        label = f'<text x="{left + 3:.1f}" y="{y + 12}">{html.escape(text)}</text>' if len(text) > 2 else ""
        write(f'<g><title>{html.escape(node.name)} {share}</title><rect x="{left:.1f}" y="{y}" width="{width:.1f}" height="{ROW - 1}" fill="{colour}"/>{label}</g>')
        for child in sorted(node.children.values(), key=lambda one: one.name):
            if child.samples >= least:
                frame(child, left, level + 1)
            left += child.samples / root.samples * WIDTH

    frame(root, 0, 0)
    write("</svg>")


def hottest(root):
    """Shares of the samples by the innermost frame's kind, for the text beside the picture."""
    own = {}

    def walk(node):
        inside = sum(child.samples for child in node.children.values())
        kind = next(kind for kind, pattern, _ in KINDS if pattern.search(node.name))
        own[kind] = own.get(kind, 0) + node.samples - inside
        for child in node.children.values():
            walk(child)

    walk(root)
    return {kind: samples / root.samples for kind, samples in sorted(own.items(), key=lambda one: -one[1])}


def main():
    root = read(list(sys.stdin) + ["\n"])
    if not root.samples:
        sys.exit("flame: no samples")
    out = []
    draw(root, sys.argv[1], out)
    print("\n".join(out))
    print(sys.argv[1] + ": " + ", ".join(f"{kind} {share * 100:.0f} %" for kind, share in hottest(root).items()), file=sys.stderr)


main()
