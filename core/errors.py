"""What may go wrong and is expected: every text here is for the user.

A `CoreError` says what happened, what was kept and what to do. Anything else that is raised is
a bug: it is logged with its traceback and shown as one plain line.
"""


class CoreError(Exception):
    """Root of all expected failures. `str(error)` is shown as it is."""


class DataFolderError(CoreError):
    """The data folder cannot be made, read or written."""


class FolderInUseError(CoreError):
    """Another Keepsake has this data folder open; `pid` is its process where known."""

    def __init__(self, text: str, *, pid: int | None = None) -> None:
        super().__init__(text)
        self.pid = pid


class StorageError(CoreError):
    """The database refused: full disk, damage, or a lock held too long."""


class NewerSchemaError(StorageError):
    """The database was written by a newer version of the program."""


class SettingsError(CoreError):
    """A settings file names something unknown or holds an unreadable value."""


class ModelError(CoreError):
    """The language model cannot load or stopped; the conversation is kept."""


class ModelFileError(ModelError):
    """A model file is missing, damaged or of an unknown kind."""


class DownloadError(CoreError):
    """A model was not downloaded; the text says what came and is kept."""


class MessageError(CoreError):
    """A message cannot be sent as it is: empty, or not text."""


class MemoryEditError(CoreError):
    """A line of Working Memory cannot be changed as asked; memory and the typed text stay as they were."""


class CommitBusyError(CoreError):
    """Another commit of the conversation does not end; nothing was changed."""


class MemoryFileError(CoreError):
    """MEMORY.md or one of its kin was not written; the file on disk is whole."""


class MemoryFileBusyError(MemoryFileError):
    """Another process holds the write lock; trying again later may work."""

    def __init__(self, text: str, *, pid: int | None = None) -> None:
        super().__init__(text)
        self.pid = pid


class TranscriptError(CoreError):
    """A transcript cannot be read at all."""


class NotFoundError(CoreError):
    """A conversation, version or change that was asked for no longer exists."""
