"""Exercise 3.7, Positions for a batch."""

from helpers.exercises.engine.exercise import WITH_TORCH, Exercise
from helpers.exercises.shared.compare import same, unchanged
from helpers.exercises.shared.questions import differentiable, recognize

exercise = Exercise(
    "3.7",
    "Positions for a batch",
    stars=1,
    seconds=WITH_TORCH,
    stub='''\
def add_positions(x, table):
    """Add to every token the row of the table that belongs to its position.

    x: tensor, batch × N × D, N tokens as rows in each sentence; it must not be changed in place.
    table: tensor, longest × D, with longest ≥ N; row n belongs to position n, counted from 0.
    Returns a new tensor, batch × N × D, through which gradients reach x and the table.
    """
    return ...  # your code here
''',
    hints=(
        "Which of the three sizes of x is the number of tokens in a sentence?",
        "The table may have more rows than the sentences have tokens: which N of them do you "
        "need? Every sentence starts at position 0.",
        "N × D added to batch × N × D: sizes are compared from the last one backward, so each "
        "sentence gets the same N rows.",
    ),
    notice="Broadcasting lines sizes up from the right. A batch that happens to be as large as "
    "the number of tokens hides a position taken along the wrong dimension: test with sizes that "
    "differ.",
)


@exercise.solution
def add_positions(x, table):
    return x + table[: x.shape[1]]  # N × D is added to every sentence


@exercise.right
def by_loops(x, table):
    result = x.clone()
    for b in range(len(x)):
        for n in range(x.shape[1]):
            result[b, n] += table[n]
    return result


@exercise.right
def by_looking_up(x, table):
    import torch

    where = torch.arange(x.shape[1], device=x.device)
    return x + torch.nn.functional.embedding(where, table)[None]


@exercise.right
def in_float32(x, table):
    import torch

    result = torch.zeros(x.shape)
    for n in range(x.shape[1]):
        result[:, n] = x[:, n] + table[n]
    return result


@exercise.wrong("along the batch")
def along_the_batch(x, table):
    return x + table[: len(x), None]


@exercise.wrong("got the same row")
def one_position(x, table):
    return x + table[0]


@exercise.wrong("got the same row")
def last_position(x, table):
    return x + table[x.shape[1] - 1]


@exercise.wrong("got the same row")
def average(x, table):
    return x + table[: x.shape[1]].mean(dim=0)


@exercise.wrong("whole table")
def whole_table(x, table):
    return x + table


@exercise.wrong("counts the tokens of a sentence")
def as_many_as_sentences(x, table):
    return x + table[: len(x)]


@exercise.wrong("counts the tokens of a sentence")
def as_many_as_features(x, table):
    return x + table[: x.shape[2]]


@exercise.wrong("changes its input x in place")
def in_place(x, table):
    x += table[: x.shape[1]]
    return x


@exercise.wrong("end of the table")
def last_rows(x, table):
    return x + table[-x.shape[1] :]


@exercise.wrong("row 1 of the table")
def from_one(x, table):
    return x + table[1 : x.shape[1] + 1]


@exercise.wrong("in reverse")
def reversed_rows(x, table):
    return x + table[: x.shape[1]].flip(0)


@exercise.wrong("multiplied")
def multiplied(x, table):
    return x * table[: x.shape[1]]


@exercise.wrong("subtracted")
def subtracted(x, table):
    return x - table[: x.shape[1]]


@exercise.wrong("Only the first sentence")
def first_sentence_alone(x, table):
    result = x.clone()
    result[0] += table[: x.shape[1]]
    return result


@exercise.wrong("where are the tokens")
def positions_alone(x, table):
    return table[: x.shape[1]].expand(x.shape)


@exercise.wrong("beside the tokens")
def beside(x, table):
    import torch

    return torch.cat([x, table[: x.shape[1]].expand(x.shape)], dim=2)


@exercise.wrong("what does the table learn from")
def table_detached(x, table):
    return x + table.detach()[: x.shape[1]]


@exercise.wrong("No gradient can go back through your result")
def through_numpy(x, table):
    import torch

    return torch.from_numpy(x.numpy() + table.numpy()[: x.shape[1]])


@exercise.check
def check(answer):
    import torch

    def tensor(values):
        return torch.tensor(values, dtype=torch.float64)

    # One token, and all sizes differ: there, a wrong number of rows runs without an error.
    x = tensor([[[1, 2, 3]], [[4, 5, 6]]])
    table = tensor([[10, 11, 12], [20, 21, 22], [30, 31, 32], [40, 41, 42], [50, 51, 52]])
    recognize(
        unchanged(answer, x, table),
        add_positions(x, table),
        "the result for 2 sentences of 1 token, D=3, and a table of 5 rows",
        {
            "You added the whole table, and it has more rows than the sentences have tokens: "
            "which of its rows belong to positions that occur?": whole_table(x, table),
            "The number of rows taken from the table is not the number of tokens: which "
            "dimension of x counts the tokens of a sentence?": (
                as_many_as_sentences(x, table),
                as_many_as_features(x, table),
            ),
            "The position runs along the batch, so that the second sentence got row 1: which "
            "dimension of x counts the tokens?": along_the_batch(x, table),
            "Your first token got a row from the end of the table: does a sentence start at "
            "position 0, and what does Python make of a negative index?": last_rows(x, table),
            "Your first token got row 1 of the table: from which number are positions counted?": (
                from_one(x, table)
            ),
            "Tokens and positions were multiplied: which operation brings Π to the tokens?": (
                multiplied(x, table)
            ),
            "The positions were subtracted: which operation brings Π to the tokens?": (
                subtracted(x, table)
            ),
            "Only the first sentence got its positions: what about the other sentences of the "
            "batch?": first_sentence_alone(x, table),
            "The result is the rows of the table alone: where are the tokens?": (
                positions_alone(x, table)
            ),
            "The positions stand beside the tokens, as further features: the result should have "
            "D features. Which operation keeps the size?": beside(x, table),
            "The result is x as it was: where is the table?": x,
        },
    )
    x = torch.arange(24, dtype=torch.float64).reshape(3, 2, 4)
    table = torch.arange(20, dtype=torch.float64).reshape(5, 4) ** 2
    rows = table[:2]
    recognize(
        unchanged(answer, x, table),
        add_positions(x, table),
        "the result for 3 sentences of 2 tokens, D=4, and a table of 5 rows",
        {
            "Both tokens of a sentence got the same row, as if they stood at the same position: "
            "which row belongs to token n?": (
                *(x + row for row in table),
                x + rows.mean(dim=0),
                x + rows.sum(dim=0),
                x + table.mean(dim=0),
                x + table.sum(dim=0),
            ),
            "The rows came in reverse: which row belongs to the first token?": x + rows.flip(0),
        },
    )
    generator = torch.Generator().manual_seed(33)
    # The last sizes come twice: nothing may be kept from the call before.
    for batch, N, D, longest in (
        (1, 1, 1, 1),
        (3, 3, 3, 3),
        (4, 7, 2, 7),
        (2, 5, 6, 64),
        (2, 5, 6, 64),
    ):
        x, table = (
            torch.randn(*size, D, generator=generator, dtype=torch.float64)
            for size in ((batch, N), (longest,))
        )
        what = f"the result for {batch} sentences of {N} tokens, D={D}, and {longest} rows"
        same(unchanged(answer, x, table), add_positions(x, table), what)
    x, table = tensor([[[2, 3], [5, 7]]]).requires_grad_(), torch.ones(3, 2).requires_grad_()
    got = differentiable(answer, x, table)
    dx, dtable = torch.autograd.grad(
        got.sum(), (x, table), allow_unused=True, materialize_grads=True
    )
    same(dx, torch.ones_like(x), "the gradient that reaches x")
    learns = "what does the table learn from, if its rows are no part of what you return?"
    same(dtable, [[1, 1], [1, 1], [0, 0]], "the gradient of the table", far=learns)


exercise.equivalent(
    "the size is that of x", "by_loops: * → for b in range(len(*", "* → *range(result.*"
)
exercise.equivalent(
    "everything is on the CPU here", "by_looking_up: * → where = torch.arange(x.shape[1]*"
)
exercise.equivalent(
    "N × D is added to every sentence", "by_looking_up: * → *embedding(where, table)"
)
exercise.equivalent(
    "every entry is written once",
    "in_float32: * → result = torch.ones(x.shape)",
    "in_float32: * → result[:, n] += x[:, n] + table[n]",
)
