"""What each setting of the sheet is called and does, in a plain sentence; the order is that of the sheet. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """A setting's name and sentence. `choices` puts values into words, in order; `suffix` is a number's unit."""

    key: str
    name: str
    sentence: str
    choices: tuple[tuple[str, str], ...] = ()
    suffix: str = ""
    most: int = 0


MEMORY = (
    Words(
        "learning.episodic_capture_enabled",
        "Remember what is said",
        "What is said goes into the index; all else rests on it. Off: conversations are kept and nothing is learnt.",
    ),
    Words(
        "learning.stm_recall_enabled",
        "Recall earlier conversations",
        "What fits from other conversations is put before your first message, as a quotation that you can see.",
    ),
    Words(
        "learning.explicit_preferences_enabled",
        "Use your preferences",
        "What you asked to remember about yourself stands in every prompt.",
    ),
    Words(
        "learning.events_enabled",
        "Note decisions and facts",
        "Decisions, promises, likes and facts are taken from your own words when a topic ends.",
    ),
    Words(
        "learning.recap_enabled",
        "Write recaps",
        "A short summary of each topic, checked against what was said.",
    ),
    Words(
        "learning.chat_to_tree_enabled",
        "Grow the memory tree",
        "What was said is kept in parts that can be browsed by conversation, month and year.",
    ),
    Words(
        "learning.goals_enrichment_enabled",
        "Look for goals",
        "Long-running goals are proposed for MEMORY_GOALS.md; you take or dismiss them.",
    ),
    Words(
        "learning.librarian_enabled",
        "Tidy memory files",
        "MEMORY.md is kept in order when a topic ends. Your own lines are left alone.",
    ),
    Words(
        "learning.enabled",
        "Infer beyond what was said",
        "Habits are guessed from how you write. Guesses are marked as such, and you can forget each.",
    ),
    Words(
        "learning.drift_confirm",
        "Wait a turn before a new topic",
        "A change of topic is decided one message later, which is right more often.",
    ),
    Words(
        "learning.redact_contacts",
        "Hide e-mail addresses and telephone numbers",
        "They are masked in memory, as passwords and keys always are. The conversation itself stays as it is.",
    ),
)
MODELS = (
    Words(
        "models.memory_update",
        "What the model does for memory",
        "Text it writes is checked against what was said. Automatic: as far as it passed its exam.",
        choices=(
            ("auto", "Automatic"),
            ("off", "Nothing"),
            ("select", "Choose sentences"),
            ("write", "Write"),
        ),
    ),
    Words(
        "models.embedding_enabled",
        "Find by meaning",
        "Messages are compared by meaning, not by words alone. It takes some memory.",
    ),
    Words(
        "models.context_tokens",
        "Size of the context",
        "How much the model reads at once. More takes more memory and time.",
        suffix=" tokens",
        most=131_072,
    ),
    Words(
        "models.max_reply_tokens",
        "Longest answer",
        "Where an answer is cut off.",
        suffix=" tokens",
        most=32_768,
    ),
    Words(
        "models.unload_after_minutes",
        "Free the memory after",
        "A model that is not used is unloaded; the next message loads it again. 0 keeps it loaded.",
        suffix=" min",
        most=1_440,
    ),
)
