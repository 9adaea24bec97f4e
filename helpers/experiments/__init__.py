"""Experiments that take longer than a notebook may, each a command that stores a small result."""
