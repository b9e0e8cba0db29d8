"""Start of the tool, and loading workflows: compiled for the first time, and from the cache."""

import shutil

from figures import MILLISECONDS

SEED = {
    "Package.swift": "// swift-tools-version: 6.0\nimport PackageDescription\n"
    'let package = Package(name: "Seed", targets: [.target(name: "Seed")])\n',
    "Sources/Seed/Seed.swift": "public let seed = 1\n",
}


def measure(bench):
    # What `pipectl init` writes: the workflows that most begin with.
    path = bench.repository("load", "", SEED)
    shutil.rmtree(f"{path}/workflows")
    bench.run([bench.pipectl, "init", path])
    version = [bench.pipectl, "--version"]
    plan = [bench.pipectl, "plan", "test"]

    def cold():
        # The toolchain's version is asked for again too, as on the first run ever.
        shutil.rmtree(f"{bench.root}/state/programs", ignore_errors=True)
        return bench.call(plan, cwd=path)

    quick = bench.trials(
        start=lambda: bench.call(version), git=lambda: bench.call(["git", "--version"]),
        cpu=lambda: bench.cpu(version))
    bench.figure("git --version", quick["git"])
    start = bench.figure(
        "pipectl --version", quick["start"], beside=quick["git"], of="git --version", goal=MILLISECONDS.at_most(25))
    bench.figure("the same, processor time", quick["cpu"])
    compiled = [cold() for _ in range(bench.count)]
    bench.figure("pipectl plan, compiled", compiled, goal=MILLISECONDS.at_most(1_500))
    warm = bench.trials(plan=lambda: bench.call(plan, cwd=path), cpu=lambda: bench.cpu(plan, cwd=path))
    bench.figure("pipectl plan, from the cache", warm["plan"])
    bench.figure("the same, processor time", warm["cpu"])
    bench.figure(
        "the same without the start of a process", [max(value - start, 0) for value in warm["plan"]],
        goal=MILLISECONDS.at_most(15))
