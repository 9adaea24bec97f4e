"""A published encoder in plain NumPy: found on this machine, checked, read, and run.

    encoder = load_encoder()
    result = encoder("The ball sinks into the basket")
    result.attention[1, 8]  # layer 1, head 8: keys × queries

The model is sentence-transformers/all-MiniLM-L6-v2 (Apache 2.0): six BERT layers of twelve heads,
384 wide. Finding and loading it never uses the network; only `download_encoder` does.
"""

from helpers.pretrained.encoder import Encoded, Encoder
from helpers.pretrained.files import (
    PUBLISHED,
    EncoderMissing,
    download_encoder,
    find_encoder,
    load_encoder,
)
from helpers.pretrained.wordpiece import WordPiece

__all__ = [
    "PUBLISHED",
    "Encoded",
    "Encoder",
    "EncoderMissing",
    "WordPiece",
    "download_encoder",
    "find_encoder",
    "load_encoder",
]
