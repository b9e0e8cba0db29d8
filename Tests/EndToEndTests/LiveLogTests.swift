import DaemonLog
import Foundation
import Results
import TestBasics
import TestForge
import TestSupport
import Testing

/// A log that a browser follows while its step runs, and where the page of a run is named.
@Suite(.timeLimit(.minutes(6))) struct LiveLogTests {
    /// The step ends when its log was seen: a file says so.
    private static let workflow = Workflows.test(
        #"Step("unit", run: "sh check.sh").neverProved()"#,
        files: ["check.sh": "echo first; for i in $(seq 40); do sleep 0.1; echo line $i; done; echo last\n"])

    @Test func `a browser follows a step to its end, and commands name the page`() async throws {
        let port = try await ForgeDouble.freePort()
        let root = "http://127.0.0.1:\(port)"
        try await Bench.with(Self.workflow) { bench in
            try await bench.withDaemon("--listen", "\(port)", "--pages") { daemon in
                try await daemon.event(.baseline)
                try await daemon.event(.pagesShown)
                #expect(try await bench.pipectl("status").output.contains("\(root)/"))
                try await bench.change(7, ["more.txt": "more"])
                _ = try await bench.pipectl("notify")
                try await eventually("the page of the log") {
                    try await bench.command(["curl", "-sf", "\(root)/runs/1/steps/1"]).output.contains("data-log=")
                }
                let log = try await bench.command(
                    ["curl", "-sN", "--max-time", "60", "\(root)/runs/1/steps/1/follow"]
                ).output
                let lines = log.matches(of: /id=\\"L(\d+)\\"/).compactMap { Int($0.output.1) }
                #expect(lines == Array(1...42))
                #expect(log.contains("event: over"))
                // It came in parts, and not as a whole at the end.
                #expect(log.components(separatedBy: "event: lines").count > 5)
                try await daemon.ended(1)
                #expect(try await bench.pipectl("wait", "1").output.contains("\(root)/runs/1"))
                let page = try await bench.command(["curl", "-sf", "\(root)/runs/1/steps/1?from=30&q=line"]).output
                #expect(page.contains("id=\"L30\"") && page.contains("40 lines"))
                #expect(await daemon.stop() == 0)
            }
        }
    }
}
