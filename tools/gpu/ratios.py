# SPDX-License-Identifier: Apache-2.0
"""How much longer a way takes than another, of which several processes each took turns side by side, with the interval in
which 95 % of such measurements would lie. Two processes of the same way differ for as long as they live (where their memory
lies), which no number of rounds tells from what is looked for: so processes are drawn anew, too."""
import random
import statistics

DRAWS = 1000


def middle(pairs, rounds):
    """The mean of the processes' medians."""
    return statistics.fmean(statistics.median(mine[i] / plain[i] for i in rounds) for mine, plain in pairs)


def compare(mine, plain):
    """Each a list of processes, which are lists of a number for each round; the first of one worked beside the first of the
    other, and so on. Returns the ratio, and the ends of its interval."""
    pairs, rounds, chance = list(zip(mine, plain)), range(len(plain[0])), random.Random(7)
    drawn = sorted(middle(chance.choices(pairs, k=len(pairs)), chance.choices(rounds, k=len(rounds))) for _ in range(DRAWS))
    return middle(pairs, rounds), drawn[DRAWS // 40], drawn[-DRAWS // 40 - 1]
