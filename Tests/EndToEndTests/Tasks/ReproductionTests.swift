import DaemonLog
import Foundation
import Results
import TestBasics
import TestSupport
import Testing

/// What shows that a try mends something, where tests of the target are red already.
struct ReproductionTests {
    /// Its first try adds a test that shows nothing. The second mends what the task is about, and the red test.
    private static let agent = """
        set -e
        case $1 in
        review) echo '{"findings": []}' ;;
        work)
            if [ $PIPECTL_TASK_ATTEMPT = 1 ]; then
                echo 'test "$(sh total.sh a)" = 1' > Tests/OneTests.sh
            else
                echo 'echo $#' > total.sh
                echo 'test "$(sh total.sh)" = 0' > Tests/EmptyTests.sh
                echo ada > names
            fi
            echo "Done." ;;
        esac
        """

    @Test(.timeLimit(.minutes(10)))
    func `a test that is red on the target shows nothing of a try, and the target is run once to know it`() async throws
    {
        try await Bench.with([:]) { bench in
            try await Tasking.begin(bench)
            var files = Tasking.files(bench, ".plans(.none).budget(attempts: 2)")
            files["Tests/NamesTests.sh"] = "test -e names\n"
            try await bench.commit(files, "A red test")
            try Tasking.write(bench, Self.agent)
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await Tasking.ask(bench, ["task", "add", "Empty carts end with 139."])
                let ready = try await Tasking.wait(bench, .ready)
                #expect(
                    ready.names == [
                        "created", "made", "notReproduced", "made", "reproduced", "checked", "checked", "chosen",
                        "changeOpened",
                    ])
                let shown = ready.events.compactMap { event -> [String]? in
                    if case .reproduced(_, 2, let tests) = event.what { tests } else { nil }
                }
                #expect(shown == [["cart/EmptyTests"]])
                let parts = try await bench.runs().compactMap(\.task?.part)
                #expect(parts.count { $0 == .comparing } == 1)
                #expect(parts.count { $0 == .reproducing } == 2)
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a test that turns red makes a task, whose agent need not add another one`() async throws {
        try await Bench.with([:]) { bench in
            try await Tasking.begin(bench)
            var files = Tasking.files(bench, ".plans(.none).budget(attempts: 1).begins(on: .redTarget)")
            files["workflows/x.swift"] = files["workflows/x.swift"]?.replacing(
                "\"test\", on: .pullRequest(into: \"main\")",
                with: "\"test\", on: .pullRequest(into: \"main\"), .merge(into: \"main\")")
            try await bench.commit(files, "Tests of main, too")
            try Tasking.write(
                bench, "if [ $1 = review ]; then echo '{\"findings\": []}'; else echo 'echo $#' > total.sh; fi")
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.commit(["README.md": "A cart.\n"], "Words")
                try await eventually("a run of main that passes") {
                    try await bench.runs().contains { $0.workflow == "test" && $0.verdict == .passed }
                }
                try await bench.commit(["total.sh": "echo 7\n"], "Another total")
                try await eventually("the task") {
                    try await bench.pipectl("task", "show", "1").code == 0
                }
                let ready = try await Tasking.wait(bench, .ready)
                guard case .redTest("cart/TwoTests", _) = ready.task.source else {
                    Issue.record("the task is about \(ready.task.source)")
                    return
                }
                let shown = ready.events.compactMap { event -> [String]? in
                    if case .reproduced(_, 1, let tests) = event.what { tests } else { nil }
                }
                #expect(shown == [["cart/TwoTests"]])
                #expect(await daemon.stop() == 0)
            }
        }
    }
}
