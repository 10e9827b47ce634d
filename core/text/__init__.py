"""Text without meaning: tokens, sentences, language, items, anchors, paths."""
