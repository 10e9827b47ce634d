"""One conversation: live window, two-phase commit, context assembly."""
