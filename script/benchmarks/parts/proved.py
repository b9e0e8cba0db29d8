"""From a push to the verdict where an earlier run has proved the steps: amend, rebase, documentation, squash merge."""

import sqlite3
import time

from bench import Problem
from figures import MILLISECONDS


def measure(bench):
    steps = 'Step("unit", run: "sleep 1; test -e source/a").inputs("source/**").outputs().idempotent()'
    path = bench.repository(
        "proved",
        bench.workflow_set(
            f'Workflow("test", on: .pullRequest(into: "main")) {{ {steps} }}',
            f'Workflow("merged", on: .merge(into: "main")) {{ {steps} }}'),
        {"source/a": "1\n", "README.md": "text\n"})
    home = "proved-state"
    bench.daemon(home, "--interval", "3600", "--no-refresh", "--proof-sampling", "0", path)
    time.sleep(1)
    index = sqlite3.connect(f"file:{bench.root}/{home}/index.sqlite?mode=ro", uri=True, timeout=10)
    serial = 0

    def commit(parent, files, message):
        """A commit of its parent's tree with other content of some files; the work tree is not touched."""
        nonlocal serial
        serial += 1
        lines = [
            "commit refs/scratch", f"committer Bench <bench@example.com> {1_700_000_000 + serial} +0000",
            f"data {len(message)}", message, f"from {parent}"]
        for name, text in files.items():
            lines += [f"M 644 inline {name}", f"data {len(text)}", text]
        bench.run(["git", "fast-import", "--quiet", "--force"], cwd=path, input=("\n".join(lines) + "\n").encode())
        return bench.git("rev-parse", "refs/scratch", cwd=path)

    def verdict(ref, head, is_proved, seconds=60):
        """Seconds from the moment the ref moves to the moment the index has the verdict of its run."""
        started = time.perf_counter()
        bench.git("update-ref", ref, head, cwd=path)
        while time.perf_counter() - started < seconds:
            row = index.execute(
                "SELECT verdict, reason FROM run WHERE head = ? AND state = 'ended'", (head,)).fetchone()
            if row:
                taken = time.perf_counter() - started
                if row[0] != "passed" or ("proved" in row[1]) != is_proved:
                    raise Problem(f"{ref} at {head[:10]} is \"{row[0]}\": {row[1]}")
                return taken
            time.sleep(0.001)
        raise Problem(f"{ref} at {head[:10]} has no verdict after {seconds} s")

    number = 0

    def fresh():
        """A change whose step has been run; its ref and its commit."""
        nonlocal number
        number += 1
        main = bench.git("rev-parse", "main", cwd=path)
        head = commit(main, {"source/a": f"{number}\n"}, f"Change {number}")
        verdict(f"refs/pull/{number}/head", head, False)
        return f"refs/pull/{number}/head", head, main

    def amended():
        ref, head, main = fresh()
        return verdict(ref, commit(main, {"source/a": f"{number}\n"}, "Said better"), True)

    def documented():
        ref, head, main = fresh()
        return verdict(ref, commit(head, {"README.md": f"text of {number}\n"}, "Text"), True)

    def rebased():
        ref, head, main = fresh()
        newer = commit(main, {"NOTES.md": f"{number}\n"}, "Something else lands")
        verdict("refs/heads/main", newer, True)
        return verdict(ref, commit(newer, {"source/a": f"{number}\n"}, "Rebased"), True)

    def squashed():
        ref, head, main = fresh()
        return verdict("refs/heads/main", commit(main, {"source/a": f"{number}\n"}, "Squashed"), True)

    # What is merged proves what follows: once, so that main's own step has a proof.
    main = bench.git("rev-parse", "main", cwd=path)
    verdict("refs/heads/main", commit(main, {"source/a": "0\n"}, "Begin"), False)
    found = bench.trials(amended=amended, documented=documented, rebased=rebased, squashed=squashed)
    for name, what in (
            ("amended", "an amended commit message"), ("documented", "a change of documentation"),
            ("rebased", "a rebase onto a newer target"), ("squashed", "a squash merge")):
        bench.figure(f"{what}: push to verdict", found[name], goal=MILLISECONDS.at_most(300))
