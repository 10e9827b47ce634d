"""Brings a store's schema up to date. Each step and its record are one transaction.

A file written by a newer program is refused, never touched.
"""

import apsw

from core.errors import NewerSchemaError
from core.storage.schema import STEPS


def migrate(connection: apsw.Connection) -> None:
    """Apply the steps that are missing; raise `NewerSchemaError` if the file is ahead of us."""
    if _version(connection) == len(STEPS):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # read again inside the transaction: another process may have migrated meanwhile
        version = _version(connection)
        if version > len(STEPS):
            raise NewerSchemaError(
                f"This store was written by a newer Keepsake (schema {version}; this one knows "
                f"{len(STEPS)}). Nothing was changed. Install the newer version to open it."
            )
        for number, (_, script) in enumerate(STEPS[version:], start=version + 1):
            connection.execute(script)
            connection.execute(f"PRAGMA user_version={number}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _version(connection: apsw.Connection) -> int:
    version: int = connection.pragma("user_version")
    return version
