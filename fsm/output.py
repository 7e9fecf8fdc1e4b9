"""What a caller wants a run's result to be: a class or a JSON Schema, and the value that comes of it."""

import logging
from collections.abc import Mapping
from typing import Any

import attrs
import orjson

from gates.gate import Asked
from states.contract import Contract
from states.errors import ConfigError
from states.history import History
from states.names import State
from states.output import OUTPUT_ACCEPTED, schema_digest
from states.records import JSON

from .graph import Graph


@attrs.frozen
class Wanted:
    """The form of a result: its schema (JSON), and the class that it becomes (None: it stays plain JSON)."""

    schema: str
    cls: Any = None

    def value(self, plain: object, history: History) -> object:
        """An accepted output as an instance of the class.

        It stays plain JSON without one, and where the class does not take what a process without it accepted.
        """
        if (
            plain is None
            or self.cls is None
            or schema_digest(self.schema) != schema_digest(history.contract.output_schema)
        ):
            return plain
        from .tools.structure import structure

        try:
            return structure(plain, self.cls)
        except Exception:
            logging.getLogger(__name__).exception("%s does not take the output; it stays JSON", self.cls.__name__)
            return plain


def wanted(output: Any) -> Wanted | None:
    """From an attrs class, dataclass, TypedDict or JSON Schema. Raises ConfigError that says what will not do."""
    from gates.output_schema import checked

    if output is None:
        return None
    if isinstance(output, Mapping):
        try:
            return Wanted(checked(orjson.dumps(dict(output)).decode()))
        except TypeError as error:
            raise ConfigError(f"output: the schema is no JSON: {error}") from error
        except RecursionError:
            raise ConfigError("output: the schema is nested too deeply") from None
    if not isinstance(output, type):
        raise ConfigError(
            f"output={output!r}: give an attrs class, a dataclass, a TypedDict, or a JSON Schema as a dict"
        )
    from .tools.schema import Schemas

    schemas = Schemas()
    schema = schemas.whole(schemas.of(output, "output"))
    if "$ref" in schema:  # a class that contains itself: still an object
        schema = {"type": "object", **schema}
    return Wanted(checked(orjson.dumps(schema).decode()), output)


def owing(contract: Contract, output: Wanted | None, graph: Graph) -> Contract:
    """The contract, with the output's schema.

    Raises ConfigError for two different ones, one that will not do, or a table that does not ask for it.
    """
    from gates.output_schema import checked

    asked = {guard.gate.name for row in graph for guard in row.guards if isinstance(guard, Asked)}
    if (output or contract.output_schema) and OUTPUT_ACCEPTED not in asked:
        raise ConfigError(
            f"an output is asked for, but the table has no gate {OUTPUT_ACCEPTED!r}; "
            "put gates.output_accepted.output_accepted into candidate_final"
        )
    said = checked(contract.output_schema) if contract.output_schema else ""
    if output is None:
        return contract
    if said and schema_digest(said) != schema_digest(output.schema):
        raise ConfigError("output=... and the contract's output_schema are two different schemas; give one of them")
    return attrs.evolve(contract, output_schema=output.schema)


def output_of(history: History) -> JSON:
    """The plain value that a run which succeeded has handed in; else None."""
    if history.state is not State.SUCCEEDED or history.output is None:
        return None
    value: JSON = orjson.loads(history.output.accepted.value)
    return value
