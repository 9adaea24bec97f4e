"""Our Bert, with the parameters of transformers' BertModel, gives its outputs; and so does GELU."""

import os

import pytest
import torch
import transformers
from safetensors.torch import load_file
from torch import nn

from helpers.blocks.bert_torch import Bert, MaskedWords, as_bert
from helpers.blocks.transformer_layer_torch import NormAfterLayer, PreNormLayer, Transformer
from helpers.pretrained import find_encoder


def their_bert(**sizes):
    """A BertModel of transformers whose every parameter is random, and its parameters."""
    config = transformers.BertConfig(**sizes, attn_implementation="eager")
    model = transformers.BertModel(config, add_pooling_layer=False).eval().double()
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.4, generator=generator)
    return model


SIZES = [
    dict(H=3, hidden_size=24, num_hidden_layers=2, max_position_embeddings=9),
    dict(H=1, hidden_size=10, num_hidden_layers=1, max_position_embeddings=5),
    dict(H=8, hidden_size=32, num_hidden_layers=4, max_position_embeddings=20),
]


@pytest.mark.parametrize("sizes", SIZES)
def test_random_parameters_give_the_outputs_of_transformers(sizes):
    sizes = dict(sizes)
    H, D, longest = sizes.pop("H"), sizes["hidden_size"], sizes["max_position_embeddings"]
    theirs = their_bert(vocab_size=50, num_attention_heads=H, intermediate_size=4 * D, **sizes)
    ours = as_bert(theirs.state_dict(), H)
    ids = torch.randint(1, 50, (3, longest), generator=torch.Generator().manual_seed(2))
    ids[0, 2:] = ids[1, 4:] = 0
    there = ids > 0
    with torch.no_grad():
        wanted = theirs(ids, attention_mask=there.long()).last_hidden_state
        got, weights = ours(ids, with_weights=True)
    torch.testing.assert_close(got[there], wanted[there], rtol=0, atol=1e-10)
    assert weights.shape == (3, len(ours.transformer.layers), H, longest, longest)


def test_the_published_encoder_gives_the_outputs_of_transformers():
    folder = find_encoder()
    if folder is None:
        absent = "The published encoder is not on this machine: helpers/pretrained tells how."
        pytest.fail(absent) if os.environ.get("CI") else pytest.skip(absent)
    theirs = transformers.BertModel.from_pretrained(folder, local_files_only=True).eval()
    ours = as_bert(load_file(folder / "model.safetensors"), theirs.config.num_attention_heads)
    generator = torch.Generator().manual_seed(3)
    ids = torch.randint(1000, 30_000, (2, 40), generator=generator)
    ids[0, 11:] = 0
    there = ids > 0
    with torch.no_grad():
        wanted = theirs(ids, attention_mask=there.long()).last_hidden_state
        got = ours(ids)
    torch.testing.assert_close(got[there], wanted[there], rtol=0, atol=2e-5)


@pytest.mark.parametrize("variant", [NormAfterLayer, PreNormLayer])
@pytest.mark.parametrize("activation", [nn.ReLU, nn.GELU])
def test_a_stack_equals_that_of_pytorch_with_both_activations(variant, activation):
    torch.manual_seed(4)
    ours = Transformer(variant, 2, 16, 4, 64, 0.0, activation=activation).double().eval()
    for parameter in ours.parameters():
        nn.init.normal_(parameter, std=0.3)
    layer = nn.TransformerEncoderLayer(
        16,
        4,
        64,
        0.0,
        activation="gelu" if activation is nn.GELU else "relu",
        batch_first=True,
        norm_first=variant is PreNormLayer,
    )
    norm = nn.LayerNorm(16) if variant is PreNormLayer else None
    theirs = nn.TransformerEncoder(layer, 2, norm, enable_nested_tensor=False).double().eval()
    names = {
        "attention.project.": "self_attn.in_proj_",
        "attention.combine": "self_attn.out_proj",
        "mlp.0": "linear1",
        "mlp.2": "linear2",
        "norm_": "norm",
    }
    taken = {}
    for name, parameter in ours.state_dict().items():
        for our_part, their_part in names.items():
            name = name.replace(our_part, their_part)
        taken[name] = parameter
    theirs.load_state_dict(taken)
    x = torch.randn(3, 7, 16, dtype=torch.float64)
    torch.testing.assert_close(ours(x), theirs(x), rtol=0, atol=1e-12)


def test_masked_words_score_as_a_tied_layer_without_the_extra_one():
    torch.manual_seed(5)
    model = MaskedWords(Bert(20, 8, 2, 1, 6)).double().eval()
    nn.init.normal_(model.bias)
    ids = torch.randint(4, 20, (2, 6))
    asked = torch.rand(2, 6) < 0.5
    tied = nn.Linear(8, 20).double()
    tied.load_state_dict({"weight": model.bert.embedding.weight, "bias": model.bias})
    torch.testing.assert_close(model(ids, asked), tied(model.bert(ids))[asked])
