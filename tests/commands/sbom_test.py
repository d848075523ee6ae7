#!/usr/bin/env python3
"""sbom_test.py CAIRN SOURCE_DIR CMAKE: the bill of materials is well-formed CycloneDX, names what the program loads and nothing else, has the notices
to it, and is installed with the program."""
import json, os, re, subprocess, sys, tempfile

cairn, cmake = os.path.abspath(sys.argv[1]), sys.argv[3]
build = os.path.dirname(cairn)
failed = 0


def expect(what, ok, seen=""):
    global failed
    if not ok:
        failed += 1
        print(f"not so: {what}\n  {str(seen)[:800]}")


with open(os.path.join(build, "cairn.cdx.json")) as file:
    bom = json.load(file)
with open(os.path.join(build, "THIRD-PARTY-NOTICES.txt")) as file:
    notices = file.read()

# What the schema of CycloneDX 1.5 asks for.
expect("it is CycloneDX 1.5", (bom["bomFormat"], bom["specVersion"], bom["version"]) == ("CycloneDX", "1.5", 1), bom)
expect("it has a serial number", re.fullmatch(r"urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", bom["serialNumber"]), bom["serialNumber"])
expect("it has only members of the schema", set(bom) <= {"$schema", "bomFormat", "specVersion", "serialNumber", "version", "metadata", "components", "dependencies"}, set(bom))
self = bom["metadata"]["component"]
version = subprocess.run([cairn, "version"], capture_output=True, text=True, timeout=60).stdout
expect("it is about this program", self["name"] == "cairn" and self["version"] in version, (self, version))
references = [component["bom-ref"] for component in bom["components"]]
expect("every component stands there once", len(set(references)) == len(references) and self["bom-ref"] not in references, references)
for component in bom["components"]:
    name = component.get("name")
    expect(f"{name} has what a component has", set(component) == {"type", "bom-ref", "name", "version", "licenses", "purl", "properties"}, component)
    expect(f"{name} has a version", re.match(r"\d", component["version"]) or component["version"] == "system", component)
    expect(f"{name} is a library", component["type"] == "library", component)
    expect(f"{name} has a package URL", re.fullmatch(r"pkg:[a-z]+/[^@\s]+@[^@\s]+", component["purl"]), component["purl"])
    expect(f"{name} has a licence", component["licenses"] and all(set(one) in ({"license"}, {"expression"}) for one in component["licenses"]), component)
    expect(f"{name} has properties of text", all(set(one) == {"name", "value"} and isinstance(one["value"], str) for one in component["properties"]), component)
for dependency in bom["dependencies"]:
    known = set(references) | {self["bom-ref"]}
    expect("dependencies are components", dependency["ref"] in known and set(dependency["dependsOn"]) <= known, dependency)
expect("the program depends on all of them", set(bom["dependencies"][0]["dependsOn"]) == set(references))


def values(component, name):
    return [one["value"] for one in component["properties"] if one["name"] == name]


# What is loaded, as the file itself says.
dynamic = subprocess.run(["readelf", "-d", cairn], capture_output=True, text=True, timeout=60)
needed = {re.sub(r"\.so.*", "", name) for name in re.findall(r"NEEDED.*\[(.*)\]", dynamic.stdout)}
needed = {re.sub(r"-\d+(\.\d+)*$", "", name) if name.startswith("libhiredis") else name for name in needed}
named = {soname for component in bom["components"] for soname in values(component, "cairn:soname")}
sanitizers = {name for name in needed if re.fullmatch(r"lib[alut]+san", name)}
expect("the program loads something", len(needed) > 5, dynamic.stdout + dynamic.stderr)
expect("all that the program loads is named", needed - sanitizers <= named, needed - named)
for component in bom["components"]:
    sonames = values(component, "cairn:soname")
    loaded = bool(set(sonames) & needed)
    expect(f"{component['name']} is linked as it says", loaded == (values(component, "cairn:linked") == ["dynamic"]), (component, needed))
    if component["name"] in ("glibc", "gcc-runtime"):
        continue
    title = f"\n{component['name']} {component['version']} ("
    expect(f"{component['name']} has its notice", title in notices, notices[:300])

# Installed beside the program.
with tempfile.TemporaryDirectory() as folder:
    done = subprocess.run([cmake, "--install", build, "--component", "command", "--prefix", folder], capture_output=True, text=True, timeout=120)
    expect("it installs", done.returncode == 0, done.stderr)
    there = {os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names}
    for name in ("share/cairn/cairn.cdx.json", "share/doc/cairn/THIRD-PARTY-NOTICES.txt", "share/doc/cairn/LICENSE", "lib/systemd/system/cairn.service",
                 "lib/sysusers.d/cairn.conf", "bin/cairn"):
        expect(f"{name} is installed", name in there, there)
sys.exit(1 if failed else 0)
