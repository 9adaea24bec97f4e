"""Small pictures that need no download: handwritten digits and two color photographs.

scikit-learn carries both. Importing it takes seconds, so its files are read where they lie; a test
compares them with what scikit-learn itself loads.
"""

from importlib.util import find_spec
from pathlib import Path

import numpy as np

__all__ = ["digits", "photograph"]

TEST_IMAGES_PER_DIGIT = 36  # a fifth of the images


def digits(split):
    """Handwritten digits of 8 × 8 pixels: (images, labels), both int64.

    split:  "train" (1,437 images) or "test" (360, 36 of each digit), always the same images.
    images: (count, 8, 8), whole numbers from 0, paper, to 16, ink.
    labels: (count,), from 0 to 9.
    The file keeps one person's digits together, and the test images are each digit's last, so most
    are by people who wrote no training image. Raises ValueError for another split.
    By E. Alpaydin and C. Kaynak (1998), from the UCI machine learning repository.
    """
    if split not in ("train", "test"):
        raise ValueError(f"A split is “train” or “test”, not {split!r}.")
    rows = np.loadtxt(_carried("data", "digits.csv.gz"), delimiter=",").astype(np.int64)
    images, labels = rows[:, :-1].reshape(-1, 8, 8), rows[:, -1]
    is_test = np.zeros(len(labels), dtype=bool)
    for digit in range(10):
        is_test[np.flatnonzero(labels == digit)[-TEST_IMAGES_PER_DIGIT:]] = True
    chosen = is_test if split == "test" else ~is_test
    return images[chosen], labels[chosen]


def photograph(name):
    """A color photograph: an array (427, 640, 3) of uint8, rows from the top; red, green, blue.

    name: "china", a pagoda by a lake, or "flower", an orange dahlia. Raises ValueError for another.
    Both from Flickr, under CC BY 2.0: by danielbuechele, and by vultilion.
    """
    if name not in ("china", "flower"):
        raise ValueError(f"A photograph is “china” or “flower”, not {name!r}.")
    from PIL import Image

    return np.array(Image.open(_carried("images", f"{name}.jpg")))


def _carried(*path):
    """The path of a data set's file in the installed scikit-learn, which is not imported."""
    return Path(find_spec("sklearn").submodule_search_locations[0], "datasets", *path)
