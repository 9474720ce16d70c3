# SPDX-License-Identifier: Apache-2.0
"""openapi.py SPEC URL: calls every operation that the file describes, rightly and wrongly, and
compares status, content type and fields with what it says. Exits with 1 and says what differs."""
import http.client
import json
import sys
import urllib.parse

SPEC = json.load(open(sys.argv[1], encoding="utf-8"))
URL = urllib.parse.urlsplit(sys.argv[2])
problems = []
called = 0


def resolved(node):
    while "$ref" in node:
        found = SPEC
        for part in node["$ref"].split("/")[1:]:
            found = found[part]
        node = found
    return node


def fits(schema, value, where):
    schema = resolved(schema)
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}
    if not isinstance(value, kinds[schema.get("type", "object")]):
        problems.append(f"{where}: {value!r} is no {schema['type']}")
        return
    for name in schema.get("required", []):
        if name not in value:
            problems.append(f"{where}: {name} is missing")
    if isinstance(value, dict):
        known = schema.get("properties")
        for name, inner in value.items():
            if known and name in known:
                fits(known[name], inner, f"{where}.{name}")
            elif known and "additionalProperties" not in schema:
                problems.append(f"{where}: {name} is not described")
    if isinstance(value, list) and "items" in schema:
        for inner in value:
            fits(schema["items"], inner, f"{where}[]")


def call(method, template, target, operation, body=None, content_type=None):
    global called
    called += 1
    connection = http.client.HTTPConnection(URL.hostname, URL.port, timeout=20)
    connection.request(method, target, body, {"Content-Type": content_type} if content_type else {})
    answer = connection.getresponse()
    where = f"{method} {target}: {answer.status}"
    described = operation["responses"].get(str(answer.status))
    if described is None:
        problems.append(f"{where} is not described")
        return answer.status
    kind = answer.getheader("Content-Type", "").split(";")[0]
    content = resolved(described).get("content", {})
    if kind not in content:
        problems.append(f"{where}: {kind} is not among {list(content)}")
    elif kind == "application/json":
        fits(content[kind]["schema"], json.loads(answer.read()), where)
    connection.close()
    return answer.status


def body_for(template):
    if template.endswith("/batches"):
        return [(b"no frame", "application/x-fathom-frames")]
    if template.endswith("/lines"):
        return [(b'{"node":"n","x":1}\nbad\n', "application/x-ndjson")]
    if template.endswith("/commands"):
        return [(b'[{"command":"LIST"}]', "application/json"), (b'{"command":"NONE"}', "application/json")]
    return [(b'{"description":"d","labels":{"a":"b"}}', "application/json"), (b"[]", "application/json")]


def main():
    first = http.client.HTTPConnection(URL.hostname, URL.port)
    first.request("POST", "/api/v1/jobs", b'{"id":2001}', {"Content-Type": "application/json"})
    first.getresponse().read()
    order = sorted(SPEC["paths"].items(), key=lambda item: item[0])
    deletions = []
    for template, operations in order:
        for method, operation in operations.items():
            for job in ("2001", "2999", "x"):
                target = template.replace("{job}", job).replace("{run}", "r%20r")
                query = "?run=r&sequence=1" if method == "post" and "{job}" in template else ""
                if method == "delete" and job == "2001":
                    deletions.append((template, target, operation))
                elif method == "post":
                    for body, kind in body_for(template):
                        call("POST", template, target + query, operation, body, kind)
                    call("POST", template, target + query, operation, b"x", "image/png")
                else:
                    call(method.upper(), template, target + query, operation)
                if "{job}" not in template:
                    break
    for template, target, operation in sorted(deletions, key=lambda item: -len(item[0])):
        if call("DELETE", template, target, operation) != 200:
            problems.append(f"DELETE {target} did not succeed")
    print(f"{called} calls, {len(problems)} problems")
    print("\n".join(problems))
    return 1 if problems else 0


sys.exit(main())
