import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_sample_image

from helpers.corpora.pictures import digits, photograph


def test_digits_are_whole_numbers_from_paper_to_ink():
    for split, count in ("train", 1437), ("test", 360):
        images, labels = digits(split)
        assert images.shape == (count, 8, 8) and labels.shape == (count,)
        assert images.dtype == labels.dtype == np.int64  # squares and sums cannot overflow
        assert np.array_equal(np.unique(images), np.arange(17))
        assert np.array_equal(np.unique(labels), np.arange(10))


def test_every_digit_is_in_one_split_with_its_label():
    def labeled(images, labels):
        return {(*image.ravel(), label) for image, label in zip(images, labels, strict=True)}

    train, test = labeled(*digits("train")), labeled(*digits("test"))
    everything = load_digits()
    assert not train & test
    assert train | test == labeled(everything.images, everything.target)
    assert len(train) + len(test) == 1797


def test_digits_are_balanced():
    _, train = digits("train")
    _, test = digits("test")
    assert (np.bincount(test) == 36).all()
    assert np.ptp(np.bincount(train)) <= 0.07 * len(train) / 10  # no digit is rare


def test_test_images_are_each_digits_last_in_order():
    everything = load_digits()
    images, labels = digits("test")
    for digit in range(10):
        last = everything.images[everything.target == digit][-36:]
        assert np.array_equal(images[labels == digit], last)
    assert labels[-8:].tolist() == [8, 8, 4, 9, 0, 8, 9, 8]


def test_photographs_are_in_color():
    for name in "china", "flower":
        picture = photograph(name)
        assert picture.shape == (427, 640, 3) and picture.dtype == np.uint8
        assert picture.min() < 10 and picture.max() > 245
    red, _, blue = photograph("flower")[240, 230].astype(int)
    assert red > blue + 50  # the middle of an orange dahlia
    red, _, blue = photograph("china")[20, 20].astype(int)
    assert blue > red  # sky


def test_a_changed_photograph_leaves_the_next_one_whole():
    photograph("china")[:] = 0
    assert photograph("china").any()


@pytest.mark.parametrize("wrong", ["validation", "Train", "", None, 3])
def test_unknown_names_get_one_sentence(wrong):
    with pytest.raises(ValueError, match="A split is “train” or “test”, not"):
        digits(wrong)
    with pytest.raises(ValueError, match="A photograph is “china” or “flower”, not"):
        photograph(wrong)


@pytest.mark.parametrize("name", ["china", "flower"])
def test_photographs_are_what_scikit_learn_loads(name):
    assert np.array_equal(photograph(name), load_sample_image(f"{name}.jpg"))


def test_no_picture_needs_scikit_learn_to_be_imported():
    program = (
        "import sys; from helpers.corpora.pictures import digits, photograph; "
        "digits('test'); photograph('china'); sys.exit('sklearn' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
