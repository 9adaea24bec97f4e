"""Which hints a learner gets: one more after a new try, or as many as are asked for by number."""

import inspect

__all__ = ["Hints"]


class Hints:
    """Decides how many hints are shown; how many were `read` so far is known to the board.

    Running a cell again, or all cells of a notebook again, gives nothing away: the same answer is
    no new try, and a kernel that has just begun shows first what was shown before.
    """

    def __init__(self):
        self._tried = {}  # by id: the code of the last answer that failed
        self._new = set()  # ids with a new try since their hints were last asked for
        self._asked = set()  # ids whose hints were asked for in this kernel

    def note_try(self, exercise, answer):
        """Note an answer that failed."""
        code = _code(answer)
        if exercise.id not in self._tried or self._tried[exercise.id] != code:
            self._tried[exercise.id] = code
            self._new.add(exercise.id)

    def give(self, exercise, read, number=None):
        """How many hints to show now: at least `number`, if given."""
        shown = min(max(read, number or read + self._one_more(exercise, read)), len(exercise.hints))
        self._new.discard(exercise.id)
        self._asked.add(exercise.id)
        return shown

    def offer(self, exercise, read):
        """A sentence that says what to call for help."""
        if read >= len(exercise.hints):
            return f'Stuck? `hint("{exercise.id}")` shows the hints again.'
        if self._one_more(exercise, read):
            return f'Stuck? `hint("{exercise.id}")` gives you the next hint.'
        return (
            f'Stuck? `hint("{exercise.id}")` shows the hints so far, '
            f'`hint("{exercise.id}", {read + 1})` the next one, too.'
        )

    def _one_more(self, exercise, read):
        return not read or (exercise.id in self._new and exercise.id in self._asked)


def _code(answer):
    """What tells one answer from another: the code of a function, or of a class's methods."""
    if isinstance(answer, type):
        return {n: _code(f) for n, f in vars(answer).items() if inspect.isfunction(f)}
    return getattr(answer, "__code__", None)
