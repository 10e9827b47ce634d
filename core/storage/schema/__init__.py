"""The schema's steps, a module each, in order. A step is never edited once it has shipped; a change is a new one."""

from core.storage.schema import (
    activity,
    archive_stages,
    conversation_settings,
    event_vectors,
    first_light,
    goals,
    job_lanes,
    lessons,
    live_messages,
    live_window,
    long_conversations,
    memory_edits,
    profile,
    prompts,
    retrieval,
    segment_life,
)

# (name, SQL); the position, from 1, is the number that `user_version` holds
STEPS: tuple[tuple[str, str], ...] = (
    ("first light", first_light.SQL),
    ("live messages", live_messages.SQL),
    ("job lanes", job_lanes.SQL),
    ("archive stages", archive_stages.SQL),
    ("retrieval", retrieval.SQL),
    ("memory edits", memory_edits.SQL),
    ("segment life", segment_life.SQL),
    ("profile", profile.SQL),
    ("lessons", lessons.SQL),
    ("event vectors", event_vectors.SQL),
    ("activity", activity.SQL),
    ("prompts", prompts.SQL),
    ("goals", goals.SQL),
    ("conversation settings", conversation_settings.SQL),
    ("live window", live_window.SQL),
    ("long conversations", long_conversations.SQL),
)
