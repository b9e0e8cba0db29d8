"""What an installation takes on disk, without symbols: the tool, its helpers, the workflow library and its module."""

import os
import shutil
import subprocess

from figures import MEGABYTES


def measure(bench):
    binary = bench.pipectl
    folder = os.path.dirname(binary)
    installed = os.path.join(os.path.dirname(folder), "lib", "pipectl")
    library = next(path for path in (f"{folder}/libPipeline.so", f"{installed}/libPipeline.so") if os.path.exists(path))
    module = os.path.join(os.path.dirname(library), "Modules", "Pipeline.swiftmodule")
    helpers = [
        next(
            path for path in (f"{folder}/{name}", f"{os.path.dirname(folder)}/libexec/pipectl/{name}")
            if os.path.exists(path))
        for name in ("stepinit", "swift-reader")]
    total = 0
    for path in (binary, library, *helpers):
        stripped = f"{bench.root}/stripped-{os.path.basename(path)}"
        shutil.copyfile(path, stripped)
        subprocess.run(["strip", stripped], check=True)
        size = os.path.getsize(stripped) / 1e6
        total += size
        bench.figure(f"{os.path.basename(path)}, stripped", [size], MEGABYTES)
    size = sum(
        os.path.getsize(os.path.join(place, name)) for place, _, names in os.walk(module) for name in names
    ) / 1e6 if os.path.isdir(module) else os.path.getsize(module) / 1e6
    bench.figure("Pipeline.swiftmodule", [size], MEGABYTES)
    bench.figure("all that is installed", [total + size], MEGABYTES, goal=MEGABYTES.at_most(80))
