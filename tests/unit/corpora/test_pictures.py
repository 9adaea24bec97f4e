import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_sample_image

from helpers.corpora.pictures import digits, inked, photograph, scenes


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


def test_scenes_are_what_they_say():
    images, labels, places = scenes(3000, 1, "train")
    assert images.shape == (3000, 28, 28) and images.dtype == np.uint8
    assert labels.shape == (3000,) and places.shape == (3000, 4)
    assert np.bincount(labels, minlength=10).min() > 240  # 300 expected, 16 the standard deviation
    rows, columns, scale, turn = places.T
    for name, numbers, low, high in (
        ("scale", scale, 1.25, 2.25),
        ("turn", turn, -np.pi / 12, np.pi / 12),
        ("row", rows, 4.5, 22.5),
        ("column", columns, 4.5, 22.5),
    ):
        assert low <= numbers.min() < numbers.max() <= high, name
        assert np.ptp(numbers) > 0.8 * (high - low), name
    assert abs(np.corrcoef(rows, columns)[0, 1]) < 0.1


def test_a_scene_without_its_digit_is_a_piece_of_a_photograph():
    for split in "train", "test":
        images, _, places = scenes(200, 2, split)
        rows, columns = np.abs(np.indices((28, 28))[:, None] - places[:, :2].T[:, :, None, None])
        far = np.maximum(rows, columns) > 9 * places[:, 2, None, None] / 2 * np.sqrt(2)
        assert far.mean() > 0.3
        assert images[far].min() >= 64 and images[far].max() <= 192  # half the contrast
        assert images.min() < 20 and images.max() > 235  # black and white ink


def test_an_enlarged_digit_keeps_its_ink_and_its_middle():
    images, _ = digits("test")
    for scale, turn in (1, 0), (1.5, 0.2), (2.25, -np.pi / 12):
        places = np.tile([13.3, 14.1, scale, turn], (360, 1))
        ink = inked(images / 16, places)
        assert ink.min() >= 0 and ink.max() <= 1
        np.testing.assert_allclose(
            ink.sum(axis=(1, 2)), scale**2 * images.sum(axis=(1, 2)) / 16, rtol=0.02
        )
        down, across = np.indices((8, 8)) - 3.5
        middle = [(images * a).sum(axis=(1, 2)) / images.sum(axis=(1, 2)) for a in (down, across)]
        turned = scale * np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        expected = turned @ middle + np.array([[13.3], [14.1]])
        found = [(ink * a).sum(axis=(1, 2)) / ink.sum(axis=(1, 2)) for a in np.indices((28, 28))]
        np.testing.assert_allclose(found, expected, atol=0.1)


def test_at_its_own_size_a_digit_stays_as_it_is():
    images, _ = digits("train")
    ink = inked(images[:5] / 16, np.tile([10.5, 12.5, 1, 0], (5, 1)))
    np.testing.assert_allclose(ink[:, 7:15, 9:17], images[:5] / 16, atol=1e-12)
    clockwise = inked(images[:5] / 16, np.tile([10.5, 12.5, 1, np.pi / 2], (5, 1)))
    turned = np.rot90(images[:5] / 16, -1, axes=(1, 2))
    np.testing.assert_allclose(clockwise[:, 7:15, 9:17], turned, atol=1e-12)


def test_scenes_are_drawn_anew_for_each_seed_and_split_and_never_change():
    few, many = scenes(50, 3, "train"), scenes(2100, 3, "train")  # more than are made at once
    for a, b in zip(few, many, strict=True):
        assert np.array_equal(a, b[:50])
    for other in (scenes(50, 4, "train"), scenes(50, 3, "test")):
        assert not any(np.array_equal(a, b) for a, b in zip(few.images, other.images, strict=True))
        assert not np.array_equal(few.places, other.places)
    assert [len(a) for a in scenes(0, 0, "test")] == [0, 0, 0]


@pytest.mark.parametrize("wrong", ["validation", "Train", "", None, 3])
def test_unknown_names_get_one_sentence(wrong):
    with pytest.raises(ValueError, match="A split is “train” or “test”, not"):
        digits(wrong)
    with pytest.raises(ValueError, match="A photograph is “china” or “flower”, not"):
        photograph(wrong)
    with pytest.raises(ValueError, match="A split is “train” or “test”, not"):
        scenes(1, 0, wrong)


@pytest.mark.parametrize("name", ["china", "flower"])
def test_photographs_are_what_scikit_learn_loads(name):
    assert np.array_equal(photograph(name), load_sample_image(f"{name}.jpg"))


def test_no_picture_needs_scikit_learn_to_be_imported():
    program = (
        "import sys; from helpers.corpora.pictures import digits, photograph; "
        "digits('test'); photograph('china'); sys.exit('sklearn' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_wrong_counts_and_seeds_of_scenes_get_one_sentence():
    with pytest.raises(TypeError, match="The count is a whole number"):
        scenes(1.5, 0, "train")
    with pytest.raises(ValueError, match="The seed is a whole number from 0 on"):
        scenes(1, -1, "train")
