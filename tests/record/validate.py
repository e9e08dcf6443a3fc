"""Validates JSON documents, one a line of standard input, against the schema named as argument.

Prints a line for each: "ok", or where the document breaks the schema. Needs python3-jsonschema.
"""

import json
import sys

import jsonschema

with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
for line in sys.stdin:
    error = next(validator.iter_errors(json.loads(line)), None)
    print("ok" if error is None else f"{error.json_path}: {error.message}"[:200].replace("\n", " "))
