"""What happens behind the chat: after a turn, replay, and the durable queue's handlers."""
