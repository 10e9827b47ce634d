"""The only package that speaks SQL: one module an aggregate, functions over rows."""
