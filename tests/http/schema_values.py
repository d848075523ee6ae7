"""Values for a JSON Schema: valid ones, nearly valid ones and hostile ones, all from one random generator."""
import json

HOSTILE_TEXTS = ["", " ", "\u0000", "\u2028", "é" * 40, "x" * 5000, "../../etc/passwd", "' OR 1=1 --", "<script>", "%2F", "null", "0", "-1", "1e400", "\ud83d\ude00"]
HOSTILE_VALUES = [None, True, False, 0, -1, 2**31, 2**53 + 1, 2**63, -(2**63), 1e308, 0.1, [], {}, [[]], {"": None}, [1] * 200, "x" * 2000]


def resolve(schema, document):
    while isinstance(schema, dict) and "$ref" in schema:
        place = document
        for part in schema["$ref"].lstrip("#/").split("/"):
            place = place[part]
        schema = place
    return schema


def valid(schema, random, document=None, depth=0):
    """A value that the schema most likely takes; patterns and formats are tried, not guaranteed."""
    schema = resolve(schema, document)
    if schema is True or schema == {} or not isinstance(schema, dict):
        return random.choice([None, 1, "text", {"a": 1}, [1, 2], True])
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return random.choice(schema["enum"])
    for word in ("oneOf", "anyOf"):
        if word in schema:
            return valid({**{k: v for k, v in schema.items() if k != word}, **resolve(random.choice(schema[word]), document)}, random, document, depth)
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = random.choice(kind)
    if kind is None:
        kind = "object" if "properties" in schema else random.choice(["string", "integer", "null"])
    if kind == "object":
        value = {}
        required = set(schema.get("required", []))
        for name, part in schema.get("properties", {}).items():
            if name in required or (depth < 4 and random.random() < 0.4):
                value[name] = valid(part, random, document, depth + 1)
        return value
    if kind == "array":
        count = random.randint(schema.get("minItems", 0), min(schema.get("maxItems", 3), 3 + schema.get("minItems", 0)))
        return [valid(schema.get("items", {}), random, document, depth + 1) for _ in range(count)]
    if kind == "integer":
        return random.randint(int(schema.get("minimum", 0)), int(min(schema.get("maximum", 100), 1 << 40)))
    if kind == "number":
        return random.choice([0, 1, 0.5, schema.get("minimum", 0)])
    if kind == "boolean":
        return random.random() < 0.5
    if kind == "null":
        return None
    if "duration" in str(schema.get("description", "")) or schema.get("format") == "duration":
        return random.choice(["1s", "5m", "PT1H", "2d"])
    if schema.get("format") == "date-time":
        return random.choice(["2026-01-01T00:00:00Z", "2031-06-30T12:00:00+02:00"])
    text = random.choice(["a", "demo.work.v1", "clerk", "1s", "five words in a row", "Grüße"])
    return text[: schema.get("maxLength", 1 << 20)]


def spoiled(value, random):
    """The same value with one thing wrong in it."""
    if isinstance(value, dict) and value and random.random() < 0.8:
        copy = dict(value)
        name = random.choice(sorted(copy))
        way = random.randrange(4)
        if way == 0:
            del copy[name]
        elif way == 1:
            copy[name + random.choice(["x", " ", "\u0000"])] = copy.pop(name)
        elif way == 2:
            copy[name] = spoiled(copy[name], random)
        else:
            copy["unknown"] = random.choice(HOSTILE_VALUES)
        return copy
    if isinstance(value, list) and value and random.random() < 0.5:
        return value[:-1] + [spoiled(value[-1], random)]
    if isinstance(value, str) and random.random() < 0.6:
        return random.choice(HOSTILE_TEXTS)
    return random.choice(HOSTILE_VALUES)


def spoiled_text(value, random):
    """JSON text with damage below the level of values."""
    text = json.dumps(value)
    way = random.randrange(6)
    if way == 0:
        return text[: random.randrange(len(text) + 1)].encode()
    if way == 1:
        return b"\xff\xfe" + text.encode()
    if way == 2:
        return ("[" * random.choice([10, 600, 20000])).encode()
    if way == 3:
        return (text + text).encode()
    if way == 4:
        at = random.randrange(len(text) + 1)
        return text[:at].encode() + bytes([random.randrange(256)]) + text[at:].encode()
    return b"1e999999999"
