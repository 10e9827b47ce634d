"""Which models there are: models.txt and the files it names."""
