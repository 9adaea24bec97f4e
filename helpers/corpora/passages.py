"""The sentences that run through the whole collection, old friends by the third notebook.

"The chapter" is chapter 12 of Simon Prince's Understanding Deep Learning; README.md names the
sources.
"""

import re

__all__ = ["BALL", "BURGER", "PASSAGE", "RACCOON", "SAILOR", "TERRIBLE", "words"]

# The restaurant passage of the chapter's section "What makes text hard": 37 words.
PASSAGE = (
    "The restaurant refused to serve me a ham sandwich because it only cooks vegetarian food. "
    "In the end, they just gave me two slices of bread. "
    "Their ambiance was just as good as the food and service."
)

# From the second course: negation, what belongs to what, and order.
TERRIBLE = "This restaurant was not too terrible"
BALL = "The ball sinks into the basket"
BURGER = (
    "This is not a real restaurant, it is a filthy burger joint",
    "This is not a filthy burger joint, it is a real restaurant",
)

# From the chapter's section on positional encoding.
RACCOON = ("The woman ate the raccoon", "The raccoon ate the woman")

# The nursery rhyme of the chapter's section "Tokenization": 33 words.
SAILOR = (
    "a sailor went to sea sea sea to see what he could see see see but all that he could see "
    "see see was the bottom of the deep blue sea sea sea"
)


def words(text):
    """The words of a text in lower case, in order, without punctuation: a list of str."""
    return re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)*", text.lower())
