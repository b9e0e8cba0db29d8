"""Real changes of real Swift packages, from a base and from nothing: PIPECTL_BENCH_PACKAGES=clone=count,clone=count."""

import json
import os
import time

from bench import Problem
from figures import COUNT, Unit

ON_REQUEST = True
RATIO = Unit("", lambda value: f"{value:.3f}")

# The tests of each target are a step of their own, whose inputs are what such tests read: those of another target may
# change. SwiftPM puts all of them into one bundle, so they share a build, and `--ignore-lock` lets them run side by side.
WORKFLOW = '''import Pipeline

let test = Workflow("test", on: .pullRequest(into: "main")) {
    let build = Step("build", run: "swift build --build-tests")
        .inputs("Package*.swift", COMMON, "Tests/**", "Benchmarks/**")
    build
    for target in [TARGETS] {
        Step("test \\(target)", needs: build, run: "swift test --skip-build --ignore-lock --filter '^\\(target)\\\\.'")
            .inputs(only: "Package*.swift", COMMON, "Tests/\\(target)/**").outputs()
            .testResults(.swiftPMConsole)
    }
}
@main struct Workflows: WorkflowSet { static let workflows = [test] }
'''
COMMON = ", ".join(f'"{folder}/**"' for folder in ("Sources", "Plugins", "Examples", "Tools"))


class Package:
    """A copy of a package's history in which every commit has the workflow."""

    def __init__(self, bench, clone, count):
        self.bench = bench
        self.name = os.path.basename(clone.rstrip("/").removesuffix("/repo")).removesuffix(".git")
        self.path = f"{bench.root}/{self.name}"
        self.home = f"state-{self.name}"
        bench.git("clone", "--quiet", "--bare", "--no-local", clone, self.path, cwd=bench.root)
        self.commits = bench.git(
            "rev-list", "--first-parent", f"--max-count={count + 1}", "HEAD", cwd=self.path).split()[::-1]
        for ref in bench.git("for-each-ref", "--format=%(refname)", cwd=self.path).split():
            bench.git("update-ref", "-d", ref, cwd=self.path)
        # As its authors would list them.
        targets = bench.git("ls-tree", "-d", "--name-only", f"{self.commits[-1]}:Tests", cwd=self.path).split("\n")
        targets = [target for target in targets if target.endswith("Tests")]
        if not targets:
            raise Problem(f"{self.name}: no folder of tests in Tests/")
        workflow = WORKFLOW.replace("COMMON", COMMON).replace(
            "TARGETS", ", ".join(f'"{target}"' for target in targets))
        blob = bench.run(
            ["git", "hash-object", "-w", "--stdin"], cwd=self.path, input=workflow.encode()).stdout.decode().strip()
        self.workflows = self.tree(f"100644 blob {blob}\tWorkflows.swift\n")
        bench.git("symbolic-ref", "HEAD", "refs/heads/main", cwd=self.path)

    def tree(self, text):
        return self.bench.run(["git", "mktree"], cwd=self.path, input=text.encode()).stdout.decode().strip()

    def commit(self, original, parent, message):
        """A commit of the original's tree with the workflow in it."""
        lines = self.bench.git("ls-tree", original, cwd=self.path).splitlines()
        lines = [line for line in lines if not line.endswith("\tworkflows")]
        tree = self.tree("\n".join([*lines, f"040000 tree {self.workflows}\tworkflows", ""]))
        parents = ["-p", parent] if parent else []
        return self.bench.git("commit-tree", tree, *parents, "-m", message, cwd=self.path)

    def move(self, ref, commit):
        self.bench.git("update-ref", ref, commit, cwd=self.path)

    def ask(self, *words, codes=(0,)):
        done = self.bench.run([self.bench.pipectl, *words], cwd=self.path, home=self.home, codes=codes)
        return json.loads(done.stdout or b"null")

    def verdict(self, commit, seconds=900):
        """The run that tested this pushed commit, once it has ended."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            found = [run for run in self.ask("runs", "--json", "--limit", "20") if run["head"] == commit]
            if found and found[0].get("verdict"):
                return self.report(found[0]["id"])
            time.sleep(0.2)
        raise Problem(f"{self.name}: {commit} has no verdict after {seconds} s")

    def report(self, run):
        return self.ask("report", str(run), "--format", "json")


def seconds(report):
    from datetime import datetime

    begin, end = (datetime.fromisoformat(report[key].replace("Z", "+00:00")) for key in ("createdAt", "endedAt"))
    return (end - begin).total_seconds()


def measure(bench):
    wanted = os.environ.get("PIPECTL_BENCH_PACKAGES")
    if not wanted:
        return bench.missing("packages", "set PIPECTL_BENCH_PACKAGES to clones, each with =COUNT")
    ratios, differ, warm_all, cold_all = [], [], [], []
    for item in wanted.split(","):
        clone, _, count = item.partition("=")
        package = Package(bench, clone, int(count or 10))
        warm, cold = [], []
        main = package.commit(package.commits[0], None, "Begin")
        package.move("refs/heads/main", main)
        daemon = bench.daemon(package.home, "--refresh", "--interval", "3600", package.path, cwd=package.path)
        time.sleep(1)
        # A first change has nothing to begin from; the box then makes the base of its target.
        first = package.commit(package.commits[0], main, "First")
        package.move("refs/pull/1/head", first)
        package.verdict(first)
        package.verdict(main)
        for number, original in enumerate(package.commits[1:], start=2):
            head = package.commit(original, main, f"Change {number}")
            package.move(f"refs/pull/{number}/head", head)
            ours = package.verdict(head)
            again = package.ask("run", "test", "--change", str(number), "--clean", "--json", codes=range(9))
            # What is proved, as a change of documentation, begins from nothing: nothing is run.
            proved = all(step.get("provedBy") for step in ours["steps"])
            if not ours.get("base") and not proved:
                raise Problem(f"{package.name}: run {ours['id']} began from nothing")
            warm.append(seconds(ours))
            cold.append(seconds(again))
            ratios.append(warm[-1] / cold[-1])
            same = ours["verdict"] == again["verdict"] and (proved or ours["testCounts"] == again["testCounts"])
            if not same:
                differ.append(f"{package.name} {original[:10]}: {ours['verdict']}, from nothing {again['verdict']}")
            print(
                f"    {package.name} {original[:10]} {ours['verdict']} {ours['testCounts']['passed']} tests, "
                f"{'proved' if proved else '%d files' % ours['base']['changedFiles']}: {warm[-1]:.1f} s, from nothing {cold[-1]:.1f} s"
                f"{'' if same else '  DIFFERS: ' + again['verdict']}", flush=True)
            # It lands; the box's own run makes the next base.
            main = package.commit(original, main, f"Land {number}")
            package.move("refs/heads/main", main)
            package.verdict(main)
        bench.stop(daemon)
        bench.figure(f"{package.name}, {len(cold)} changes, from nothing", cold)
        bench.figure(f"{package.name}, from a base", warm, beside=cold, of="from nothing")
        warm_all += warm
        cold_all += cold
    bench.figure(f"all {len(ratios)} changes: warm by cold", ratios, unit=RATIO, goal=RATIO.at_most(1 / 6))
    bench.figure("other verdict or test counts", [len(differ)], unit=COUNT, goal=COUNT.at_most(0))
    for line in differ:
        print(f"    {line}", flush=True)
