"""The notebooks' own definitions, written here by `make export`; never edited by hand."""
