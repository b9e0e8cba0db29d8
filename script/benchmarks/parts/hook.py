"""From a push and from its hook's first line to the first process of a step, beside Laminar and Buildbot."""

import os
import shutil
import time

from figures import MILLISECONDS
from peers.buildbot import Buildbot
from peers.laminar import Laminar

SAY = "date +%s.%N > {0}.new.{1} && mv {0}.new.{1} {0}.{1}"


class Target:
    """A bare repository that is pushed to; its hook tells when it began, then does what else it is to do."""

    def __init__(self, bench, path, name, action=""):
        self.bench, self.path, self.name = bench, path, name
        self.bare = f"{bench.root}/hook-{name}.git"
        # Steps and jobs say in a file of this name, with the commit behind it, when they began.
        self.mark = f"{bench.root}/hook-{name}-started"
        self.began = f"{bench.root}/hook-{name}-began"
        bench.git("clone", "--quiet", "--bare", path, self.bare, cwd=bench.root)
        bench.git("remote", "add", name, self.bare, cwd=path)
        self.act(action)

    def act(self, action):
        hook = f"{self.bare}/hooks/post-receive"
        with open(hook, "w") as file:
            file.write(f"#!/bin/sh\ndate +%s.%N > {self.began}\nread -r old new ref\n{action}\n")
        os.chmod(hook, 0o755)

    def push(self, number, commit):
        """Seconds that the push takes; the moment at which it began."""
        started = time.time()
        self.bench.git("push", "--quiet", self.name, f"{commit}:refs/pull/{number}/head", cwd=self.path)
        return time.time() - started, started

    def first(self, number, commit):
        """Seconds from the push and from the hook's first line to the first process of a step."""
        _, started = self.push(number, commit)
        first = float(self.bench.wait_for(f"{self.mark}.{commit}"))
        with open(self.began) as file:
            return first - started, first - float(file.read())


def measure(bench):
    # Which is the target's own: its repository's name begins it.
    step = SAY.format(f"{bench.root}/$PIPECTL_REPOSITORY-started", "$PIPECTL_HEAD")
    path = bench.repository(
        "hook",
        bench.workflow_set(f'Workflow("test", on: .pullRequest(into: "main")) {{ Step("one", run: "{step}") }}'))
    bare, ours, warm = Target(bench, path, "bare"), Target(bench, path, "ours"), Target(bench, path, "warm")
    # The peers know nothing of the repository; a step of ours has the commit's files around it.
    queued, enclosed = Target(bench, path, "queued"), Target(bench, path, "enclosed")
    laminar = Laminar(bench, {
        "test": SAY.format(queued.mark, "$commit"),
        "enclosed": Laminar.enclosed(enclosed.bare, "$commit", bench.root, SAY.format(enclosed.mark, "$commit"))})
    if not laminar.trouble:
        queued.act(laminar.queue("test", {"commit": "$new"}))
        enclosed.act(laminar.queue("enclosed", {"commit": "$new"}))
    posted, sent = Target(bench, path, "posted"), Target(bench, path, "sent")
    buildbot = Buildbot(bench, {
        "posted": [SAY.format(posted.mark, "$COMMIT")], "sent": [SAY.format(sent.mark, "$COMMIT")]}, executors=1)
    if not buildbot.trouble:
        posted.act(buildbot.post("posted", "$new"))
        sent.act(buildbot.send_change("sent", "$new"))
    bench.daemon("hook-state", "--interval", "3600", "--no-refresh", ours.bare)
    # As a box does by itself: a workspace over that of main.
    bench.daemon("hook-warm-state", "--interval", "3600", warm.bare)
    time.sleep(2)
    tip = bench.git("rev-parse", "HEAD", cwd=path)
    number = 0

    def commit():
        """The next push: each another tree, as a step that has passed on the same files is not run again."""
        nonlocal number
        number += 1
        with open(f"{path}/number", "w") as file:
            file.write(f"{number}\n")
        bench.git("add", "number", cwd=path)
        tree = bench.git("write-tree", cwd=path)
        return number, bench.git("commit-tree", tree, "-p", tip, "-m", f"Push {number}", cwd=path)

    def rested(found, settle=lambda: None):
        settle()
        # The run before is archived meanwhile, and the next one's sandbox made; so that nobody comes after less of a
        # rest than the others, everybody has it.
        time.sleep(0.6)
        return found

    def first(target, settle=lambda: None):
        return rested(target.first(*commit()), settle)

    first(ours)  # compiles the workflows
    first(warm)  # and asks for a base
    bench.wait_until(
        "a warm workspace of main",
        lambda: b"warm-up of main" in bench.run(
            [bench.pipectl, "runs", "--verdict", "passed"], home="hook-warm-state").stdout)
    found = bench.trials(
        file=lambda: bench.new_file(),
        bare=lambda: rested(bare.push(*commit())[0]),
        ours=lambda: first(ours),
        warm=lambda: first(warm),
        **laminar.trial("queued", lambda: first(queued)),
        **laminar.trial("enclosed", lambda: first(enclosed)),
        **buildbot.trial("posted", lambda: first(posted, buildbot.settled)),
        **buildbot.trial("sent", lambda: first(sent, buildbot.settled)))

    def split(name):
        """The times from the push, and those from the hook's first line."""
        return tuple(zip(*(pair for pair in found.get(name, []) if pair))) or ((), ())

    whole, rest = split("ours")
    name, hook_name = "push to first step, sandboxed, durable", "hook's first line to first step"
    bench.figure("a new file of 1 kB", found["file"])
    bench.figure("a push whose hook notes the time", found["bare"])
    bench.figure(name, whole, beside=found["bare"], of="the push", goal=MILLISECONDS.at_most(35))
    bench.figure(hook_name, rest, goal=MILLISECONDS.at_most(12))
    over, rest_over = split("warm")
    bench.figure(
        f"{name}, over a base", over, beside=found["bare"], of="the push", goal=MILLISECONDS.at_most(35))
    bench.figure(f"{hook_name}, over a base", rest_over, goal=MILLISECONDS.at_most(12))
    for peer, key, what in (
            (laminar, "queued", "laminarc queue, no sandbox"),
            (laminar, "enclosed", "laminarc queue, git archive and bwrap in the job"),
            (buildbot, "posted", "curl, no sandbox"), (buildbot, "sent", "buildbot sendchange, no sandbox")):
        theirs, hooks = split(key)
        of = f"{peer.title}, {what}"
        peer.figure(f"push to first step: {what}", theirs)
        peer.figure(f"hook's first line to first step: {what}", hooks)
        peer.compare(name, whole, theirs, of)
        peer.compare(f"{name}, over a base", over, theirs, of)
        peer.compare(hook_name, rest, hooks, of)
    for target in (bare, ours, warm, queued, enclosed, posted, sent):
        shutil.rmtree(target.bare, ignore_errors=True)
