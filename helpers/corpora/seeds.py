"""Texts drawn at random, the same for each seed on every machine."""

from operator import index
from random import Random

__all__ = ["seeded"]


def seeded(count, seed):
    """`count` as an int, and a random.Random with this seed.

    Raises TypeError for a count or a seed that is no whole number, ValueError for a negative one:
    Random itself takes the time for None, and draws the same for 1 and −1.
    """
    for name, number in (("count", count), ("seed", seed)):
        wrong = f"The {name} is a whole number from 0 on, not {number!r}."
        try:
            negative = index(number) < 0
        except TypeError:
            raise TypeError(wrong) from None
        if negative:
            raise ValueError(wrong)
    return index(count), Random(index(seed))
