import DaemonLog
import Foundation
import Results
import TestBasics
import TestSupport
import Testing

/// A crash that comes back.
struct ReopenedTaskTests {
    /// The first time it mends empty carts, when the task is open again the list of goods.
    private static let agent = """
        set -e
        case $1 in
        plan)
            echo '{"summary": "Mend the total.", "approach": "As it is.", "files": ["total.sh", "Tests/*"], "tests": ["one"], "tradeoffs": "None."}' ;;
        work)
            if grep -q "open again" "$PIPECTL_TASK_PROMPT"; then
                echo 'if [ "$1" = --list ]; then echo list; else echo $#; fi' > total.sh
                echo 'test "$(sh total.sh --list)" = list' > Tests/ListTests.sh
            else
                echo 'echo $#' > total.sh
                echo 'test "$(sh total.sh)" = 0' > Tests/EmptyTests.sh
            fi
            echo "Done." ;;
        review) echo '{"findings": []}' ;;
        esac
        """

    /// The same crash of another version of the program.
    private static func report(_ version: String) -> String {
        """
        Process:   Shop [1]
        Path:      /private/var/containers/Bundle/Application/0A/Shop.app/Shop
        Version:   \(version)
        Exception Type:  EXC_BREAKPOINT (SIGTRAP)
        Application Specific Information:
        Fatal error: Index out of range
        Triggered by Thread:  0

        Thread 0 Crashed:
        0   libswiftCore.dylib   0x000000018a98520c _assertionFailure(_:_:file:line:flags:) + 312
        1   Shop                 0x000000010223652c Cart.total(at:) + 60 (/Users/ci/app/Cart.swift:5)

        Binary Images:
               0x102230000 -        0x10223bfff Shop arm64  <82d13d98219e3040b62a07a297007a7c> /private/var/containers/Bundle/Application/0A/Shop.app/Shop

        """
    }

    private static func hand(_ bench: Bench, _ version: String) async throws {
        let path = "\(bench.meet)/crash-\(version).crash"
        try Data(report(version).utf8).write(to: URL(fileURLWithPath: path))
        try await Tasking.ask(bench, ["task", "add", "It crashes", "--crash", path])
    }

    @Test(.timeLimit(.minutes(10)))
    func `a crash in a release with the change opens its task again, which is planned, made and delivered anew`()
        async throws
    {
        try await Bench.with([:]) { bench in
            try await Tasking.begin(bench)
            try Tasking.write(bench, Self.agent)
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await Self.hand(bench, "0.9")
                let first = try await Self.deliver(bench)
                let release = try #require(first.task.release)
                #expect(first.task.reopened == 0 && first.task.change == "pipectl/task-1")

                // A release without the change is counted, and nothing more.
                try await Self.hand(bench, "0.9")
                let counted = try await Tasking.story(bench)
                #expect(counted.task.state == .delivered && counted.task.crash?.count == 2)

                try await Self.hand(bench, release)
                let open = try await Tasking.wait(bench, .planWaits)
                #expect(open.task.crash?.count == 3 && open.task.reopened == 1)
                #expect(open.task.change == nil && open.task.release == nil && open.task.landedCommit == nil)
                #expect(
                    open.names.filter { $0 == "reopened" || $0 == "planned" } == ["planned", "reopened", "planned"])
                let second = try await Self.deliver(bench)
                #expect(second.task.change == "pipectl/task-1-2")
                let again = try #require(second.task.release)
                #expect(again != release)
                #expect(second.names.count { $0 == "reproduced" } == 2)
                #expect(try await bench.git(["show", "main:Tests/ListTests.sh"]).contains("--list"))

                // The old release has the first change only: it is known to be mended in the new one.
                try await Self.hand(bench, release)
                let end = try await Tasking.story(bench)
                #expect(end.task.state == .delivered && end.task.crash?.count == 4 && end.task.reopened == 1)
                #expect(await daemon.stop() == 0)
            }
            #expect(try await bench.git(["for-each-ref", "--format=%(refname)", "refs/heads/pipectl/task-2"]).isEmpty)
            #expect(try await bench.pipectl("archive", "verify").code == 0)
        }
    }

    /// Approves the newest plan, lands the change, and waits for its delivery.
    private static func deliver(_ bench: Bench) async throws -> Tasking.Story {
        let planned = try await Tasking.wait(bench, .planWaits)
        let version = planned.events.lazy.compactMap { event -> Int? in
            if case .planned(let plan, _) = event.what { plan.version } else { nil }
        }.last
        try await Tasking.ask(bench, ["task", "approve", "1", "--plan", "\(version ?? 0)"])
        try await Tasking.wait(bench, .ready)
        try await Tasking.ask(bench, ["task", "land", "1"])
        return try await Tasking.wait(bench, .delivered)
    }
}
