"""Programs to measure: `python workloads.py NAME`."""

import sys


def calls():
    """Many small calls."""

    def fibonacci(number):
        if number < 2:
            return number
        return fibonacci(number - 1) + fibonacci(number - 2)

    return fibonacci(32)


def lines():
    """Floating-point lines in loops: planets."""
    bodies = [[0.1 * k, 0.2 * k, 0.3 * k, 0.01, 0.02, 0.03, 1.0 + k] for k in range(5)]
    for _ in range(80_000):
        for index, one in enumerate(bodies):
            for other in bodies[index + 1 :]:
                x = one[0] - other[0]
                y = one[1] - other[1]
                z = one[2] - other[2]
                strength = 0.001 / ((x * x + y * y + z * z + 0.1) ** 1.5)
                one[3] -= x * other[6] * strength
                one[4] -= y * other[6] * strength
                one[5] -= z * other[6] * strength
    return bodies


class Task:
    """A node of a chain."""

    def __init__(self, after):
        self.after = after
        self.runs = 0

    def run(self, budget):
        self.runs += 1
        if self.is_done(budget):
            return 0
        return 1 + self.after.run(budget - 1)

    def is_done(self, budget):
        return budget == 0 or self.after is None


def objects():
    """Methods, attributes and generators."""
    first = None
    for _ in range(50):
        first = Task(first)

    def budgets():
        for number in range(100_000):
            yield number % 40

    return sum(first.run(budget) for budget in budgets())


def builtins():
    """Strings, lists and dictionaries, most of it in C."""
    words = ["alpha", "beta", "gamma", "delta"] * 5_000
    total = 0
    for _ in range(40):
        counts = {}
        for word in words:
            key = word.upper().replace("A", "e").strip()
            counts[key] = counts.get(key, 0) + len(word)
        total += sum(counts.values()) + len(",".join(sorted(words)).split(","))
    return total


def allocations():
    """Small objects, some of which stay alive, and growing lists."""
    kept = []
    for number in range(600_000):
        item = {"id": number, "name": str(number), "parts": [number, number + 1.5]}
        if number % 5 == 0:
            kept.append(item)
    for _ in range(20):
        kept.append([bytearray(5_000) for _ in range(500)])
    return len(kept)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
