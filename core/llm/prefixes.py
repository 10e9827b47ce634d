"""Which conversation's prefix is where: in the model's context, beside it in memory, or on the disk.

A context holds one prefix. Whoever comes next takes the longest beginning of its prompt that anybody has read, and
what it displaces is kept beside the context: copying 1,000 tokens of the bundled model takes 3 to 12 ms each way, where
reading them takes seconds, and costs memory only for the tokens there are (a second sequence in the context would
cost it for all that there may be, and makes every token slower). Knows llama.cpp only as a `Context`.
"""

from dataclasses import dataclass
from typing import Protocol

from core.llm.state_files import SavedState, StateFiles

WORTH_KEEPING_TOKENS = 32  # fewer are read again sooner than anything is copied
WORTH_SAVING_TOKENS = 128


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose prefix it is. A background request never takes the place of the chat's own prefix."""

    conversation: str
    chat: bool

    @property
    def keeps(self) -> bool:
        """Whether its prefix is kept when another takes the context."""
        return bool(self.conversation)

    @property
    def saves(self) -> bool:
        """Whether its prefix may go to the disk."""
        return self.chat and bool(self.conversation)


class Context(Protocol):
    """A context that holds the state of `known` tokens."""

    known: list[int]
    context_tokens: int

    def copy_out(self) -> memoryview:
        """Return a copy of the state of all known tokens."""
        ...

    def copy_in(self, data: memoryview, tokens: list[int]) -> bool:
        """Replace the state; False, and an empty context, if it does not fit."""
        ...

    def rewind(self, length: int) -> int:
        """Forget all tokens from `length` on; return how many are left."""
        ...


class Prefixes:
    """The prefixes of one context."""

    def __init__(self, context: Context, *, kept_bytes: int, files: StateFiles | None = None) -> None:
        """`kept_bytes` may be held beside the context, or one full context; `files` None saves nothing."""
        self._context = context
        self._kept_bytes = kept_bytes
        self._files = files
        self._owner: Owner | None = None
        self._last_chat: Owner | None = None
        self._kept: dict[Owner, SavedState] = {}  # oldest first
        self._saved: dict[str, list[int]] = {}  # the tokens of the files that this process wrote or read

    def enter(self, owner: Owner, tokens: list[int]) -> int:
        """Bring the longest known beginning of `tokens` into the context; return its length, below theirs.

        The last token is always left to be read: its logits begin the answer.
        """
        live = count_common(self._context.known, tokens)
        best, source = live, self._owner
        for other, state in self._kept.items():
            length = count_common(state.tokens, tokens)
            if length > best or (length == best and other == owner and self._owner != owner):
                best, source = length, other
        if self._files is not None and owner.saves and owner != self._owner and owner not in self._kept:
            saved = count_common(self._files.read_tokens(owner.conversation), tokens)
            if saved > best + WORTH_KEEPING_TOKENS:
                self._keep(lost_after=live)
                if (state_ := self._files.read(owner.conversation)) is not None:
                    self._saved[owner.conversation] = state_.tokens
                    self._context.copy_in(state_.data, state_.tokens)
                    return self._settle(owner, tokens)
        if source != self._owner and source is not None and best > live + WORTH_KEEPING_TOKENS:
            state = self._kept[source]
            self._keep(lost_after=live)
            if source == owner:
                self._kept.pop(source, None)
            self._context.copy_in(state.data, state.tokens)
        elif self._owner != owner:
            self._keep(lost_after=live)
        return self._settle(owner, tokens)

    def _settle(self, owner: Owner, tokens: list[int]) -> int:
        self._owner = owner
        self._kept.pop(owner, None)
        if owner.saves:
            self._last_chat = owner
        return self._context.rewind(min(count_common(self._context.known, tokens), len(tokens) - 1))

    def _keep(self, *, lost_after: int) -> None:
        """Put what the context holds aside, if enough of it would be lost; of a chat all counts, it may be saved."""
        owner, known = self._owner, self._context.known
        if owner is None or not owner.keeps:
            return
        if len(known) - (0 if owner.saves else lost_after) < WORTH_KEEPING_TOKENS:
            return
        self._kept.pop(owner, None)
        self._kept[owner] = SavedState(tokens=list(known), data=self._context.copy_out())
        # a large model's prefix is large: one full context always has room
        full_bytes = len(self._kept[owner].data) // len(known) * self._context.context_tokens
        while sum(len(state.data) for state in self._kept.values()) > max(self._kept_bytes, full_bytes):
            background = [other for other in self._kept if not other.chat]
            oldest = (background or list(self._kept))[0]
            self._save(oldest, self._kept.pop(oldest))

    def restore_chat(self) -> None:
        """Bring the last chat's prefix back into the context, so that its next message need not wait for the copy."""
        owner = self._last_chat
        if owner is None or owner == self._owner or (state := self._kept.get(owner)) is None:
            return
        self._keep(lost_after=0)
        self._kept.pop(owner, None)
        self._context.copy_in(state.data, state.tokens)
        self._owner = owner

    @property
    def unsaved(self) -> bool:
        """Whether `save` would write anything."""
        return self._files is not None and any(self._list_unsaved())

    def save(self) -> None:
        """Write the chats' prefixes that have grown since they were last written."""
        for owner in self._list_unsaved():
            if owner == self._owner:
                self._save(owner, SavedState(tokens=list(self._context.known), data=self._context.copy_out()))
            else:
                self._save(owner, self._kept[owner])

    def _list_unsaved(self) -> list[Owner]:
        held = {owner: state.tokens for owner, state in self._kept.items()}
        if self._owner is not None:
            held[self._owner] = self._context.known
        return [
            owner
            for owner, tokens in held.items()
            if owner.saves
            and len(tokens) - count_common(self._saved.get(owner.conversation, []), tokens) >= WORTH_SAVING_TOKENS
        ]

    def _save(self, owner: Owner, state: SavedState) -> None:
        if self._files is not None and owner.saves:
            self._files.write(owner.conversation, state)
            self._saved[owner.conversation] = state.tokens  # also if it failed: a full disk stays full for a while

    def forget(self, conversation: str) -> None:
        """Drop all that was read of a conversation, its file included; work for it may bear a longer name."""
        for owner in [owner for owner in self._kept if conversation in owner.conversation]:
            del self._kept[owner]
        if self._owner is not None and conversation in self._owner.conversation:
            self._context.rewind(0)
            self._owner = None
        if self._last_chat is not None and self._last_chat.conversation == conversation:
            self._last_chat = None
        self._saved.pop(conversation, None)
        if self._files is not None:
            self._files.remove(conversation)


def count_common(first: list[int], second: list[int]) -> int:
    """Return the length of the common beginning."""
    length = min(len(first), len(second))
    if first[:length] == second[:length]:
        return length
    low, high = 0, length  # a slice is compared in C: halve instead of walking in Python
    while high - low > 1:
        middle = (low + high) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle
    return low
