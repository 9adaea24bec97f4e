"""The exercises of notebook 10, Long sequences, in its order."""

from helpers.exercises.ch10 import (
    attend_to_two_blocks,
    attend_without_matrix,
    count_meetings,
    fade_memory,
    features_in_pairs,
    first_heard,
    least_rank,
    read_one_more_tile,
    see_behind,
    share_globals,
)

__all__ = ["EXERCISES"]

EXERCISES = (
    count_meetings.exercise,
    see_behind.exercise,
    share_globals.exercise,
    first_heard.exercise,
    least_rank.exercise,
    attend_without_matrix.exercise,
    fade_memory.exercise,
    features_in_pairs.exercise,
    read_one_more_tile.exercise,
    attend_to_two_blocks.exercise,
)
