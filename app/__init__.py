"""The window: views, presenters and the composition root. Knows `core` by its façade only."""
