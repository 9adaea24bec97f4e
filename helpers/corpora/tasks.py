"""Small tasks that a language model can be shown by examples: question and answer, ten of each."""

__all__ = ["FAMILIES"]

TEXT = """\
capital → country: Paris France, Rome Italy, Madrid Spain, Berlin Germany, Tokyo Japan,
    Cairo Egypt, Oslo Norway, Athens Greece, Vienna Austria, Dublin Ireland
opposites: big small, hot cold, fast slow, tall short, old young, wet dry, full empty, rich poor,
    hard soft, light dark
plurals: cat cats, dog dogs, horse horses, chair chairs, car cars, tree trees, house houses,
    bird birds, book books, ship ships
past tense: go went, eat ate, see saw, take took, give gave, run ran, write wrote, sing sang,
    break broke, speak spoke
English → French: dog chien, cat chat, bread pain, water eau, house maison, tree arbre, milk lait,
    book livre, night nuit, king roi
first letter: apple a, house h, river r, table t, window w, garden g, money m, silver s, paper p,
    doctor d
backwards: abc cba, xyz zyx, mno onm, def fed, pqr rqp, ghi ihg, jkl lkj, stu uts, bcd dcb, efg gfe
"""

# The name of a family → ten pairs (question, answer).
FAMILIES = {
    name: [tuple(pair.split()) for pair in pairs.split(",")]
    for name, pairs in (line.split(":") for line in TEXT.replace("\n    ", " ").splitlines())
}
