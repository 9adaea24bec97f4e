"""Texts to learn from, and what is known about them."""
