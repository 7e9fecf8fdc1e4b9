"""The reserved call by which a model hands in the result of a run that owes one of a declared form."""

import hashlib
from typing import Final

import orjson

STRUCTURED_OUTPUT: Final = "structured_output"
"""Name of the reserved tool: only what is handed in through it counts, JSON in prose never does."""
TASK: Final = "task"
"""Name of the reserved tool that gives work to another agent."""
OUTPUT_ACCEPTED: Final = "output_accepted"
"""Name of the gate that asks for it. Calls that were refused and finals without it share the gate's retries."""


def schema_digest(schema: str) -> str:
    """SHA-256 (hex) of a schema in JSON, equal for any order of its keys."""
    return hashlib.sha256(orjson.dumps(orjson.loads(schema), option=orjson.OPT_SORT_KEYS)).hexdigest()
