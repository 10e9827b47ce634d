from collections import deque
from collections.abc import Iterable

class _Error(Exception):
    message: str
    path: deque[str | int]
    absolute_path: deque[str | int]
    json_path: str
    validator: str
    validator_value: object
    instance: object

class ValidationError(_Error): ...
class SchemaError(_Error): ...

def best_match(errors: Iterable[ValidationError]) -> ValidationError | None: ...
