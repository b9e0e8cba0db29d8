"""The official client of the Model Context Protocol against `pipectl mcp`, a real daemon and a real repository."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import mcp_types as types
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

PIPECTL = sys.argv[1]
WORKFLOW = """
import Pipeline
let test = Workflow("test", on: .pullRequest(into: "main")) {
    Step("check", run: "sh check.sh").testResults(.junit("out.xml")).testFilter(.names)
    Step("slow", run: "sh slow.sh")
}
@main struct Workflows: WorkflowSet { static let workflows = [test] }
"""
FAILING = """cat > out.xml <<X
<testsuite name="S"><testcase classname="Calc" name="adds" file="Tests/Calc.swift" line="12">
<failure message="expected 5, got 4">Tests/Calc.swift:12</failure></testcase></testsuite>
X
for n in $(seq 2000); do echo "line $n of the log"; done
echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!; exit 1
"""
PASSING = """cat > out.xml <<X
<testsuite name="S"><testcase classname="Calc" name="adds"/></testsuite>
X
"""

checks = 0


def check(condition, what):
    global checks
    checks += 1
    if not condition:
        raise SystemExit(f"FAILED: {what}")
    print(f"  ok  {what}")


class Bench:
    def __init__(self):
        self.root = tempfile.mkdtemp(prefix="pipectl-mcp.")
        self.repo = f"{self.root}/repo"
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("PIPECTL", "GIT_"))}
        self.environment.update(
            PIPECTL_HOME=f"{self.root}/home", GIT_AUTHOR_NAME="Ada", GIT_AUTHOR_EMAIL="ada@example.com",
            GIT_COMMITTER_NAME="Ada", GIT_COMMITTER_EMAIL="ada@example.com")
        os.makedirs(f"{self.repo}/workflows")
        self.write({"workflows/x.swift": WORKFLOW, "check.sh": "echo ok\n", "slow.sh": "true\n"})
        self.git("init", "-q", "-b", "main")
        self.git("add", "-A")
        self.git("commit", "-qm", "Begin")
        self.log = open(f"{self.root}/daemon.log", "w+")
        self.daemon = subprocess.Popen(
            [PIPECTL, "watch", "--no-refresh", "--minimum-free", "0", "--changes", "agent/*", self.repo],
            env=self.environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        limit = time.monotonic() + 120
        while "baseline of" not in open(f"{self.root}/daemon.log").read():
            if time.monotonic() > limit or self.daemon.poll() is not None:
                raise SystemExit("the daemon did not start:\n" + open(f"{self.root}/daemon.log").read())
            time.sleep(0.05)

    def write(self, files):
        for path, text in files.items():
            with open(f"{self.repo}/{path}", "w") as file:
                file.write(text)

    def git(self, *words):
        return subprocess.run(
            ["git", *words], cwd=self.repo, env=self.environment, check=True, stdout=subprocess.PIPE, text=True
        ).stdout.strip()

    def push(self, branch, files):
        """A commit on a branch that is a change; it stays checked out."""
        self.git("checkout", "-q", "-B", branch, "main")
        self.write(files)
        self.git("commit", "-qam", f"On {branch}")
        return self.git("rev-parse", "HEAD")

    def server(self):
        return StdioServerParameters(command=PIPECTL, args=["mcp"], env=self.environment, cwd=self.repo)

    def close(self):
        self.daemon.send_signal(signal.SIGTERM)
        self.daemon.wait(timeout=60)
        shutil.rmtree(self.root, ignore_errors=True)


def text(result):
    return "".join(part.text for part in result.content)


async def session(bench, mode):
    print(f"mode {mode}")
    branch = f"agent/{mode}"
    async with Client(bench.server(), mode=mode, read_timeout_seconds=120) as client:
        version = client.protocol_version
        print(f"  protocol {version}")
        check(version == ("2025-11-25" if mode == "legacy" else "2026-07-28"), "the newest revision of this way to begin")
        tools = (await client.list_tools()).tools
        names = [tool.name for tool in tools]
        check(len(names) == 13 and "wait_for_verdict" in names, f"13 tools: {', '.join(names)}")
        check(not {"approve", "secrets", "release"} & set(names), "no tool approves, reads secrets or releases")
        check(all(tool.output_schema and tool.annotations for tool in tools), "each with a schema of its answer, and hints")

        # Waiting begins before there is anything to see.
        told = []

        async def progress(done, total, message):
            told.append((done, message))

        bench.git("checkout", "-q", "-B", branch, "main")
        bench.write({"check.sh": FAILING, "slow.sh": "sleep 3\n"})
        bench.git("commit", "-qam", "Break it")
        head = bench.git("rev-parse", "HEAD")
        started = time.monotonic()
        waited = await client.call_tool("wait_for_verdict", {"what": head}, progress_callback=progress)
        check(not waited.is_error and waited.structured_content["verdict"] == "failed", "the verdict is failed")
        check(waited.structured_content["exitCode"] == 1 and waited.structured_content["isEarly"], "at the first failure")
        check("Calc/adds" in text(waited) and "Tests/Calc.swift:12" in text(waited), "the bundle names test, file and line")
        check("--step check --tests Calc/adds`" in text(waited), "and the command that repeats it alone")
        check(len(text(waited).encode()) <= 16384, f"{len(text(waited).encode())} bytes, {time.monotonic() - started:.1f} s")
        check(len(told) >= 1 and [d for d, _ in told] == sorted({d for d, _ in told}), f"progress grows: {told[-1][1]!r}")
        run = waited.structured_content["run"]
        ended = await client.call_tool("wait_for_verdict", {"what": str(run), "until": "verdict"})
        check(not ended.structured_content["isEarly"], "until the verdict")

        bundle = await client.call_tool("get_bundle", {"run": run, "maximum_bytes": 4096})
        check(len(text(bundle).encode()) <= 4096, "a bundle within 4096 bytes")
        runs = await client.call_tool("list_runs", {"limit": 5})
        check(runs.structured_content["runs"][0]["id"] >= run, "list_runs, newest first")
        one = await client.call_tool("get_run", {"run": run})
        check({s["name"] for s in one.structured_content["steps"]} == {"check", "slow"}, "get_run has the steps")
        tail = await client.call_tool("tail_log", {"run": run, "lines": 3})
        check("line 2000 of the log" in text(tail), "tail_log chooses the step that failed")
        before = await client.call_tool(
            "tail_log", {"run": run, "lines": 2, "before_line": tail.structured_content["first_line"]})
        check("line 1998" in text(before), "and pages backwards")
        found = await client.call_tool("search_log", {"run": run, "pattern": "line 1[0-9]{2} ", "limit": 2, "context": 1})
        check(found.structured_content["matches"] == 2 and "line 101 " in text(found), "search_log finds two")
        more = await client.call_tool(
            "search_log", {"run": run, "pattern": "line 1[0-9]{2} ", "from_line": found.structured_content["next_line"]})
        check("line 102 " in text(more), "and goes on where it stopped")
        started = time.monotonic()
        slow = await client.call_tool(
            "search_log", {"run": run, "pattern": "(a|aa)+$", "from_line": 2001, "timeout_seconds": 1})
        took = time.monotonic() - started
        check(slow.structured_content["timed_out"] and took < 5, f"a hostile pattern ends after {took:.1f} s")
        wrong = await client.call_tool("search_log", {"run": run, "pattern": "(("})
        check(wrong.is_error and "not a regular expression" in text(wrong), "a wrong pattern is said")
        tests = await client.call_tool("list_tests", {"run": run})
        check(tests.structured_content["tests"][0]["line"] == 12, "list_tests, failures first")
        history = await client.call_tool("test_history", {"test": "Calc/adds"})
        check(history.structured_content["results"][0]["run"] == run, "test_history")
        unknown = await client.call_tool("get_run", {"run": 4711})
        check(unknown.is_error and "4711" in text(unknown), "an unknown run is an error that says which")
        typo = await client.call_tool("get_run", {"runn": run})
        check(typo.is_error and "runn" in text(typo), "so is a misspelt argument")
        try:
            await client.call_tool("approve", {"run": run})
            check(False, "approve is refused")
        except MCPError as error:
            check(error.code == types.INVALID_PARAMS, "approve is refused")

        resources = (await client.list_resources()).resources
        check(any(str(r.uri) == f"pipectl://runs/{run}/report.md" for r in resources), "reports are resources")
        report = await client.read_resource(f"pipectl://runs/{run}/report.json")
        check(json.loads(report.contents[0].text)["id"] == run, "a report as JSON")
        schema = await client.read_resource("pipectl://schemas/verdict.json")
        check("exitCode" in json.loads(schema.contents[0].text)["properties"], "a schema")
        try:
            await client.read_resource("pipectl://runs/../../etc/passwd")
            check(False, "what is no resource is refused")
        except MCPError:
            check(True, "what is no resource is refused")

        # Cancellation: another call goes on meanwhile, and the server answers afterwards.
        wait = asyncio.create_task(client.call_tool("wait_for_verdict", {"what": "0" * 40}))
        await asyncio.sleep(0.5)
        check((await client.call_tool("list_runs", {})).structured_content["runs"], "a call beside one that blocks")
        wait.cancel()
        try:
            await wait
            check(False, "a cancelled call ends")
        except asyncio.CancelledError:
            check(True, "a cancelled call ends")
        pending = await client.call_tool("wait_for_verdict", {"what": "0" * 40, "timeout_seconds": 0.5})
        check(pending.structured_content["verdict"] == "pending", "a time-out is pending, not a verdict")
        check(pending.structured_content["exitCode"] == 8, "with code 8")

        again = await client.call_tool("rerun_failed", {"run": run})
        rerun = await client.call_tool("wait_for_verdict", {"what": str(again.structured_content["run"])})
        check(rerun.structured_content["verdict"] == "failed", "rerun_failed fails again")
        check((await client.call_tool("validate_workflows", {})).structured_content["valid"], "validate_workflows")
        check((await client.call_tool("list_tasks", {})).structured_content["tasks"] == [], "list_tasks")

        # Mend it.
        bench.write({"check.sh": PASSING, "slow.sh": "true\n"})
        tree = await client.call_tool("run_working_tree", {"workflow": "test"})
        tried = await client.call_tool("wait_for_verdict", {"what": str(tree.structured_content["run"])})
        check(tried.structured_content["verdict"] == "passed", "run_working_tree passes before the push")
        tree = await client.call_tool("run_working_tree", {"workflow": "test", "steps": ["check"], "tests": ["Calc/adds"]})
        tried = await client.call_tool("wait_for_verdict", {"what": str(tree.structured_content["run"])})
        check(tried.structured_content["verdict"] == "passed", "so does the one test that failed")
        tree = await client.call_tool("run_working_tree", {"workflow": "test", "steps": ["check"], "tests": ["Calc/nine"]})
        tried = await client.call_tool("wait_for_verdict", {"what": str(tree.structured_content["run"])})
        check("did not run Calc/nine" in text(tried), "a test that is not run has not passed")
        bench.git("commit", "-qam", "Mend it")
        mended = await client.call_tool("wait_for_verdict", {})
        check(mended.structured_content["verdict"] == "passed", "and the commit that is checked out passes")
        check(mended.structured_content["exitCode"] == 0, "with code 0")

        bench.write({"slow.sh": "sleep 60\n"})
        bench.git("commit", "-qam", "Slow")
        wait = asyncio.create_task(client.call_tool("wait_for_verdict", {}))
        for _ in range(200):
            going = (await client.call_tool("list_runs", {"state": "running"})).structured_content["runs"]
            if going:
                break
            await asyncio.sleep(0.05)
        outcome = await client.call_tool("cancel_run", {"run": going[0]["id"]})
        check("cancelled" in outcome.structured_content["outcome"], "cancel_run")
        check((await wait).structured_content["verdict"] == "cancelled", "whoever waits for it learns it")


async def main():
    bench = Bench()
    try:
        for mode in ["legacy", "auto", "2026-07-28"]:
            await session(bench, mode)
    except SystemExit:
        print(open(f"{bench.root}/daemon.log").read()[-3000:], file=sys.stderr)
        raise
    finally:
        bench.close()
    print(f"{checks} passed, 0 failed")


asyncio.run(main())
