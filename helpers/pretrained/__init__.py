"""Published models in plain NumPy: found on this machine, checked, read, and run.

    encoder = load_encoder()
    result = encoder("The ball sinks into the basket")
    result.attention[1, 8]  # layer 1, head 8: keys × queries

The encoder is sentence-transformers/all-MiniLM-L6-v2 (Apache 2.0): six BERT layers of twelve heads,
384 wide. Finding and loading it never uses the network; only `download_encoder` does.

    gpt = load_gpt()
    tokens, merges = load_gpt_vocabulary()
    gpt.logits(gpt.run(ids))  # vocabulary × N: the next token's logits after each of N ids

The GPT is SmolLM2-135M-Instruct (Apache 2.0): thirty pre-norm layers of nine heads, 576 wide.
"""

from helpers.pretrained.encoder import Encoded, Encoder
from helpers.pretrained.files import (
    PUBLISHED,
    EncoderMissing,
    download_encoder,
    find_encoder,
    load_encoder,
    load_word_piece,
)
from helpers.pretrained.gguf import (
    PUBLISHED_GPT,
    GPTMissing,
    find_gpt,
    load_gpt_vocabulary,
)
from helpers.pretrained.gpt import GPT, Cache, load_gpt
from helpers.pretrained.wordpiece import WordPiece

__all__ = [
    "GPT",
    "PUBLISHED",
    "PUBLISHED_GPT",
    "Cache",
    "Encoded",
    "Encoder",
    "EncoderMissing",
    "GPTMissing",
    "WordPiece",
    "download_encoder",
    "find_encoder",
    "find_gpt",
    "load_encoder",
    "load_gpt",
    "load_gpt_vocabulary",
    "load_word_piece",
]
