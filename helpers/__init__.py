"""What the notebooks need and a learner need not read to follow the story.

Importing this package costs nothing: each part is imported where it is used.
"""
