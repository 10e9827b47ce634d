"""Events and facets about the user."""
