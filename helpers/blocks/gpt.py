"""Exported from notebooks/08_gpt.ipynb by `make export`: edit it there."""

import numpy as np

from helpers.blocks.positional_encoding import rotary
from helpers.blocks.scaling_and_multiple_heads import scaled_attention
from helpers.blocks.transformer_layer import as_numpy, layer_norm, mlp


def future(N):
    """Which keys a query may not see, N × N truth values, keys down: those after it.

    Chapter 12, "Masked self-attention".
    """
    return np.arange(N)[:, None] > np.arange(N)


def next_distribution(logits, temperature=1.0, k=None, p=1.0):
    """The distribution to choose the next token from; logits: V numbers → V probabilities.

    temperature: what the logits are divided by, above 0. k: only the k most probable tokens stay.
    p: of these, as many as it takes, the most probable first, to have the probability p together.
    Chapter 12, "Generating text".
    """
    scores = np.asarray(logits, float) / temperature
    order = np.argsort(-scores, kind="stable")[:k]  # of equal ones, the first
    kept = np.exp(scores[order] - scores[order[0]])
    kept /= kept.sum()
    enough = np.cumsum(kept) - kept < p  # what stands before it does not reach p yet
    probabilities = np.zeros(len(scores))
    probabilities[order[enough]] = kept[enough] / kept[enough].sum()
    return probabilities


def grow(beam, log_probabilities, end):
    """Each beginning of a beam with each possible next token, best first: (unfinished, finished).

    beam: pairs of a log probability and a tuple of tokens. log_probabilities: function from such a
    tuple to those of the next token, V numbers. end: the token that finishes a text.
    """
    grown = [
        (total + log, (*tokens, token))
        for total, tokens in beam
        for token, log in enumerate(log_probabilities(tokens))
        if log > -np.inf
    ]
    grown.sort(key=lambda text: -text[0])
    finished = [text for text in grown if text[1][-1] == end]
    return [text for text in grown if text[1][-1] != end], finished


def beam_search(log_probabilities, width, longest, end):
    """The finished texts that a beam finds, best first: pairs of log probability and tokens.

    width: how many beginnings are kept. longest: the most tokens of a text, with the end. The rest
    as in grow. Chapter 12, "Generating text".
    """
    beam, finished = [(0.0, ())], []
    for _ in range(longest):
        unfinished, ended = grow(beam, log_probabilities, end)
        finished = sorted(finished + ended, key=lambda text: -text[0])
        best = finished[0][0] if finished else -np.inf
        beam = [text for text in unfinished[:width] if text[0] > best]
        if not beam:
            break
    return finished


def cached_attention(x, parameters, H, kept):
    """Attention of one new token, x, D × 1, to itself and to all before it; returns D × 1.

    parameters: those of multi_head_self_attention. kept: [K, V], heads × D_q × tokens each, to
    which the new key and value are added.
    """
    q, k, v = (
        (parameters[f"beta_{r}"] + parameters[f"Omega_{r}"] @ x).reshape(H, -1, 1) for r in "qkv"
    )
    kept[:] = np.concatenate([kept[0], k], axis=2), np.concatenate([kept[1], v], axis=2)
    scores = kept[0].transpose(0, 2, 1) @ q / np.sqrt(q.shape[1])  # heads × tokens × 1
    a = np.exp(scores - scores.max(axis=1, keepdims=True))
    heads = kept[1] @ (a / a.sum(axis=1, keepdims=True))  # heads × D_q × 1
    return parameters["beta_c"] + parameters["Omega_c"] @ heads.reshape(-1, 1)


def cached_step(token, decoder, cache):
    """The logits after one more token, V numbers, in NumPy; the cache grows by one column.

    token: an integer; its position is the number of tokens before it. decoder: the result of
    decoder_parameters. cache: a [K, V] for each layer, as in cached_attention; [] at first.
    """
    n, H = cache[0][0].shape[2] if cache else 0, decoder["H"]
    x = decoder["E"][:, [token]] + decoder["Pi"][:, [n]]  # D × 1
    if not cache:
        nothing = np.zeros((H, len(x) // H, 0))
        cache.extend([nothing, nothing] for _ in decoder["layers"])
    for parameters, kept in zip(decoder["layers"], cache, strict=True):
        z = layer_norm(x, parameters["norm_1_weight"], parameters["norm_1_bias"])
        x = x + cached_attention(z, parameters, H, kept)
        z = layer_norm(x, parameters["norm_2_weight"], parameters["norm_2_bias"])
        x = x + mlp(z, parameters)
    return (decoder["E"].T @ layer_norm(x, *decoder["norm"]))[:, 0]


def decoder_parameters(decoder):
    """What cached_step needs of a Decoder, as NumPy arrays in float64."""
    stack = decoder.transformer
    tensors = {"E": decoder.embedding.weight, "Pi": stack.positions.table}
    tensors |= {"weight": stack.norm.weight, "bias": stack.norm.bias}
    arrays = {name: tensor.detach().cpu().double().numpy() for name, tensor in tensors.items()}
    return {
        "E": arrays["E"].T,
        "Pi": arrays["Pi"].T,
        "H": stack.layers[0].attention.H,
        "layers": [as_numpy(layer) for layer in stack.layers],
        "norm": [arrays["weight"][:, None], arrays["bias"][:, None]],
    }


def gpt_parameters(V, longest, K, D):
    """How many numbers a Decoder learns, by part: dictionary from name to count.

    V: tokens; longest: positions; K: layers; D: size of a token, the MLP four times as wide.
    """
    return {
        "tokens": V * D,
        "positions": longest * D,
        "attention": K * (4 * D**2 + 4 * D),
        "MLPs": K * (8 * D**2 + 5 * D),
        "norms": K * 4 * D + 2 * D,
    }


def rms_norm(X, weight, epsilon=1e-5):
    """Each token divided by its root mean square, then scaled by weight, D × 1; X: D × N.

    Not in the chapter; most later models use it in place of LayerNorm.
    """
    return weight * X / np.sqrt((X**2).mean(axis=0) + epsilon)


def swiglu(X, Omega_gate, Omega_up, Omega_down):
    """A gated MLP for every token, Ω_down [silu(Ω_gate X) · Ω_up X]; X: D × N.

    Omega_gate, Omega_up: D_mlp × D; Omega_down: D × D_mlp. Not in the chapter.
    """
    gate = Omega_gate @ X  # D_mlp × N
    return Omega_down @ (gate * (1 + np.tanh(gate / 2)) / 2 * (Omega_up @ X))  # no exp overflows


def published_layer(X, layer, heads, key_heads, base, epsilon):
    """A pre-norm layer with RMSNorm, rotary positions, grouped queries and SwiGLU; X: D × N.

    layer: has gamma_1, Omega_q, Omega_k, Omega_v, Omega_c, gamma_2, Omega_gate, Omega_up and
    Omega_down. heads, key_heads: of queries, and of keys and values. base: of the rotary angles.
    """
    N = X.shape[1]
    normalized = rms_norm(X, layer.gamma_1, epsilon)
    Q = np.split(layer.Omega_q @ normalized, heads)  # each D_q × N
    K, V = (np.split(Omega @ normalized, key_heads) for Omega in (layer.Omega_k, layer.Omega_v))
    outputs = []
    for h in range(heads):
        shared = h * key_heads // heads  # consecutive heads share
        turned = [rotary(part, np.arange(N), base) for part in (Q[h], K[shared])]
        outputs.append(scaled_attention(*turned, V[shared], future(N))[0])
    X = X + layer.Omega_c @ np.vstack(outputs)
    normalized = rms_norm(X, layer.gamma_2, epsilon)
    return X + swiglu(normalized, layer.Omega_gate, layer.Omega_up, layer.Omega_down)


def shown(pairs, query, shots, seed=0, answers=None):
    """A prompt with `shots` other pairs of a family as examples, and the answer it asks for.

    answers: what the examples' questions are answered with, if not what belongs to them.
    """
    others = np.delete(np.arange(len(pairs)), query)
    chosen = np.random.default_rng([seed, query]).permutation(others)[:shots]
    answers = answers or [answer for _, answer in pairs]
    examples = "".join(f"{pairs[n][0]} -> {answers[n]}\n" for n in chosen)
    question, answer = pairs[query]
    return f"{examples}{question} ->", f" {answer}"


def answered(gpt, encoding, prompt, answer):
    """Whether each token of the answer is the most probable one after the prompt."""
    prompt, answer = encoding.encode(prompt), encoding.encode(answer)
    outputs = gpt.run([*prompt, *answer])[:, len(prompt) - 1 : -1]
    return list(gpt.logits(outputs).argmax(axis=0)) == answer


def following(read, ids, choose=np.argmax):
    """The tokens that follow ids, one by one and without end: each is chosen, then read itself.

    read: function from further ids, after all that it has read, to the next token's logits, V
    numbers. choose: from these to a token.
    """
    while True:
        token = int(choose(read(ids)))
        yield token
        ids = [token]


def tell(tokens, decode):
    """Print a text while its tokens come, and return it; an interrupt keeps what has been written.

    tokens: an iterator over token ids. decode: function from a list of ids to their text.
    """
    made, text, told = [], "", 0
    try:
        for token in tokens:
            made.append(token)
            text = decode(made)
            if not text.endswith("\ufffd"):  # or the rest of a letter is still to come
                print(text[told:], end="", flush=True)
                told = len(text)
        print(text[told:])
    except KeyboardInterrupt:
        print(f"\nStopped by you after {len(made)} tokens; what has been written is kept.")
    return text
