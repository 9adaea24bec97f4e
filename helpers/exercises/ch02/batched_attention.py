"""Exercise 2.6, Batches, in PyTorch's layout."""

from helpers.exercises.engine.exercise import WITH_TORCH, Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import LARGE, UNSCALED, recognize, survives

exercise = Exercise(
    "2.6",
    "Batches, in PyTorch's layout",
    stars=2,
    seconds=WITH_TORCH,
    stub='''\
def batched_attention(Q, K, V):
    """Attention (without scaling) for a batch of sentences, as PyTorch lays them out.

    Q, K: tensors, batch × tokens × D_q; V: tensor, batch × tokens × D_v.
    With weights[b, n, m] the attention that query n of sentence b pays to key m. Scores may be
    ±1000.
    Returns the outputs, batch × tokens × D_v.
    """
    return ...  # your code here
''',
    hints=(
        "Tokens are rows now. Which product of Q[b] and K[b] has one row for each query and one "
        "column for each key?",
        "@ multiplies the last two dimensions and leaves the batch alone; K.transpose(1, 2) "
        "exchanges tokens and features and leaves the batch alone as well.",
        "With Q on the left of that, the scores are batch × queries × keys. The softmax runs over "
        "the keys: which dim is that? Then the weights stand on the left of V.",
    ),
    notice="The transpose of V @ A is Aᵀ @ Vᵀ: rows for columns, and the order turned around. "
    "The batch is a third index that no product touches.",
)


@exercise.solution
def batched_attention(Q, K, V):
    scores = Q @ K.transpose(1, 2)  # batch × queries × keys
    weights = scores.softmax(dim=2)  # rows sum to one
    return weights @ V  # batch × tokens × D_v


@exercise.right
def by_einsum(Q, K, V):
    import torch

    weights = torch.einsum("bnd,bmd->bnm", Q, K).softmax(dim=-1)
    return torch.einsum("bnm,bmv->bnv", weights, V)


@exercise.right
def by_fused_kernel(Q, K, V):
    import torch

    return torch.nn.functional.scaled_dot_product_attention(Q, K, V, scale=1.0)


@exercise.right
def by_columns(Q, K, V):
    import torch

    outputs = []
    for b in range(Q.shape[0]):
        weights = (K[b] @ Q[b].T).softmax(dim=0)  # keys × queries
        outputs.append((V[b].T @ weights).T)
    return torch.stack(outputs)


@exercise.right
def in_float32(Q, K, V):
    import torch

    outputs = torch.zeros(V.shape)
    for b in range(Q.shape[0]):
        outputs[b] = (Q[b] @ K[b].T).softmax(dim=1) @ V[b]
    return outputs


@exercise.wrong("runs over the queries")
def over_queries(Q, K, V):
    return (Q @ K.transpose(1, 2)).softmax(dim=1) @ V


@exercise.wrong("runs over the batch")
def over_batch(Q, K, V):
    return (Q @ K.transpose(1, 2)).softmax(dim=0) @ V


@exercise.wrong("keys ask and queries answer")
def exchanged(Q, K, V):
    return (K @ Q.transpose(1, 2)).softmax(dim=2) @ V


@exercise.wrong("tokens with tokens, or features with features")
def over_features(Q, K, V):
    return V @ (Q.transpose(1, 2) @ K).softmax(dim=2).transpose(1, 2)


@exercise.wrong("what turns scores into weights")
def without_softmax(Q, K, V):
    return Q @ K.transpose(1, 2) @ V


@exercise.wrong("scaling comes in a later notebook")
def scaled(Q, K, V):
    return (Q @ K.transpose(1, 2) / Q.shape[2] ** 0.5).softmax(dim=2) @ V


@exercise.wrong("turns all three dimensions around")
def all_reversed(Q, K, V):
    return (Q @ K.permute(2, 1, 0)).softmax(dim=2) @ V


@exercise.wrong("reshape does not exchange")
def reshaped(Q, K, V):
    B, N, D_q = K.shape
    return (Q @ K.reshape(B, D_q, N)).softmax(dim=2) @ V


def with_kept(Q, K, V, kept_maximum, kept_sum):
    """Attention in which the maximum or the sum may lose the dimension of the keys."""
    scores = Q @ K.transpose(1, 2)
    exponentials = (scores - scores.amax(dim=2, keepdim=kept_maximum)).exp()
    return exponentials / exponentials.sum(dim=2, keepdim=kept_sum) @ V


@exercise.wrong("keepdim=True")
def without_keepdim(Q, K, V):
    return with_kept(Q, K, V, False, False)


@exercise.wrong("keepdim=True")
def without_keepdim_in_sum(Q, K, V):
    return with_kept(Q, K, V, True, False)


@exercise.wrong("torch.exp(1000) overflows")
def unstable(Q, K, V):
    exponentials = (Q @ K.transpose(1, 2)).exp()
    return exponentials / exponentials.sum(dim=2, keepdim=True) @ V


@exercise.wrong("the largest of them, or something else")
def less_the_mean(Q, K, V):
    scores = Q @ K.transpose(1, 2)
    exponentials = (scores - scores.mean(dim=2, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim=2, keepdim=True) @ V


@exercise.wrong("what must they be divided by")
def unnormalized(Q, K, V):
    return (Q @ K.transpose(1, 2)).exp() @ V


@exercise.wrong("does return stand inside the loop")
def returned_early(Q, K, V):
    outputs = V * 0
    for b in range(Q.shape[0]):
        outputs[b] = (Q[b] @ K[b].T).softmax(dim=1) @ V[b]
        return outputs


@exercise.wrong("reshape does not exchange")
def untransposed(Q, K, V):
    return (Q @ K).softmax(dim=2) @ V


@exercise.wrong("very exponential was 0")
def one_maximum(Q, K, V):
    scores = Q @ K.transpose(1, 2)
    exponentials = (scores - scores.max()).exp()
    return exponentials / exponentials.sum(dim=2, keepdim=True) @ V


@exercise.wrong("expected the result alone, got a tuple of 2")
def with_weights(Q, K, V):
    weights = (Q @ K.transpose(1, 2)).softmax(dim=2)
    return weights @ V, weights


exercise.equivalent(
    "the same call, or a size that all three share",
    "batched_attention: * → scores = Q @ K.transpose(2, 1)",
    "*: for b in * → for b in range(*.shape[0]):",
)
exercise.equivalent("a list of tensors is read as one", "by_columns: * → return outputs")
exercise.equivalent(
    "every sentence's outputs are set once",
    "in_float32: outputs = * → outputs = torch.ones(V.shape)",
    "in_float32: outputs[b] = (* → outputs[b] += (Q[b] @ K[b].T).softmax(dim=1) @ V[b]",
)


@exercise.check
def check(answer):
    import torch

    def tensor(values):
        return torch.tensor(values, dtype=torch.float64)

    # As many sentences as tokens and features: there, a wrong dimension runs without an error.
    Q = tensor([[[0.7, -0.4], [1.1, 0.9]], [[-0.6, 1.3], [0.8, 0.2]]])
    K = tensor([[[1.2, 0.5], [-0.3, 1.7]], [[0.4, -1.1], [1.6, 0.1]]])
    V = tensor([[[4.1, 0.6], [-2.3, 3.7]], [[1.9, 2.8], [0.3, -5.2]]])
    scores = Q @ K.transpose(1, 2)
    recognize(
        unchanged(answer, Q, K, V),
        batched_attention(Q, K, V),
        "the outputs for two sentences of two tokens, D_q=2, D_v=2",
        {
            "The softmax runs over the queries: the weights of one query, a row of your scores, "
            "do not sum to one. Which dim counts the keys?": over_queries(Q, K, V),
            "The softmax runs over the batch: one sentence takes weight from the other. Which dim "
            "counts the keys?": over_batch(Q, K, V),
            "In your scores keys ask and queries answer: which of the two has to stand transposed "
            "on the right?": exchanged(Q, K, V),
            "The outputs are mixed by the columns of your weights: with weights[n, m] for query n "
            "and key m, which index is summed over?": scores.softmax(dim=2).transpose(1, 2) @ V,
            "Your weights have one row for each feature: do your scores compare tokens with "
            "tokens, or features with features?": over_features(Q, K, V),
            UNSCALED.replace("√D_q", "√2"): scaled(Q, K, V),
            "The values are weighted with the scores themselves: what turns scores into weights?": (
                scores @ V
            ),
            "K.T turns all three dimensions around, the batch included: which call exchanges only "
            "the last two?": all_reversed(Q, K, V),
            "Your K has its numbers in the order that they had before: a reshape does not exchange "
            "two dimensions, it deals the numbers out again. Which call transposes?": (
                untransposed(Q, K, V)
            ),
            "The values are weighted with the exponentials of the scores: what must they be "
            "divided by to be weights?": unnormalized(Q, K, V),
            "The outputs of the first sentence are right, and all others are 0: does return stand "
            "inside the loop, or does the loop end too early?": returned_early(Q, K, V),
            "A maximum or sum over the keys has lost its dimension and meets the wrong numbers: "
            "what does keepdim=True keep?": tuple(
                with_kept(Q, K, V, *kept) for kept in ((False, False), (True, False), (False, True))
            ),
        },
    )
    generator = torch.Generator().manual_seed(25)
    sizes = (1, 1, 1, 1), (2, 3, 4, 2), (4, 4, 4, 4), (3, 7, 2, 5), (2, 1, 3, 1)
    for B, N, D_q, D_v in 2 * sizes:
        Q, K, V = (
            torch.randn(B, N, D, generator=generator, dtype=torch.float64) for D in (D_q, D_q, D_v)
        )
        what = f"the outputs for {B} sentences of {N} tokens, D_q={D_q}, D_v={D_v}"
        same(unchanged(answer, Q, K, V), batched_attention(Q, K, V), what)
    V = tensor([5, 7, 4])[None, :, None]
    for keys, queries, scores, why in LARGE:
        Q, K = (tensor(numbers)[None, :, None] for numbers in (queries, keys))
        why = why.replace("np.", "torch.")
        got, expected = unchanged(answer, Q, K, V), batched_attention(Q, K, V)
        survives(got, expected, f"the outputs for {scores}", why)
