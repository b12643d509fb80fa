"""A small checker of JSON schemas: it knows the keywords that ours use and refuses a schema with any other."""

import re

ANNOTATIONS = {"$schema", "$defs", "title", "description"}
KEYWORDS = {"$ref", "const", "enum", "type", "minimum", "maximum", "pattern", "items", "minItems", "maxItems", "properties",
            "required", "additionalProperties"}


def has_type(value, name):
    if isinstance(name, list):
        return any(has_type(value, one) for one in name)
    if name in ("integer", "number"):
        numeric = isinstance(value, int) or (name == "number" and isinstance(value, float))
        return numeric and not isinstance(value, bool)
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
    return isinstance(value, kinds[name])


def faults(value, rule, schema, place="document"):
    """What of `value` is not as `rule` says, one line each."""
    if rule is False:
        yield f"{place}: not in the schema"
        return
    unknown = set(rule) - ANNOTATIONS - KEYWORDS
    if unknown:
        raise SystemExit(f"{place}: the schema uses {unknown}, which this checker does not know")
    if "$ref" in rule:
        yield from faults(value, schema["$defs"][rule["$ref"].removeprefix("#/$defs/")], schema, place)
    if "const" in rule and value != rule["const"]:
        yield f"{place}: {value!r} is not {rule['const']!r}"
    if "enum" in rule and value not in rule["enum"]:
        yield f"{place}: {value!r} is none of {rule['enum']}"
    if "type" in rule and not has_type(value, rule["type"]):
        yield f"{place}: {value!r} is not of type {rule['type']}"
        return
    if "minimum" in rule and has_type(value, "number") and not value >= rule["minimum"]:
        yield f"{place}: {value} is below {rule['minimum']}"
    if "maximum" in rule and has_type(value, "number") and not value <= rule["maximum"]:
        yield f"{place}: {value} is above {rule['maximum']}"
    if "pattern" in rule and isinstance(value, str) and not re.search(rule["pattern"], value):
        yield f"{place}: {value!r} does not match {rule['pattern']}"
    if isinstance(value, list) and not rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", len(value)):
        yield f"{place}: {len(value)} is not how many items it may have"
    if isinstance(value, list) and "items" in rule:
        for index, item in enumerate(value):
            yield from faults(item, rule["items"], schema, f"{place}[{index}]")
    if isinstance(value, dict):
        yield from (f"{place}: {name} is missing" for name in rule.get("required", []) if name not in value)
        for name, item in value.items():
            inner = rule.get("properties", {}).get(name, rule.get("additionalProperties", {}))
            yield from faults(item, inner, schema, f"{place}.{name}")
