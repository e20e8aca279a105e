"""schemas.py: validates what services answer and publish against conf/schema, with no member that a schema does not name.

    schemas.check_reply("status", reply)            # a reply from the socket, to a request of this kind
    schemas.check_output(["hosts", ...], stdout)    # what `ballast hosts --format json` printed
    schemas.check_events(state_dir)                 # all events in a store
    schemas.check("events", "pass_done", data)      # any definition
    schemas.check("asyncapi", "online", payload)    # a message of conf/asyncapi.json
    schemas.check("backtest", None, document)       # a whole file

Each raises AssertionError. A document whose shape (members, types, words) was validated before is not validated again: tests ask
for the status several times a second. Without jsonschema nothing is validated; tests/peers/test_replies.py then says that it is skipped.
"""
import contextlib
import json
import os
import pathlib
import re
import sqlite3
import threading

try:
    import jsonschema
except ImportError:
    jsonschema = None

TOP = pathlib.Path(os.environ.get("BALLAST_SOURCE_DIR") or pathlib.Path(__file__).resolve().parents[1])
FILES = ("words", "snapshot", "plan", "requests", "replies", "events", "mqtt", "asyncapi", "simulation", "backtest")
WORD = re.compile(r"[a-z_]{1,30}")

# What a verb prints with --format json: the member of the reply to this request. None: the whole reply.
PRINTED = {
    "status": ("status", "status"), "hosts": ("hosts", "hosts"), "vms": ("vms", "vms"), "pools": ("pools", "pools"),
    "recommendations": ("recommendations", "recommendations"), "history": ("history", "history"), "samples": ("samples", "samples"),
    "schedule": ("schedule", "schedule"), "forecast": ("forecast", "forecast"), "console": ("console", "console"), "run": ("run", None),
    "apply": ("apply", "actions"), "reject": ("reject", "actions"), "maintenance": ("maintenance", "actions"),
    "standby": ("standby", "actions"), "wake": ("wake", "actions"), "confirm-controller": ("confirm_controller", "identity"),
    "metrics": ("metrics", None), "config": ("config_diff", "config_diff"), "passes": ("passes", "passes"),
}

seen = {}       # definition -> shapes that were validated
validators = {}
lock = threading.Lock()


def load(name):
    return json.loads((TOP / "conf" / path(name)).read_text(encoding="utf-8"))


def path(name):
    return "asyncapi.json" if name == "asyncapi" else f"schema/{name}.json"


def definition(file, name):
    """A JSON pointer; without a name the whole file."""
    return f"/components/messages/{name}/payload" if file == "asyncapi" else f"/$defs/{name}" if name else ""


def closed(schema):
    """A copy in which every object has only the members that are named: an undocumented one is found."""
    if isinstance(schema, list):
        return [closed(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(value) for key, value in schema.items()}
    if isinstance(made.get("properties"), dict) and "additionalProperties" not in made and "$ref" not in made:
        made["additionalProperties"] = False
    return made


def moved(schema, name):
    """A copy whose references are those of a bundle that has each file as a definition of its name."""
    if isinstance(schema, list):
        return [moved(s, name) for s in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: moved(value, name) for key, value in schema.items() if key not in ("$schema", "contentSchema")}
    if "$ref" in made:
        file, _, pointer = made["$ref"].partition("#")
        made["$ref"] = f"#/$defs/{pathlib.PurePath(file).stem or name}{pointer}"
    return made


def validator(file, name):
    with lock:
        if "bundle" not in validators:
            validators["bundle"] = {f: moved(closed(load(f)), f) for f in FILES}
        if (file, name) not in validators:
            bundle = validators["bundle"]
            where = bundle[file]
            for step in definition(file, name).split("/")[1:]:
                assert step in where, f"conf/{path(file)} has no definition of {name}"
                where = where[step]
            validators[file, name] = jsonschema.Draft202012Validator({"$ref": f"#/$defs/{file}{definition(file, name)}", "$defs": bundle})
        return validators[file, name]


def shape(value):
    """The members with their types, and the words; of a list the shapes of its elements."""
    if isinstance(value, dict):
        return tuple((key, shape(v)) for key, v in sorted(value.items()))
    if isinstance(value, list):
        return frozenset(map(shape, value))
    if isinstance(value, str):
        return value if WORD.fullmatch(value) else "?"
    return type(value).__name__


def reduced(value):
    """A copy whose lists have one element of each shape."""
    if isinstance(value, dict):
        return {key: reduced(v) for key, v in value.items()}
    if isinstance(value, list):
        return [reduced(v) for v in {shape(v): v for v in value}.values()]
    return value


def check(file, name, document, member=None):
    """member: the document is this member of it."""
    if jsonschema is None:
        return
    key = (file, name, member)
    form = shape(document)
    if form in seen.setdefault(key, set()):
        return
    seen[key].add(form)
    errors = validator(file, name).iter_errors({member: reduced(document)} if member else reduced(document))
    # where only a member is known, the others are missing from the top
    error = next((e for e in errors if not (member and e.validator == "required" and not e.absolute_path)), None)
    assert error is None, f"{name or 'it'} is not as conf/{path(file)} says: " \
        f"/{'/'.join(map(str, error.absolute_path))}: {error.message[:500]}"


def check_event(kind, data):
    check("events", kind, data)


def check_reply(kind, reply):
    if reply is None:
        return
    kind = {"freeze": "pause", "thaw": "resume"}.get(kind, kind)
    check("replies", kind if reply.get("ok") else "error", reply)
    for event in reply.get("events", []):
        check_event(event["kind"], event["data"])


def check_output(arguments, text):
    """Of a command that has succeeded; what asks no service, or does not print JSON, is left alone."""
    arguments = [str(a) for a in arguments]
    if "json" not in arguments or not {"--snapshot", "--config", "--help"}.isdisjoint(arguments):
        return
    request, member = PRINTED.get(arguments[0], (None, None))
    if arguments[0] == "status" and "--since" in arguments:
        request = member = "summary"
    if arguments[0] in ("vms", "hosts", "pools") and not arguments[1].startswith("--"):
        request = member = "series"
    if arguments[0] == "history" and "--energy" in arguments:
        request = member = "energy"
    if arguments[:2] in (["maintenance", "roll"], ["maintenance", "stop"]):
        request = member = "roll"
    if request and text.strip():
        check("replies", request, json.loads(text), member)


def check_events(state_dir):
    path = pathlib.Path(state_dir) / "ballast.db"
    if jsonschema is None or not path.exists():
        return
    with contextlib.suppress(sqlite3.Error):  # a test may have damaged it
        with contextlib.closing(sqlite3.connect(path)) as db:
            rows = db.execute("SELECT kind, data FROM events").fetchall()
        for kind, data in rows:
            check_event(kind, json.loads(data))
