import DaemonLog
import Foundation
import Results
import TestBasics
import TestForge
import TestSupport
import Testing

/// A log that a browser follows while its step runs, and where the page of a run is named.
@Suite(.timeLimit(.minutes(6))) struct LiveLogTests {
    private static let workflow = Workflows.test(
        #"Step("unit", run: "sh check.sh").neverProved()"#, files: ["check.sh": ""])

    @Test func `a browser follows a step to its end, and commands name the page`() async throws {
        let port = try await ForgeDouble.freePort()
        let root = "http://127.0.0.1:\(port)"
        try await Bench.with(Self.workflow) { bench in
            try await bench.withDaemon("--listen", "\(port)", "--pages") { daemon in
                try await daemon.event(.baseline)
                try await daemon.event(.pagesShown)
                #expect(try await bench.pipectl("status").output.contains("\(root)/"))
                // The step goes on when the browser has its first line.
                try bench.meetingPoint("seen")
                try await bench.change(
                    7,
                    [
                        "check.sh":
                            "echo first; cat \(bench.meet)/seen > /dev/null; for i in $(seq 40); do echo line $i; done; echo last\n"
                    ])
                _ = try await bench.pipectl("notify")
                try await eventually("the page of the log") {
                    try await bench.command(["curl", "-sf", "\(root)/runs/1/steps/1"]).output.contains("data-log=")
                }
                let output = "\(bench.root)/followed-"
                let browser = try Child(
                    ["curl", "-sN", "--max-time", "240", "\(root)/runs/1/steps/1/follow"], in: bench.root,
                    output: output)
                defer { browser.kill() }
                func followed() -> String {
                    String(decoding: FileManager.default.contents(atPath: output + "1") ?? Data(), as: UTF8.self)
                }
                try await eventually("the first line") { followed().contains(#"id=\"L1\""#) }
                try await bench.release("seen")
                #expect(await browser.end == 0)
                let log = followed()
                let lines = log.matches(of: /id=\\"L(\d+)\\"/).compactMap { Int($0.output.1) }
                #expect(lines == Array(1...42))
                #expect(log.contains("event: over"))
                // It came in parts, and not as a whole at the end.
                #expect(log.components(separatedBy: "event: lines").count > 2)
                try await daemon.ended(1)
                #expect(try await bench.pipectl("wait", "1").output.contains("\(root)/runs/1"))
                let page = try await bench.command(["curl", "-sf", "\(root)/runs/1/steps/1?from=30&q=line"]).output
                #expect(page.contains("id=\"L30\"") && page.contains("40 lines"))
                #expect(await daemon.stop() == 0)
            }
        }
    }
}
