"""The engine: what an exercise is, how an answer is judged, what the learner is shown."""
