"""The part of JSON Schema that generated definitions use."""

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def fits(schema, value):
    if schema is None or schema is True:
        return True
    kind = schema.get("type")
    if kind == "integer" and type(value) is not int:
        return False
    if kind in TYPES and type(value) is not TYPES[kind]:
        return False
    if isinstance(value, dict):
        if any(name not in value for name in schema.get("required", [])):
            return False
        return all(fits(part, value[name]) for name, part in schema.get("properties", {}).items() if name in value)
    return True
