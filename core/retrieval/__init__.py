"""Finding what was said: lexical, vector, fusion."""
