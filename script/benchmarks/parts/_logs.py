"""A log of many bytes, and rates of what goes through."""

import os
import random

LINE = b"2026-01-01T00:00:00Z compiling a file of some length and linking it with all the others, step by step\n"


def file(bench, size):
    path = f"{bench.root}/log-{size}.txt"
    if not os.path.exists(path):
        with open(path, "wb") as out:
            for _ in range(size // (len(LINE) * 10_000)):
                out.write(LINE * 10_000)
    return path, os.path.getsize(path)


def varied(bench, size):
    """The same of lines that differ, for those who compress what they keep: ten thousand, then the same again.

    They come again after a megabyte, which zlib doesn't look back to.
    """
    path = f"{bench.root}/varied-{size}.txt"
    if not os.path.exists(path):
        random_ = random.Random(1)
        block = "".join(
            f"2026-01-01T00:00:{number % 60:02}Z [{number}/10000] compiling module{random_.randrange(200)}"
            f"/file{random_.randrange(5_000)}.swift, {random_.randrange(10_000)} ms, {random_.getrandbits(64):016x}\n"
            for number in range(10_000)).encode()
        with open(path, "wb") as out:
            for _ in range(size // len(block)):
                out.write(block)
    return path, os.path.getsize(path)


def rates(size, taken, idle):
    """MB/s of each trial, without what the same run takes that prints nothing."""
    return [size / max(seconds - rest, 1e-6) / 1e6 for seconds, rest in zip(taken, idle)]


def through(bench, words, path):
    """Seconds that a copy of the file through a pipe takes, with `words` in it."""
    return bench.call(["sh", "-c", f"cat {path} | {words} > {bench.root}/copy.txt"])
