"""Which models there are: the list that ships with the program, and what a model file says of itself."""
