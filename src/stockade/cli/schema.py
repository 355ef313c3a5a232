"""The JSON Schema of a configuration file, made from the settings table and the keys of rules."""

from __future__ import annotations

from typing import Any

from stockade.config.settings import SETTINGS, Setting
from stockade.model.action import KEY_CLASS, TOOL_KEYS

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TEXTS = {"type": "array", "items": {"type": "string"}}


def schema() -> dict[str, Any]:
    """A JSON Schema (draft 2020-12) that a configuration file, read as TOML, meets."""
    properties: dict[str, Any] = {"version": {"description": "the version of the format", "const": 1}}
    for setting in SETTINGS:
        section, _, key = setting.name.rpartition(".")
        if section:
            table = properties.setdefault(section, {"type": "object", "additionalProperties": False, "properties": {}})
            table["properties"][key] = _setting(setting)
        else:
            properties[key] = _setting(setting)
    properties["permission"] = {"$ref": "#/$defs/permission"}
    return {
        "$schema": _DIALECT,
        "title": "Stockade configuration",
        "description": "`.stockade/config.toml`, the user's `config.toml`, and the managed file",
        "type": "object",
        "additionalProperties": False,
        "required": ["version"],
        "properties": properties,
        "$defs": _definitions(),
    }


def _setting(setting: Setting) -> dict[str, Any]:
    kinds: dict[str, dict[str, Any]] = {
        "word": {"type": "string", "enum": list(setting.values)},
        "flag": {"type": "boolean"},
        "number": {"type": "integer", "minimum": 0},
        "size": {"type": "string", "pattern": "^([0-9]{1,6}[KMGTkmgt]?[Bb]?)?$"},
        "texts": _TEXTS,
        "table": {"type": "object", "additionalProperties": {"type": "string"}},
    }
    default = list(setting.default) if isinstance(setting.default, tuple) else setting.default
    return {"description": setting.meaning, "default": default, **kinds[setting.kind]}


def _definitions() -> dict[str, Any]:
    verdict = {"description": "what the rule answers", "type": "string", "enum": ["allow", "ask", "deny"]}
    answer = {"anyOf": [{"$ref": "#/$defs/verdict"}, {"$ref": "#/$defs/rule"}]}
    patterns = {
        "description": "patterns with a verdict each; the last that matches wins",
        "type": "object",
        "not": {"required": ["verdict"]},
        "additionalProperties": answer,
    }
    return {
        "verdict": verdict,
        "rule": _rule(),
        "patterns": patterns,
        "permission": {
            "description": "rules by key or `Tool(pattern)`; order is meaning, and the last that matches wins",
            "type": "object",
            "propertyNames": {"pattern": _names()},
            "properties": {key: {"$ref": "#/$defs/subject"} for key in KEY_CLASS},
            "additionalProperties": {"$ref": "#/$defs/subject"},
        },
        "subject": {"anyOf": [{"$ref": "#/$defs/verdict"}, {"$ref": "#/$defs/rule"}, {"$ref": "#/$defs/patterns"}]},
    }


def _rule() -> dict[str, Any]:
    return {
        "description": "a verdict with examples, which are checked when the file loads",
        "type": "object",
        "required": ["verdict"],
        "additionalProperties": False,
        "properties": {
            "verdict": {"$ref": "#/$defs/verdict"},
            "match": {**_TEXTS, "description": "what the rule must match"},
            "not_match": {**_TEXTS, "description": "what it must not match"},
            "reason": {"type": "string", "description": "why the rule is there"},
        },
    }


def _names() -> str:
    """`*`, a key or a tool in any case, with a pattern in parentheses or without."""
    words = sorted({*KEY_CLASS, *TOOL_KEYS})
    any_case = "|".join("".join(f"[{c.upper()}{c}]" if c.isalpha() else c for c in word) for word in words)
    return rf"^\s*(?:\*|(?:{any_case})(?:\([\s\S]*\))?)\s*$"
