"""What the alerts and the dashboard in deploy/ ask of a server, compared with an answer of /metrics."""
import json, os, re

# Prometheus adds these labels to every sample.
ADDED = {"job", "instance"}
# Prometheus makes this metric itself.
OWN = {"up": [{}]}

NAME = re.compile(r"\b((?:cairn|process)_[a-z_]+|up)\b(?:\{([^}]*)\})?")
MATCHER = re.compile(r'([a-z_]+)(=~|!~|!=|=)"((?:[^"\\]|\\.)*)"')
SAMPLE = re.compile(r"([a-z_]+)(?:\{(.*)\})? ")


def samples_of(text):
    """{name: [labels of each sample]} of an answer of /metrics."""
    found = {}
    for line in text.splitlines():
        if line and line[0] != "#":
            name, labels = SAMPLE.match(line).groups()
            found.setdefault(name, []).append(dict(re.findall(r'([a-z_]+)="((?:[^"\\]|\\.)*)"', labels or "")))
    return found


def queries_of(source):
    """(where, expression, labels that its texts name) of each alert and of each panel."""
    with open(os.path.join(source, "deploy/alerts.yml")) as file:
        for rule in re.split(r"^\s*- alert: ", file.read(), flags=re.M)[1:]:
            expression = re.search(r"^\s*expr: (.*)$", rule, re.M)
            labels = set(re.findall(r"\$labels\.([a-z_]+)", rule))
            yield "alert " + rule.split()[0], expression.group(1) if expression else "", labels
    with open(os.path.join(source, "deploy/grafana-dashboard.json")) as file:
        dashboard = json.load(file)
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield "variable " + variable["name"], variable["query"], set()
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            labels = set(re.findall(r"\{\{\s*([a-z_]+)\s*\}\}", target.get("legendFormat", "")))
            yield "panel " + panel["title"], target["expr"], labels


def names_in(expression):
    return {name for name, _ in NAME.findall(without_texts(expression))}


def without_texts(expression):
    """The expression without the labels of `by`, which may be called like a metric."""
    return re.sub(r"\bby \([^)]*\)", "", expression)


def faults(expression, labels_named, samples, may_be_absent=()):
    """Why the expression would find nothing on a server that has these samples. `may_be_absent` are matchers of what the server
    has not done."""
    samples = {**samples, **OWN}
    selectors = NAME.findall(without_texts(expression))
    if not selectors:
        yield "no series in: " + expression
    kept = set()
    for name, matchers in selectors:
        if name not in samples:
            yield "no series " + name
            continue
        own = set().union(*samples[name])
        kept |= own
        wanted = []
        for label, operator, text in MATCHER.findall(matchers):
            if label in ADDED:
                continue
            if label not in own:
                yield f"{name} has no label {label}"
            # A misspelt name in a list of names would go unnoticed, so each must exist.
            elif (each := f'{label}{operator}"{text}"') not in may_be_absent:
                for one in text.split("|") if operator in ("=~", "!~") else [text]:
                    same = (lambda value: re.fullmatch(one, value)) if operator in ("=~", "!~") else (lambda value: value == one)
                    if not any(same(labels.get(label, "")) for labels in samples[name]):
                        yield f"{name} has no {label} like {one} of {each}"
                wanted.append((label, operator, text))
        if not any(all(fits(labels.get(label, ""), *how) for label, *how in wanted) for labels in samples[name]):
            yield f"no sample of {name} has all of {matchers}"
    grouped = set()
    for group in re.findall(r"\bby \(([^)]*)\)", expression):
        grouped |= {label.strip() for label in group.split(",")}
    for label in sorted(grouped - kept - ADDED):
        yield "no series has the label " + label
    # An aggregation keeps only the labels of `by`.
    aggregated = re.search(r"\b(sum|max|min|avg|count)\b", expression)
    for label in sorted(labels_named - (grouped if aggregated else kept | ADDED)):
        yield "the text names the label " + label + ", which the answer lacks"


def fits(value, operator, text):
    matches = re.fullmatch(text, value) is not None if operator in ("=~", "!~") else value == text
    return matches != operator.startswith("!")
