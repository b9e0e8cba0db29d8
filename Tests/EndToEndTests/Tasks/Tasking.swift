import Foundation
import Results
import TestBasics
import TestSupport

/// A repository with tasks, a merge queue and releases, and a script as its agents.
enum Tasking {
    /// `total.sh` is wrong for empty carts. Tests are the scripts in `Tests`; each is a case of the results.
    ///
    /// - Parameter options: What is added to the declaration of tasks.
    static func files(_ bench: Bench, _ options: String = "") -> [String: String] {
        [
            "workflows/x.swift": """
            import Pipeline

            let test = Workflow("test", on: .pullRequest(into: "main")) {
                Step("check", run: "sh check.sh").testResults(.junit("results.xml"))
            }
            let release = Workflow("release", on: .merge(into: "main")) {
                let build = Step("build", run: "mkdir -p dist && cp total.sh dist/").idempotent().artifacts("dist/*")
                let version = Release(version: .counted("1.0"), files: "dist/*", needs: build)
                Step.publish("folder", version, to: .folder("\(bench.meet)/published"))
            }
            let agent = AgentCommand(
                "scripted", plan: "sh \(bench.meet)/agent plan", work: "sh \(bench.meet)/agent work",
                review: "sh \(bench.meet)/agent review")
            @main struct Workflows: WorkflowSet {
                static let workflows = [test, release]
                static let landing = Landing(into: "main", requires: [test], method: .squash)
                static let tasks = Tasks(into: "main", by: agent, mustPass: [test]).reviewed(by: agent)
                    .reproduces(.always)\(options)
            }

            """,
            "check.sh": """
            {
                echo '<testsuite name="cart">'
                for test in Tests/*.sh; do
                    name=$(basename "$test" .sh)
                    if sh "$test"; then echo "<testcase classname=\\"cart\\" name=\\"$name\\"/>"
                    else echo "<testcase classname=\\"cart\\" name=\\"$name\\"><failure>it fails</failure></testcase>"; fi
                done
                echo '</testsuite>'
            } > results.xml
            ! grep -q '<failure>' results.xml

            """,
            "total.sh": "[ $# -gt 0 ] || { echo 'no items' >&2; exit 139; }\necho $#\n",
            "Tests/TwoTests.sh": "test \"$(sh total.sh a b)\" = 2\n",
        ]
    }

    /// An agent that plans, mends `total.sh` with a test, and wants one thing in its first review.
    static func agent(_ bench: Bench, before: String = "") -> String {
        """
        set -e
        \(before)
        case $1 in
        plan)
            echo '{"summary": "Empty carts have the total 0.", "approach": "Remove the guard.", "files": ["total.sh", "Tests/EmptyTests.sh"], "tests": ["an empty cart"], "tradeoffs": "None."}' ;;
        work)
            echo 'echo $#' > total.sh
            echo 'test "$(sh total.sh)" = 0' > Tests/EmptyTests.sh
            if grep -q "says nothing" "$PIPECTL_TASK_PROMPT"; then echo '# Prints the number of items.' >> total.sh; fi
            echo "The total of nothing is 0." ;;
        review)
            earlier=$(grep -owE '[0-9a-f]{16}' | head -1)
            if grep -q "Prints the number" total.sh; then
                echo "{\\"findings\\": [], \\"earlier\\": [{\\"fingerprint\\": \\"$earlier\\", \\"fate\\": \\"fixed\\"}]}"
            else echo '{"findings": [{"severity": "error", "rule": "comments", "message": "total.sh says nothing of itself", "file": "total.sh", "line": 1}]}'; fi ;;
        esac
        """
    }

    static func write(_ bench: Bench, _ agent: String) throws {
        try Data((agent + "\n").utf8).write(to: URL(fileURLWithPath: "\(bench.meet)/agent"))
    }

    /// Starts with these files on main, and with an agent.
    static func begin(_ bench: Bench, _ options: String = "", before: String = "") async throws {
        try FileManager.default.createDirectory(
            atPath: "\(bench.meet)/published", withIntermediateDirectories: true)
        try await bench.git(["config", "receive.denyCurrentBranch", "updateInstead"])
        try await bench.commit(files(bench, options), "Tasks")
        try write(bench, agent(bench, before: before))
    }

    /// What `task show --json` prints, as far as it is looked at.
    struct Story: Decodable {
        var task: TaskRecord
        var events: [TaskEvent]

        /// The names of the events, in their order.
        var names: [String] { events.map { String("\($0.what)".prefix { $0 != "(" }) } }
    }

    static func story(_ bench: Bench, _ task: Int = 1) async throws -> Story {
        let ended = try await bench.pipectl("task", "show", "\(task)", "--json")
        guard ended.code == 0 else { throw Bench.Failure(description: "task show: \(ended.errors)") }
        return try ArchiveJSON.decode(Story.self, from: ended.output)
    }

    /// Waits until the task is in one of these states, for ten minutes at most.
    @discardableResult
    static func wait(_ bench: Bench, task: Int = 1, _ states: TaskState...) async throws -> Story {
        let end = ContinuousClock.now + .seconds(600)
        while true {
            let story = try await story(bench, task)
            if states.contains(story.task.state) { return story }
            guard ContinuousClock.now < end, !story.task.state.isEnded else {
                throw Bench.Failure(
                    description: "the task is \(story.task.state.title): \(story.task.reason); \(story.names)")
            }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    static func ask(_ bench: Bench, _ arguments: [String]) async throws {
        let ended = try await bench.command([Bench.pipectl] + arguments, in: bench.repository)
        guard ended.code == 0 else { throw Bench.Failure(description: "\(arguments): \(ended.errors)") }
    }
}
