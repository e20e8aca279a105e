"""api_requests.py: requests made from the service's OpenAPI document: those that it allows and those that it does not.

    api = Document(json)                             # with all schemas, as the service gives it
    for operation in api.operations: ...             # method, path, least role, parameters, body
    requests(api, operation, real)                   # a strategy of hypothesis: Request
    api.wrong_in(operation, status, headers, body)   # of an answer; None: it is as the document says

`real` gives values that exist, by the name of a field: without them hardly a request would get past "no such host".
"""
import dataclasses
import json
import re
import urllib.parse

import jsonschema
from hypothesis import strategies as st

from schemas import closed, reduced

TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
TRICKS = ("", ".", "..", "%2e%2e", "%2E", "%00", "%0d%0aX-A:%20b", "%ff", "%c0%af", "%", "%zz", "a/b", "a//b", "//", "../../etc/passwd", "%2e%2e/%2e%2e",
          "a" * 9000, "x%2fy" * 20, "\\..\\", "a;b=c", "%e2%80%ae")
OTHER_TYPES = ("text/plain", "application/x-www-form-urlencoded", "application/jsonx", "multipart/form-data; boundary=a", "")
NO_JSON = (b"\0", b"[" * 5000, b'{"a":' * 5000, b'{"a":1,"a":1}', b"nul", b" " * 66000, b'{"host":"\\ud800"}', b"[]", b"7", b'"{}"')
BODY_MAX = 65536
NASTY = ("", "0", "-1", "1e9", "999999999999999999999999", "null", "true", "'; DROP TABLE tokens; --", "<script>alert(1)</script>",
         "=cmd|' /C calc'!A0", "${jndi:ldap://127.0.0.1/a}", "%s%n%x", "\u202e", "\U0001f4a9" * 80, "x" * 300, "x" * 5000, "\u0000", "a\nb")


@dataclasses.dataclass
class Operation:
    method: str
    path: str
    role: str  # the least one; "": none is needed
    parameters: list
    body: dict  # its schema
    needs_body: bool
    responses: dict

    def __str__(self):
        return f"{self.method} {self.path}"


@dataclasses.dataclass
class Request:
    target: str
    body: bytes
    headers: dict
    valid: bool  # as far as the document says
    trick: bool  # the path is not that of the operation

    def __repr__(self):
        return f"{'valid' if self.valid else 'invalid'} {self.target[:400]} {self.headers} {self.body[:400] if self.body else ''}"


class Document:
    def __init__(self, document):
        self.components = {**document["components"], "schemas": closed(document["components"]["schemas"])}
        self.validators = {}
        self.formats = jsonschema.FormatChecker(formats=())
        self.formats.checks("date-time")(lambda v: not isinstance(v, str) or bool(TIME.fullmatch(v)))
        self.operations = [self.operation(method.upper(), path, o) for path, item in document["paths"].items() for method, o in item.items()]

    def follow(self, value):
        """Through references; members beside one stay."""
        while "$ref" in value:
            part = {"components": self.components}
            for step in value["$ref"].removeprefix("#/").split("/"):
                part = part[step]
            value = {**part, **{k: v for k, v in value.items() if k != "$ref"}}
        return value

    def operation(self, method, path, o):
        body = o.get("requestBody", {})
        role = next(iter(o["security"]), {"token": [""]})["token"][0]
        return Operation(method, path, role, [self.follow(p) for p in o.get("parameters", [])],
                         body.get("content", {}).get("application/json", {}).get("schema"), body.get("required", False), o["responses"])

    def is_valid(self, schema, value):
        return self.validator(schema).is_valid(value)

    def validator(self, schema):
        key = json.dumps(schema, sort_keys=True)
        if key not in self.validators:
            self.validators[key] = jsonschema.Draft202012Validator({**closed(schema), "components": self.components},
                                                                   format_checker=self.formats)
        return self.validators[key]

    def allows(self, schema, text):
        """A text of a path or a parameter: as one of the JSON values that the service takes it for. None holds a control character."""
        if re.search("[\x00-\x1f\x7f]", text):
            return False
        values = [text]
        if text.isascii() and text.isdigit() and len(text) < 19:
            values.append(int(text))
        if text in ("true", "false"):
            values.append(text == "true")
        return any(self.is_valid(schema, v) for v in values)

    def wrong_in(self, operation, status, headers, body):
        """What the document does not say of this answer; None: it says all."""
        response = operation.responses.get(str(status))
        if response is None:
            return f"the status {status} is not documented: {body[:300]}"
        response = self.follow(response)
        described = response.get("headers", {})
        for name in {"ETag", "Link", "X-Total-Count", "Retry-After", "WWW-Authenticate"} & set(headers):
            if name not in described:
                return f"{status}: the header {name} is not documented"
        for name, header in described.items():
            if name != "Link" and name not in headers:
                return f"{status} without the header {name}"
            if name in headers and not self.allows(self.follow(header)["schema"], headers[name]):
                return f"{status}: {name}: {headers[name]}"
        return self.wrong_in_body(status, response.get("content"), headers, body)

    def wrong_in_body(self, status, content, headers, body):
        if content is None:
            return f"{status} with a body" if body else None
        media = headers["Content-Type"].split(";")[0]
        if media not in content and "*/*" not in content:
            return f"{status}: {media} is not documented"
        if "json" not in media or not body:
            return None
        error = next(self.validator(content[media]["schema"]).iter_errors(reduced(json.loads(body))), None)
        return error and f"{status}: /{'/'.join(map(str, error.absolute_path))}: {error.message[:500]}"


# ---- values -------------------------------------------------------------------------------------------------------------------------

TEXTS = st.characters(blacklist_categories=["Cs"])
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(TEXTS), st.sampled_from(NASTY))
ANYTHING = st.recursive(LEAVES, lambda v: st.one_of(st.lists(v, max_size=3), st.dictionaries(st.text(TEXTS, max_size=9), v, max_size=3)), max_leaves=6)


def plain(schema):
    """Of a type that holds no others."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "boolean":
        return st.booleans()
    if isinstance(schema["type"], list):
        return st.one_of([plain({**schema, "type": t}) for t in schema["type"]])
    if schema["type"] == "number":
        return st.floats(schema.get("minimum"), schema.get("maximum"), allow_nan=False, allow_infinity=False)
    if schema["type"] == "integer":
        limits = [schema[k] for k in ("minimum", "maximum") if k in schema]
        numbers = st.integers(schema.get("minimum"), schema.get("maximum"))
        return st.one_of(numbers, st.sampled_from(limits)) if limits else numbers
    if schema.get("format") == "date-time":
        return st.datetimes().map(lambda t: f"{t.isoformat(timespec='seconds')}Z")
    if "pattern" in schema:
        return st.from_regex(schema["pattern"], fullmatch=True)
    return st.text(TEXTS, min_size=schema.get("minLength", 0), max_size=min(schema.get("maxLength", 60), 60))


def allowed(api, schema, name, real):
    """Values that the schema allows; name: of the field."""
    schema = api.follow(schema)
    if schema.get("type") == "object" and "properties" not in schema:
        keys = st.sampled_from(real[name]) if name in real else st.text(TEXTS, max_size=9)
        values = allowed(api, schema["additionalProperties"], "", real) if "additionalProperties" in schema else ANYTHING
        return st.dictionaries(keys, values, min_size=schema.get("minProperties", 0), max_size=3)
    if schema.get("type") == "object":
        parts = {k: allowed(api, v, k, real) for k, v in schema["properties"].items()}
        required = {k: parts.pop(k) for k in schema.get("required", [])}
        return st.fixed_dictionaries(required, optional=parts)
    if schema.get("type") == "array":
        return st.lists(allowed(api, schema["items"], name, real), min_size=schema.get("minItems", 0), max_size=4)
    if "anyOf" in schema:
        made = st.one_of([allowed(api, s, name, {}) for s in schema["anyOf"]])
    else:
        made = plain(schema)
    known = [v for v in real.get(name, []) if api.is_valid(schema, v)]
    return st.one_of(st.sampled_from(known), made) if known else made


# ---- requests -----------------------------------------------------------------------------------------------------------------------

def as_text(value):
    return json.dumps(value) if isinstance(value, bool) else str(value)


@st.composite
def requests(draw, api, operation, real):
    """Some may be carried out, the others have a mistake somewhere."""
    wrong = draw(st.sampled_from(["", "", "", "cluster", "path", "trick", "query", "extra", "body", "field", "text"]))
    target, valid, trick, query = operation.path, True, False, []
    for p in operation.parameters:
        name, schema = p["name"], p["schema"]
        if p["in"] == "path" and wrong == "trick":
            target, trick = target.replace("{%s}" % name, draw(st.sampled_from(TRICKS))), True
        elif p["in"] == "path":
            mistaken = wrong == ("cluster" if name == "cluster" else "path")
            text = as_text(draw(st.one_of(st.sampled_from(NASTY), st.text(TEXTS)) if mistaken else
                                st.just(real["cluster"][0]) if name == "cluster" else allowed(api, schema, name, real)))
            valid = valid and api.allows(schema, text) and (name != "cluster" or text in real["cluster"])
            target = target.replace("{%s}" % name, urllib.parse.quote(text, safe=""))
        elif p["in"] == "query" and (p["required"] or draw(st.booleans())):
            mistaken = wrong == "query" and draw(st.booleans())
            text = as_text(draw(LEAVES if mistaken else allowed(api, schema, name, real)))
            valid = valid and api.allows(schema, text)
            query.append((name, text))
    if wrong == "extra" and operation.role:
        query.append((draw(st.sampled_from(["command", "x", "Limit", "ids[]", "__proto__"])), "1"))
        valid = False
    body, headers, good = (None, {}, True) if operation.method == "GET" else draw(bodies(api, operation, real, wrong))
    return Request(target + ("?" + urllib.parse.urlencode(query) if query else ""), body, headers, valid and good and not trick, trick)


@st.composite
def bodies(draw, api, operation, real, wrong):
    """Bytes, headers, whether the document allows them."""
    schema = operation.body or {"type": "object", "properties": {}}
    if not operation.needs_body and wrong not in ("body", "field", "text") and draw(st.booleans()):
        return None, {}, True
    value = draw(allowed(api, schema, "", real))
    if wrong == "text" and draw(st.booleans()):
        return json.dumps(value).encode(), {"Content-Type": draw(st.sampled_from(OTHER_TYPES))}, False
    if wrong == "text":
        text = json.dumps(value).encode()
        return draw(st.sampled_from([text[:-1], text + b"x", b"\xff" + text, *NO_JSON])), {"Content-Type": "application/json"}, False
    if wrong == "body":
        value = draw(ANYTHING)
    if wrong == "field":
        name = draw(st.sampled_from([*api.follow(schema)["properties"], "command", "x", ""]))
        if name in value and draw(st.booleans()):
            del value[name]
        else:
            value[name] = draw(ANYTHING)
    text = json.dumps(value).encode()
    return text, {"Content-Type": "application/json"}, api.is_valid(schema, value) and len(text) <= BODY_MAX
