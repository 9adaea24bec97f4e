"""Exercise 5.8, Warm-up, then a cosine."""

import math

import numpy as np

from helpers.exercises.engine.exercise import Exercise, Wrong
from helpers.exercises.shared.compare import matches, numbers, same
from helpers.exercises.shared.questions import recognize

exercise = Exercise(
    "5.8",
    "Warm-up, then a cosine",
    stars=2,
    stub='''\
def learning_rate(step, steps, warm_up, peak):
    """The learning rate of one step of training: a linear warm-up, then half a cosine down.

    step: the number of the step, from 0 to steps − 1.
    warm_up: how many steps the warm-up takes, from 0 to steps − 1. In it, the rate grows by the
    same amount at every step, the first one included, and its last step has the rate peak.
    The steps − warm_up others go through half a period of the cosine: the first of them has the
    rate peak, and at the step after the last, which is not taken, the rate would be 0.
    Returns the rate of this step, a number.
    """
    return ...  # your code here
''',
    hints=(
        "With warm_up = 4 and peak = 8 the first rates are 2, 4, 6, 8. Which formula gives them "
        "for the steps 0, 1, 2, 3?",
        "After that, which share of the decay is done before this step? It is 0 at step warm_up "
        "and would be 1 at the step number steps.",
        "cos goes from 1 to −1 as its angle goes from 0 to π (radians, as np.cos takes them). "
        "Which shift and which factor make that a way from 1 to 0?",
    ),
    notice="The first steps are small: there the gradients are least to be trusted, and Adam has "
    "hardly seen any. The cosine is flat at both ends, so it neither starts nor ends abruptly.",
)


@exercise.solution
def learning_rate(step, steps, warm_up, peak):
    if step < warm_up:
        return peak * (step + 1) / warm_up
    done = (step - warm_up) / (steps - warm_up)  # share of the decay, from 0 to almost 1
    return peak * (1 + np.cos(np.pi * done)) / 2


@exercise.right
def by_squares(step, steps, warm_up, peak):
    done = max(0, step - warm_up) / (steps - warm_up)
    return peak * min(1, (step + 1) / max(1, warm_up)) * math.cos(math.pi / 2 * done) ** 2


@exercise.right
def by_degrees(step, steps, warm_up, peak):
    if warm_up > step:
        return peak / warm_up * (step + 1)
    return peak * (0.5 + 0.5 * np.cos(np.radians(180 * (step - warm_up) / (steps - warm_up))))


@exercise.right
def by_whole_schedule(step, steps, warm_up, peak):
    rising = np.linspace(0, peak, warm_up + 1)[1:]
    angles = np.linspace(0, np.pi, steps - warm_up, endpoint=False)
    return np.concatenate([rising, peak * (1 + np.cos(angles)) / 2])[step]


@exercise.right
def as_tensor(step, steps, warm_up, peak):
    import torch

    if step < warm_up:
        return torch.tensor(peak * (step + 1) / warm_up)
    done = torch.tensor((step - warm_up) / (steps - warm_up))
    return peak * (1 + torch.cos(torch.pi * done)) / 2


def decays(decay):
    """The right warm-up, then peak · decay(step, steps, warm_up)."""

    def rate(step, steps, warm_up, peak):
        if step < warm_up:
            return peak * (step + 1) / warm_up
        return peak * decay(step, steps, warm_up)

    return rate


def half_cosine(share):
    """From 1 at 0 to 0 at 1."""
    return (1 + math.cos(math.pi * share)) / 2


@exercise.wrong("teaches nothing")
def starting_at_zero(step, steps, warm_up, peak):
    return peak * step / warm_up if step < warm_up else learning_rate(step, steps, warm_up, peak)


@exercise.wrong("has warm_up an effect")
def without_warm_up(step, steps, warm_up, peak):
    return peak * half_cosine(step / steps)


@exercise.wrong("has warm_up an effect")
def decay_without_warm_up(step, steps, warm_up, peak):
    return peak if step < warm_up else learning_rate(step, steps, warm_up, peak)


@exercise.wrong("grows for one step more")
def one_step_more(step, steps, warm_up, peak):
    if step <= warm_up:
        return peak * (step + 1) / warm_up
    return learning_rate(step, steps, warm_up, peak)


@exercise.wrong("does not reach it")
def divided_by_one_more(step, steps, warm_up, peak):
    if step < warm_up:
        return peak * (step + 1) / (warm_up + 1)
    return learning_rate(step, steps, warm_up, peak)


@exercise.wrong("does the cosine act in the warm-up as well")
def cosine_over_all(step, steps, warm_up, peak):
    return peak * min(1, (step + 1) / max(1, warm_up)) * half_cosine(step / steps)


@exercise.wrong("does the cosine act in the warm-up as well")
def cosine_before_its_start(step, steps, warm_up, peak):
    rising = min(1, (step + 1) / max(1, warm_up))
    return peak * rising * half_cosine((step - warm_up) / (steps - warm_up))


@exercise.wrong("lead up or down")
def warm_up_downward(step, steps, warm_up, peak):
    if step < warm_up:
        return peak * (warm_up - step) / warm_up
    return learning_rate(step, steps, warm_up, peak)


@exercise.wrong("where is peak")
def without_peak(step, steps, warm_up, peak):
    return learning_rate(step, steps, warm_up, 1.0)


@exercise.wrong("warm-up goes on through all steps")
def warm_up_over_all(step, steps, warm_up, peak):
    return peak * (step + 1) / steps


@exercise.wrong("stays there")
def without_decay(step, steps, warm_up, peak):
    return decays(lambda step, steps, warm_up: 1.0)(step, steps, warm_up, peak)


SLIPS = {
    "The cosine of your decay began at step 0: how many steps of the decay are done when the "
    "warm-up is over?": lambda step, steps, warm_up: half_cosine(step / steps),
    "Your decay is only partly done at the end: over how many steps does it go, all of them or "
    "those that the warm-up leaves?": (
        lambda step, steps, warm_up: half_cosine((step - warm_up) / steps)
    ),
    "Your rate comes back up to the peak: is it a half or a whole period of the cosine that leads "
    "down?": lambda step, steps, warm_up: (
        (1 + math.cos(2 * math.pi * (step - warm_up) / (steps - warm_up))) / 2
    ),
    "Your rate ends near half the peak: from which angle to which does the cosine go from 1 to "
    "−1?": lambda step, steps, warm_up: (
        (1 + math.cos(math.pi / 2 * (step - warm_up) / (steps - warm_up))) / 2
    ),
    "Yours is a quarter of a period, which falls fastest at the end: where the cosine has fallen "
    "to 0, how far is it from its lowest point?": lambda step, steps, warm_up: math.cos(
        math.pi / 2 * (step - warm_up) / (steps - warm_up)
    ),
    "Your decay is a straight line: where does the cosine come in?": lambda step, steps, warm_up: (
        1 - (step - warm_up) / (steps - warm_up)
    ),
    "Your rate jumps up and down: np.cos and math.cos take radians; what are 180 degrees in "
    "radians?": lambda step, steps, warm_up: (
        (1 + math.cos(180 * (step - warm_up) / (steps - warm_up))) / 2
    ),
    "After the warm-up your rate falls to 0 and then grows: is it 1 + cos or 1 − cos that starts "
    "at its largest?": lambda step, steps, warm_up: (
        1 - half_cosine((step - warm_up) / (steps - warm_up))
    ),
    "After the warm-up your rate is twice the peak: how large is 1 + cos at the angle 0?": (
        lambda step, steps, warm_up: 2 * half_cosine((step - warm_up) / (steps - warm_up))
    ),
    "Your rate becomes negative: which shift makes a cosine that goes from 1 to −1 end at 0?": (
        lambda step, steps, warm_up: math.cos(math.pi * (step - warm_up) / (steps - warm_up))
    ),
    "The first step after the warm-up is already below the peak: which share of the decay is done "
    "before it?": lambda step, steps, warm_up: half_cosine(
        (step + 1 - warm_up) / (steps - warm_up)
    ),
    "Your last step has the rate 0 and teaches nothing: does the decay end with the last step, or "
    "one step later?": lambda step, steps, warm_up: half_cosine(
        (step - warm_up) / (steps - 1 - warm_up)
    ),
}


for question, decay in SLIPS.items():
    exercise.wrong(question)(decays(decay))


@exercise.wrong("does your function end with return")
def warm_up_alone(step, steps, warm_up, peak):
    return peak * (step + 1) / warm_up if step < warm_up else None


@exercise.wrong("warm_up = 0")
def always_divided(step, steps, warm_up, peak):
    rising = (step + 1) / warm_up
    return peak * rising if step < warm_up else learning_rate(step, steps, warm_up, peak)


@exercise.check
def check(answer):
    # No size is a multiple of another, so that each shows where it is used.
    what = "with steps=14, warm_up=5, peak=11"
    rates = schedule(answer, 14, 5, 11.0)
    full = "Step 0 has the full rate, 11, already: has warm_up an effect?"
    both = (
        "Your rate grows more slowly, since the growth is multiplied by a cosine from the start: "
        "does the cosine act in the warm-up as well?"
    )
    down = "In the warm-up your rate goes from 11 to 2.2: does a warm-up lead up or down?"
    answer(0, 14, 5, 11.0)  # once more: a failed check shows the inputs of the last call
    recognize(
        rates[0],
        2.2,
        f"the rate of step 0 {what}",
        {
            "The rate of step 0 is 0, so the first step teaches nothing: by how much should the "
            "rate have grown when it is taken?": 0.0,
            down if matches(rates[4], 2.2) else full: 11.0,
            f"The rate of step 0 {what} is the one for a peak of 1: where is peak?": 1 / 5,
            "The warm-up goes on through all steps: how many are there in it?": 11 / 14,
            "Your rate of step 0 is a sixth of the peak, so the last of the five steps of the "
            "warm-up does not reach it: by what is step + 1 divided?": 11 / 6,
            both: cosine_before_its_start(0, 14, 5, 11.0),
        },
    )
    mistakes = {
        "Once at the peak, your rate stays there: what follows the warm-up?": without_decay,
        "At step 5 your rate is above the peak, because it grows for one step more: which steps "
        "belong to a warm-up of 5?": one_step_more,
        both: cosine_over_all,
        **{question: decays(decay) for question, decay in SLIPS.items()},
    }
    call_where_worst(answer, rates, 14, 5, 11.0)
    recognize(
        rates,
        schedule(learning_rate, 14, 5, 11.0),
        f"the rates of the steps 0 to 13 {what}",
        {question: schedule(mistaken, 14, 5, 11.0) for question, mistaken in mistakes.items()},
    )
    # The last ones change one input at a time: nothing may be kept from the call before.
    for steps, warm_up, peak in (
        *((5, 0, 1.0), (1, 0, 3.0), (99, 10, 1e-3), (7, 6, 2.0)),
        *((30, 1, 1.0), (31, 1, 1.0), (31, 8, 1.0), (31, 8, 0.3)),
    ):
        try:
            rates = schedule(answer, steps, warm_up, peak)
        except ZeroDivisionError:
            raise Wrong(
                f"With steps={steps} and warm_up={warm_up} it divides by zero: what is computed at "
                "warm_up = 0, when no step belongs to the warm-up?"
            ) from None
        what = f"the rates with steps={steps}, warm_up={warm_up}, peak={peak}"
        expected = schedule(learning_rate, steps, warm_up, peak)
        call_where_worst(answer, rates, steps, warm_up, peak)
        same(rates, expected, what, size=peak)


def schedule(answer, steps, warm_up, peak):
    """The rates of all steps, shape (steps,), or Wrong."""
    rates = []
    for step in range(steps):
        rate = answer(step, steps, warm_up, peak)
        what = f"the rate of step {step} with steps={steps}, warm_up={warm_up}, peak={peak}"
        rates.append(numbers(rate, peak, what).item())
    return np.array(rates)


def call_where_worst(answer, rates, *sizes):
    """Call the answer once more for the step whose rate is off most, which the box then shows."""
    answer(int(np.argmax(np.abs(rates - schedule(learning_rate, *sizes)))), *sizes)


exercise.equivalent(
    "cos(−x) is cos(x)",
    "* → done = *warm_up - step) / (steps - warm_up)*",
    "* → done = *step - warm_up) / (warm_up - steps)*",
    "by_squares: * → *math.cos(math.pi / -2 * done) ** 2",
    "by_degrees: * → *np.radians(-180 * *",
    "by_degrees: * → *(warm_up - step) / (steps - warm_up))))",
    "by_degrees: * → *(step - warm_up) / (warm_up - steps))))",
)
exercise.equivalent(
    "of two numbers the larger, or the smaller, whichever comes first",
    "by_squares: * → done = max(step - warm_up, 0) / *",
    "by_squares: * → *min((step + 1) / max(1, warm_up), 1)*",
    "by_squares: * → *max(warm_up, 1)*",
)
exercise.equivalent("a number will do", "as_tensor: * → return peak * (step + 1) / warm_up")
