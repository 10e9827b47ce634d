"""From intents to `Engine` calls and back; free of Qt, each owns its tasks."""
