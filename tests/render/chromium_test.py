#!/usr/bin/env python3
"""chromium_test.py CAIRN SOURCE_DIR [--keep FOLDER]: draws every example, every valid definition and hostile titles, opens
all of them in headless Chromium and measures: no text outside its step, its label's room or the picture, no two texts on
each other, nothing that is not drawn text. --keep leaves the pictures there, SVG and PNG, to be looked at."""
import glob, html, json, os, re, shutil, subprocess, sys, tempfile

cairn, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
keep = os.path.abspath(sys.argv[4]) if len(sys.argv) > 4 else None
chromium = shutil.which("chromium") or sys.exit("needs chromium")
folder = keep or tempfile.mkdtemp()
os.makedirs(folder, exist_ok=True)

hostile = {
    "script": "</text></svg><script>alert(1)</script><svg onload=alert(1)>",
    "long": "word " * 2000,
    "unbroken": "x" * 10000,
    "rtl": "\u202eمرحبا بالعالم\u202c שלום עולם",
    "emoji": "👩‍👩‍👧‍👦 🏳️‍🌈 🎉" * 5,
    "wide": "審査の結果を申請者に通知する" * 3,
    "entities": "&lt;b&gt; & \" ' ]]> <!-- --> &#x0;",
    "control": "a\u0007b\u001bc\u0085d\u2028e",
}


def draw(name, arguments, text=None):
    for ending in ("svg", "png"):
        subprocess.run([cairn, "render", *arguments, "-o", f"{folder}/{name}.{ending}"], input=text, text=True, check=True,
                       stderr=subprocess.DEVNULL)


for path in sorted(glob.glob(f"{source}/examples/*.yaml") + glob.glob(f"{source}/tests/definitions/valid/*.yaml")):
    if path.endswith(".test.yaml"):
        continue
    name = re.sub(r"\W", "_", os.path.basename(path)[:-5])
    for flags in ([], ["--theme", "dark"], ["--direction", "lr"]):
        draw(name + "".join(flags[1:]), [path, *flags])
for name, title in hostile.items():
    steps = [{"id": "a", "title": title, "set": {"x": 1}}, {"title": title, "if": "state.x == 1", "then": [{"task": {"name": "T", "title": title}}]},
             {"switch": [{"when": f"state.x == {json.dumps(title[:400], ensure_ascii=False)}", "steps": [{"wait": "1h"}]}, {"default": []}]},
             {"parallel": {"branches": {"left": [{"title": title, "wait": "1h"}], "right": []}}}]
    draw("hostile_" + name, ["-"], json.dumps({"cairn": 1, "name": "hostile", "version": "1.0.0", "title": title, "steps": steps}))

measure = r"""
const faults = [];
const allowed = new Set(["svg", "title", "desc", "rect", "circle", "path", "text", "g"]);
function inside(a, b, slack) { return a.x >= b.x - slack && a.y >= b.y - slack && a.x + a.width <= b.x + b.width + slack && a.y + a.height <= b.y + b.height + slack; }
for (const svg of document.querySelectorAll("svg")) {
  const name = svg.parentElement.id;
  for (const part of svg.querySelectorAll("*"))
    if (!allowed.has(part.tagName)) faults.push([name, "element " + part.tagName]);
    else for (const a of part.attributes) if (/^on|href|style/i.test(a.name)) faults.push([name, "attribute " + a.name]);
  const whole = {x: 0, y: 0, width: svg.viewBox.baseVal.width, height: svg.viewBox.baseVal.height};
  const texts = [...svg.querySelectorAll("text")].map(t => [t, t.getBBox()]);
  for (const [t, box] of texts) {
    if (!inside(box, whole, 1)) faults.push([name, "outside the picture: " + t.textContent.slice(0, 40)]);
    const step = t.closest("g[data-step]");
    if (!step) continue;
    let room = null;
    for (const shape of step.querySelectorAll(":scope > rect, :scope > path, :scope > circle")) {
      const b = shape.getBBox();
      if (!room || b.width * b.height > room.width * room.height) room = b;
    }
    if (room && !inside(box, room, 2) && !t.closest("[data-badge]")) faults.push([name, "outside its step: " + t.textContent.slice(0, 40) + " " + [box.width, room.width]]);
  }
  for (let i = 0; i < texts.length; i++) for (let j = i + 1; j < texts.length; j++) {
    const a = texts[i][1], b = texts[j][1];
    const w = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x), h = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
    if (w > 1 && h > 3) faults.push([name, "on each other: " + texts[i][0].textContent.slice(0, 30) + " / " + texts[j][0].textContent.slice(0, 30)]);
  }
}
document.body.innerHTML = "";
document.body.appendChild(document.createTextNode("RESULT" + JSON.stringify({faults, alerted: !!window.alerted}) + "END"));
"""
# A bad picture, so that a measurement that finds nothing is not mistaken for a good one.
planted = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 100" width="200" height="100"><image href="x"/>
<g data-step="a"><rect onclick="x" x="10" y="10" width="40" height="20"/><text x="12" y="24" font-size="11">far too long for it</text></g>
<text x="12" y="26" font-size="11">on top</text><text x="190" y="90" font-size="11">cut off</text></svg>"""
pictures = sorted(glob.glob(f"{folder}/*.svg"))
with open(f"{folder}/all.html", "w") as page:
    page.write("<!doctype html><meta charset=utf-8><body><script>window.alert = () => { window.alerted = true; }</script>\n")
    for path in pictures:
        page.write(f'<div id="{html.escape(os.path.basename(path))}">{open(path).read()}</div>\n')
    page.write(f'<div id="planted">{planted}</div><script>{measure}</script>')
profile = tempfile.mkdtemp()
seen = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
                       "--disable-component-update", "--disable-sync", f"--user-data-dir={profile}", "--dump-dom", f"file://{folder}/all.html"],
                      capture_output=True, text=True, timeout=300).stdout
shutil.rmtree(profile, ignore_errors=True)
found = re.search(r"RESULT(.*)END", seen, re.S) or sys.exit("chromium gave no result: " + seen[-300:])
result = json.loads(html.unescape(found.group(1)))
wanted = {"element", "attribute", "outside its", "on each", "outside the"}
found_planted = {kind for name, fault in result["faults"] if name == "planted" for kind in wanted if fault.startswith(kind)}
if found_planted != wanted:
    sys.exit(f"the measurement is blind: {wanted - found_planted}")
result["faults"] = [one for one in result["faults"] if one[0] != "planted"]
for name, fault in result["faults"][:40]:
    print(f"{name}: {fault}")
print(f"{len(pictures)} pictures, {len(result['faults'])} faults{', a script ran' if result['alerted'] else ''}")
if not keep:
    shutil.rmtree(folder)
sys.exit(1 if result["faults"] or result["alerted"] or not pictures else 0)
