"""script/bench: takes its options, measures the parts one after the other, prints the table."""

import argparse
import importlib
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

import machine
from bench import Bench, Problem, say
from figures import markdown, table

# In the order of the table. A new part that is not listed here comes last, by its name.
ORDER = ["load", "size", "push", "run", "steps", "sandbox", "durability", "log", "masking", "refs", "idle", "index", "forge"]


def find_parts():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "parts")
    names = [name[:-3] for name in os.listdir(folder) if name.endswith(".py") and not name.startswith("_")]
    names.sort(key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
    return {name: importlib.import_module(f"parts.{name}") for name in names}


def options(parts):
    parser = argparse.ArgumentParser(prog="script/bench", description="Measures pipectl beside its peers.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    parser.add_argument("--list", action="store_true", help="say what each part measures, and measure nothing")
    parser.add_argument("--pipectl", metavar="PATH", help="the binary to measure")
    parser.add_argument("--count", type=int, metavar="N", help="trials of each; 7, or 3 with --quick")
    parser.add_argument("--quick", action="store_true", help="fewer trials, smaller amounts")
    parser.add_argument("--json", metavar="FILE", help="keep every value, the goals and the machine here")
    parser.add_argument("--markdown", metavar="FILE", help="also write the table for docs/performance.md")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.parts if name not in parts]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(parts)}")
    if not chosen.list and not chosen.pipectl:
        parser.error("name the binary with --pipectl; script/bench builds one and does so")
    return chosen


def main():
    parts = find_parts()
    chosen = options(parts)
    if chosen.list:
        for name, part in parts.items():
            asked = "  (only when named)" if getattr(part, "ON_REQUEST", False) else ""
            print(f"{name:<12}{(part.__doc__ or '').splitlines()[0]}{asked}")
        return
    wanted = chosen.parts or [name for name, part in parts.items() if not getattr(part, "ON_REQUEST", False)]
    bench = Bench(chosen.pipectl, chosen.count or (3 if chosen.quick else 7), chosen.quick)
    facts = machine.describe(bench.root, bench.pipectl)
    failed = {}
    try:
        for name in wanted:
            say(f"measuring: {name}")
            bench.part = name
            try:
                parts[name].measure(bench)
            except (Problem, OSError, subprocess.SubprocessError) as error:
                say(f"{name} could not be measured: {error}")
                failed[name] = str(error)
            finally:
                bench.end_part()
    finally:
        bench.close()
    print(f"{machine.sentence(facts)}\n{bench.count} trials each\n")
    print(table(bench.figures), flush=True)
    if chosen.json:
        kept = {
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "machine": facts, "trials": bench.count,
            "isQuick": chosen.quick, "figures": [figure.json() for figure in bench.figures], "notMeasured": failed}
        with open(chosen.json, "w") as file:
            json.dump(kept, file, indent=1, ensure_ascii=False)
            file.write("\n")
    if chosen.markdown:
        with open(chosen.markdown, "w") as file:
            file.write(markdown(bench.figures) + "\n")
    if failed:
        raise SystemExit(f"not measured: {', '.join(failed)}")


main()
