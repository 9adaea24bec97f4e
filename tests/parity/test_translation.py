"""Cross-attention, decoder layers and the translator against PyTorch's own modules and in NumPy."""

import numpy as np
import pytest
import torch
from torch import nn

from helpers.blocks.cross_attention import (
    cross_attention,
    multi_head_cross_attention,
    norm_after_decoder_layer_numpy,
    pre_norm_decoder_layer_numpy,
)
from helpers.blocks.cross_attention_torch import (
    CrossAttention,
    DecoderStack,
    NormAfterDecoderLayer,
    PreNormDecoderLayer,
    SequenceModel,
    future_rows,
    target_loss,
    translations,
)
from helpers.blocks.transformer_layer import as_numpy
from helpers.blocks.transformer_layer_torch import NormAfterLayer, PreNormLayer, Transformer
from tests.bench.peers import same_parameters

D, H, D_MLP = 12, 3, 20
VARIANTS = {
    "norm-after": (NormAfterLayer, NormAfterDecoderLayer, norm_after_decoder_layer_numpy),
    "pre-norm": (PreNormLayer, PreNormDecoderLayer, pre_norm_decoder_layer_numpy),
}
EXACT = dict(rtol=0, atol=1e-12)


@pytest.fixture(params=VARIANTS)
def variant(request):
    return request.param


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(9)


def shaken(module):
    """The module in float64, with no parameter at 0 or 1."""
    with torch.no_grad():
        for parameter in module.double().parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    return module


def inputs(batch=4, N_d=5, N_e=7):
    """Target, source, and which tokens of the source are padding: of the first text none."""
    x, source = torch.randn(batch, N_d, D), torch.randn(batch, N_e, D)
    padding = torch.arange(N_e) >= torch.tensor([N_e, 3, 1, 6])[:batch, None]
    return x.double().requires_grad_(), source.double().requires_grad_(), padding


def same_gradients(ours, theirs, parameters, others):
    """Outputs, and gradients with respect to all of `parameters`, pairwise."""
    upstream = torch.randn_like(ours)
    torch.testing.assert_close(ours, theirs, **EXACT)
    for a, b in zip(
        torch.autograd.grad(ours, parameters, upstream),
        torch.autograd.grad(theirs, others, upstream),
        strict=True,
    ):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-10)


def test_cross_attention_is_that_of_pytorch_with_its_weights_and_gradients():
    ours, theirs = (
        shaken(CrossAttention(D, H)),
        nn.MultiheadAttention(D, H, batch_first=True).double(),
    )
    same_parameters(ours, theirs)
    x, source, padding = inputs()
    read, weights = ours(x, source, padding[:, None], with_weights=True)
    their_read, their_weights = theirs(
        x, source, source, key_padding_mask=padding, average_attn_weights=False
    )
    torch.testing.assert_close(weights, their_weights, **EXACT)
    fused, nothing = ours(x, source, padding[:, None])
    assert nothing is None
    torch.testing.assert_close(fused, read, **EXACT)
    mine = [ours.project.weight, ours.project.bias, ours.combine.weight, ours.combine.bias]
    other = [theirs.in_proj_weight, theirs.in_proj_bias, *theirs.out_proj.parameters()]
    same_gradients(read, their_read, [x, source, *mine], [x, source, *other])


def test_a_source_that_is_all_padding_gives_nothing_but_the_last_bias():
    ours = shaken(CrossAttention(D, H))
    x, source, padding = inputs()
    for with_weights in False, True:
        read, _ = ours(x, source, torch.ones_like(padding)[:, None], with_weights)
        torch.testing.assert_close(read, ours.combine.bias.expand_as(read), **EXACT)


def test_a_decoder_layer_is_that_of_pytorch(variant):
    _, layer, _ = VARIANTS[variant]
    ours = shaken(layer(D, H, D_MLP, dropout=0.0))
    theirs = nn.TransformerDecoderLayer(
        D, H, D_MLP, 0.0, batch_first=True, norm_first=variant == "pre-norm"
    ).double()
    same_parameters(ours, theirs)
    x, source, padding = inputs()
    future = future_rows(x[..., 0])
    got = ours(x, source, future, padding[:, None])
    expected = theirs(x, source, tgt_mask=future, memory_key_padding_mask=padding)
    order = dict(ours.named_parameters())
    names = {
        **{"self_attn.in_proj_weight": "attention.project.weight"},
        **{"self_attn.in_proj_bias": "attention.project.bias"},
        **{"multihead_attn.in_proj_weight": "cross.project.weight"},
        **{"multihead_attn.in_proj_bias": "cross.project.bias"},
        **{"self_attn.out_proj.weight": "attention.combine.weight"},
        **{"multihead_attn.out_proj.weight": "cross.combine.weight"},
        **{"linear1.weight": "mlp.0.weight", "linear2.weight": "mlp.2.weight"},
        **{f"norm{n}.weight": f"norm_{n}.weight" for n in (1, 2, 3)},
        **{f"norm{n}.bias": f"norm_{n}.bias" for n in (1, 2, 3)},
    }
    their = dict(theirs.named_parameters())
    same_gradients(
        got,
        expected,
        [x, source, *(order[name] for name in names.values())],
        [x, source, *(their[name] for name in names)],
    )


def test_the_other_variant_is_another_layer():
    """So that the comparison above would notice a norm in the other place."""
    x, source, padding = inputs()
    after, before = (
        layer(D, H, D_MLP, dropout=0.0).double()
        for layer in (NormAfterDecoderLayer, PreNormDecoderLayer)
    )
    before.load_state_dict(after.state_dict())
    read = [layer(x, source, None, padding[:, None]) for layer in (after, before)]
    assert (read[0] - read[1]).abs().max() > 0.1


def test_both_stacks_are_those_of_pytorch(variant):
    """Given in parts, since nn.Transformer would let norm-after stacks end in one more norm."""
    layer, reader, _ = VARIANTS[variant]
    options = dict(dropout=0.0, batch_first=True, norm_first=variant == "pre-norm")
    encoder = shaken(Transformer(layer, 2, D, H, D_MLP, 0.0))
    decoder = shaken(DecoderStack(reader, 3, D, H, D_MLP, 0.0))
    last = [nn.LayerNorm(D) if variant == "pre-norm" else None for _ in range(2)]
    theirs = (
        nn.TransformerEncoder(
            nn.TransformerEncoderLayer(D, H, D_MLP, **options),
            2,
            last[0],
            enable_nested_tensor=False,
        ),
        nn.TransformerDecoder(nn.TransformerDecoderLayer(D, H, D_MLP, **options), 3, last[1]),
    )
    model = nn.Transformer(
        D, H, custom_encoder=theirs[0], custom_decoder=theirs[1], batch_first=True
    ).double()  # which gives the parameters new values
    for mine, other in ((encoder, model.encoder), (decoder, model.decoder)):
        same_parameters(mine, other)
    x, source, padding = inputs()
    future = future_rows(x[..., 0])
    hidden = padding[:, None]
    got = decoder(x, encoder(source, hidden), future, hidden)
    masks = dict(src_key_padding_mask=padding, memory_key_padding_mask=padding)
    expected = model(source, x, tgt_mask=future, **masks)
    same_gradients(got, expected, [x, source], [x, source])
    again, weights = decoder(x, encoder(source, hidden), future, hidden, with_weights=True)
    torch.testing.assert_close(again, got, **EXACT)
    assert weights.shape == (4, 3, H, 5, 7)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(4, 3, H, 5).double(), **EXACT)


def columns(layer):
    """The parameters of a decoder layer for NumPy, tokens as columns."""
    found = as_numpy(layer)
    for part in "weight", "bias":
        found[f"norm_3_{part}"] = getattr(layer.norm_3, part).detach().numpy()[:, None]
    cross = zip("qkv", layer.cross.project.weight.chunk(3), strict=True)
    found["cross"] = {f"Omega_{role}": Omega.detach().numpy() for role, Omega in cross}
    biases = zip("qkv", layer.cross.project.bias.chunk(3), strict=True)
    found["cross"] |= {f"beta_{role}": beta.detach().numpy()[:, None] for role, beta in biases}
    found["cross"]["Omega_c"] = layer.cross.combine.weight.detach().numpy()
    found["cross"]["beta_c"] = layer.cross.combine.bias.detach().numpy()[:, None]
    return found


@pytest.mark.parametrize("text", range(4))
def test_the_layer_in_numpy_is_the_layer_in_pytorch(variant, text):
    _, layer, in_numpy = VARIANTS[variant]
    ours = shaken(layer(D, H, D_MLP, dropout=0.0))
    x, source, padding = inputs()
    future = future_rows(x[..., 0])
    expected = ours(x, source, future, padding[:, None])[text].detach().numpy().T
    X, E = x[text].detach().numpy().T, source[text].detach().numpy().T
    got = in_numpy(X, E, columns(ours), H, future.numpy().T, padding[text].numpy())
    np.testing.assert_allclose(got, expected, **EXACT)


def test_heads_in_numpy_are_those_of_pytorch_and_one_head_is_plain_cross_attention():
    layer = shaken(PreNormDecoderLayer(D, H, D_MLP))
    x, source, padding = inputs()
    read, weights = layer.cross(x, source, padding[:, None], with_weights=True)
    X, E = x[1].detach().numpy().T, source[1].detach().numpy().T
    parameters = columns(layer)["cross"]
    got, A = multi_head_cross_attention(X, E, parameters, H, padding[1].numpy())
    np.testing.assert_allclose(got, read[1].detach().numpy().T, **EXACT)
    np.testing.assert_allclose(A, weights[1].detach().numpy().swapaxes(1, 2), **EXACT)
    got, A = multi_head_cross_attention(X, E, parameters, 1, padding[1].numpy())
    one, B = cross_attention(X, E, parameters, padding[1].numpy())
    np.testing.assert_allclose(A[0], B, **EXACT)
    combined = parameters["beta_c"] + parameters["Omega_c"] @ one
    np.testing.assert_allclose(got, combined, **EXACT)


@pytest.fixture
def model():
    return shaken(SequenceModel(V=15, longest=9, K=2, D=D, H=H, D_mlp=D_MLP)).eval()


SOURCE = torch.tensor([[5, 9, 4, 8], [7, 6, 0, 0]])
TARGET = torch.tensor([[1, 4, 10, 11, 2], [3, 12, 2, 0, 0]])


def test_the_future_does_not_matter_and_the_source_does(model):
    with torch.no_grad():
        logits = model(TARGET[:, :-1], SOURCE)
        later, other = TARGET[:, :-1].clone(), SOURCE.clone()
        later[0, 3], other[0, 3] = 5, 13
        torch.testing.assert_close(model(later, SOURCE)[0, :3], logits[0, :3], **EXACT)
        moved = (model(TARGET[:, :-1], other) - logits).abs().amax(dim=2)
        assert (moved[0] > 1e-6).all() and (moved[1] == 0).all()


def test_padding_of_the_source_does_not_matter(model):
    with torch.no_grad():
        alone = model(TARGET[1:, :2], SOURCE[1:, :2])
        torch.testing.assert_close(model(TARGET[:, :2], SOURCE)[1:], alone, **EXACT)


def test_the_loss_is_that_of_one_token_after_the_other(model):
    with torch.no_grad():
        one_by_one = [
            -model(target[None, :n], source[None, source != 0])[0, -1].log_softmax(0)[target[n]]
            for source, target in zip(SOURCE, TARGET, strict=True)
            for n in range(1, int((target != 0).sum()))
        ]
        loss = target_loss(model, (torch.nn.functional.pad(SOURCE, (0, 3)), TARGET))
        torch.testing.assert_close(loss, sum(one_by_one) / len(one_by_one), **EXACT)
    assert len(one_by_one) == 6


def test_translations_are_greedy_one_word_after_the_other(model):
    for start in 1, 3:
        for row, written in zip(SOURCE, translations(model, SOURCE, start, longest=6), strict=True):
            ids = [start]
            with torch.no_grad():
                while len(ids) <= 6 and ids[-1] != 2:
                    ids.append(int(model(torch.tensor([ids]), row[None, row != 0])[0, -1].argmax()))
            assert written == [token for token in ids[1:] if token != 2]


def test_one_class_is_all_three():
    sizes = dict(V=15, longest=9, K=2, D=D, H=H, D_mlp=D_MLP)
    ids = TARGET[:1]
    later = ids.clone()
    later[0, 4] = 7
    encoder, decoder = (
        shaken(SequenceModel(**sizes, **{other: False})) for other in ("decoder", "encoder")
    )
    with torch.no_grad():
        assert (encoder(later)[0, 0] - encoder(ids)[0, 0]).abs().max() > 1e-6  # sees both ways
        torch.testing.assert_close(decoder(later)[0, :4], decoder(ids)[0, :4], **EXACT)
    assert encoder.decoder is None and decoder.encoder is None
    with pytest.raises(ValueError, match="an encoder, a decoder, or both"):
        SequenceModel(**sizes, encoder=False, decoder=False)
