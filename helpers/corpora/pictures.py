"""Small pictures that need no download: handwritten digits, two color photographs, and both mixed.

scikit-learn carries digits and photographs. Importing it takes seconds, so its files are read where
they lie; a test compares them with what scikit-learn itself loads. Mixed, they are as many pictures
as one likes, of which it is known what they show and where.
"""

from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from helpers.corpora.seeds import seeded

__all__ = ["Scenes", "digits", "photograph", "scenes"]

TEST_IMAGES_PER_DIGIT = 36  # a fifth of the images
SIDE = 28  # of a scene, in pixels
SCALES, TURN = (1.25, 2.25), np.pi / 12  # pixels for one of a digit; radians to either side
AT_ONCE = 2048  # scenes made together, so that the memory needed does not grow with their number


class Scenes(NamedTuple):
    """Pictures of one digit each, somewhere on a piece of a photograph.

    images: (count, 28, 28) of uint8, from 0, black, to 255, white. labels: (count,), from 0 to 9.
    places: (count, 4): row and column of the digit's middle, in pixels from the middle of the first
    pixel; pixels for one pixel of the 8 × 8 digit; radians by which it is turned, clockwise.
    """

    images: np.ndarray
    labels: np.ndarray
    places: np.ndarray


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


def scenes(count, seed, split):
    """`count` pictures of a digit on a photograph: Scenes, the same for the same seed.

    The digit is one of `digits(split)`, each as probable, enlarged, turned a little and moved, but
    whole; it is black or white, by chance, on a piece of a photograph with half its contrast. The
    pieces of "train" and of "test" have no pixel in common. More scenes of a seed begin with the
    same ones. Raises ValueError for another split, a count or a seed below zero, TypeError for one
    that is no whole number.
    """
    images, labels = digits(split)
    count, _ = seeded(count, seed)
    grounds = [_ground(name, split) for name in ("china", "flower")]
    drawn = np.random.default_rng([seed, split == "test"]).random((count, 9))
    made = np.empty((count, SIDE, SIDE), np.uint8)
    which = (drawn[:, 0] * len(images)).astype(int)
    scale = SCALES[0] + drawn[:, 1] * (SCALES[1] - SCALES[0])
    turn = (2 * drawn[:, 2] - 1) * TURN
    reach = 4 * scale * (np.abs(np.cos(turn)) + np.abs(np.sin(turn)))  # half of its height
    middle = reach[:, None] - 0.5 + drawn[:, 3:5] * (SIDE - 2 * reach[:, None])
    places = np.column_stack([middle, scale, turn])
    for start in range(0, count, AT_ONCE):
        part = slice(start, start + AT_ONCE)
        ink = inked(images[which[part]] / 16, places[part])
        ground = np.stack([_piece(grounds, numbers) for numbers in drawn[part, 5:8]])
        color = 255 * (drawn[part, 8] < 0.5)[:, None, None]
        made[part] = np.rint((1 - ink) * (64 + ground / 2) + ink * color)
    return Scenes(made, labels[which], places)


def inked(images, places):
    """How much of each pixel a digit covers, (count, 28, 28) from 0 to 1, between pixels linearly.

    images: (count, 8, 8) from 0 to 1. places: (count, 4), as in Scenes.
    """
    pixels = np.indices((SIDE, SIDE)).reshape(2, 1, -1)
    rows, columns = pixels - places[:, :2].T[:, :, None]  # from the digit's middle
    sine, cosine = (f(places[:, 3:]) / places[:, 2:3] for f in (np.sin, np.cos))
    rows, columns = cosine * rows - sine * columns, cosine * columns + sine * rows
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))  # paper all around
    at = np.stack([rows, columns]).clip(-4.5, 4.5) + 4.5  # in the padded image
    first = np.minimum(at.astype(int), 8)
    r, c = at - first
    digit = np.arange(len(images))[:, None]
    ink = sum(
        weight * padded[digit, first[0] + down, first[1] + right]
        for down, right, weight in (
            (0, 0, (1 - r) * (1 - c)),
            (0, 1, (1 - r) * c),
            (1, 0, r * (1 - c)),
            (1, 1, r * c),
        )
    )
    return ink.reshape(-1, SIDE, SIDE)


def _ground(name, split):
    """A photograph in gray at half its size: the left two thirds to train, the rest to test."""
    gray = photograph(name)[:426] @ [0.299, 0.587, 0.114]  # as in ITU-R BT.601
    gray = gray.reshape(213, 2, 320, 2).mean(axis=(1, 3))
    return gray[:, 213:] if split == "test" else gray[:, :213]


def _piece(grounds, numbers):
    """28 × 28 pixels of one of the grounds, chosen by three numbers from 0 to 1."""
    ground = grounds[int(numbers[0] * len(grounds))]
    row, column = (
        int(number * (side - SIDE + 1))
        for number, side in zip(numbers[1:], ground.shape, strict=True)
    )
    return ground[row : row + SIDE, column : column + SIDE]


def _carried(*path):
    """The path of a data set's file in the installed scikit-learn, which is not imported."""
    return Path(find_spec("sklearn").submodule_search_locations[0], "datasets", *path)
