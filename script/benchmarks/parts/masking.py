"""The same lines with the values of secrets looked for, in all their forms."""

import hashlib

from figures import MEGABYTES_PER_SECOND
from parts._logs import file, rates, through

SECRETS = 20


def measure(bench):
    log, size = file(bench, bench.amount(1_000_000_000, 200_000_000))
    tokens = [hashlib.sha512(f"{number}".encode()).hexdigest()[:40].swapcase() for number in range(SECRETS)]
    # As tokens look: letters, digits and a few other characters, each beginning in another way.
    tokens = [f"{token[:12]}/{token[12:24]}+{token[24:]}" for token in tokens]
    names = [f"TOKEN_{number}" for number in range(SECRETS)]

    def step(count):
        given = ", ".join(f'"{name}"' for name in names[:count])
        return f'Step("cat", run: "cat {log}")' + (f".secrets({given}, as: .environment)" if count else "")

    path = bench.repository(
        "masking",
        bench.workflow_set(
            *(f'Workflow("s{count}") {{ {step(count)} }}' for count in (0, 1, SECRETS)),
            'Workflow("idle") { Step("one", run: "true") }'))
    for name, token in zip(names, tokens):
        bench.run([bench.pipectl, "secrets", "set", name], input=token.encode())
    words = [bench.pipectl, "run", "--ref", "main"]
    script = "; ".join(f"s~{token}~[secret]~g" for token in tokens)
    found = bench.trials(
        idle=lambda: bench.call([*words, "idle"], cwd=path),
        pipe=lambda: through(bench, "cat", log),
        sed1=lambda: through(bench, f"sed 's~{tokens[0]}~[secret]~g'", log),
        sed20=lambda: through(bench, f"sed '{script}'", log),
        ours0=lambda: bench.call([*words, "s0"], cwd=path),
        ours1=lambda: bench.call([*words, "s1"], cwd=path),
        ours20=lambda: bench.call([*words, f"s{SECRETS}"], cwd=path))
    none = [0.0] * bench.count
    pipe = rates(size, found["pipe"], none)
    sed = rates(size, found["sed20"], none)
    bench.figure("cat through a pipe to a file", pipe, MEGABYTES_PER_SECOND)
    bench.figure("sed, one value as it is", rates(size, found["sed1"], none), MEGABYTES_PER_SECOND)
    bench.figure(f"sed, {SECRETS} values as they are", sed, MEGABYTES_PER_SECOND)
    for count, what in ((0, "no secret"), (1, "one secret"), (SECRETS, f"{SECRETS} secrets")):
        values = rates(size, found[f"ours{count}"], found["idle"])
        goal = MEGABYTES_PER_SECOND.at_least(500) if count == SECRETS else None
        bench.figure(
            f"pipectl run, {what}, all forms, with times", values, MEGABYTES_PER_SECOND, beside=pipe,
            of="cat through a pipe", goal=goal)
    bench.figure(
        f"the same {SECRETS} secrets", rates(size, found[f"ours{SECRETS}"], found["idle"]), MEGABYTES_PER_SECOND,
        beside=sed, of=f"sed, {SECRETS} values")
