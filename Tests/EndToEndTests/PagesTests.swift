import DaemonLog
import Foundation
import Results
import TestBasics
import TestForge
import TestSupport
import Testing

/// The pages of the built binary, as a program of the same machine gets them.
@Suite(.timeLimit(.minutes(3))) struct PagesTests {
    private static let workflow = Workflows.test(
        #"Step("unit", run: "sh check.sh").neverProved()"#, files: ["check.sh": "echo '<b>one</b>'; exit 1\n"])

    /// The status and the body of an answer.
    private func get(_ url: String, _ bench: Bench, _ options: String...) async throws -> (status: String, body: String)
    {
        let answer = try await bench.command(
            ["curl", "-s", "--max-time", "20", "-w", "\n%{http_code}"] + options + [url])
        let parts = answer.output.split(separator: "\n", omittingEmptySubsequences: false)
        return (String(parts.last ?? ""), parts.dropLast().joined(separator: "\n"))
    }

    @Test func `a failed run is seen, and nothing can be done there`() async throws {
        let port = try await ForgeDouble.freePort()
        let root = "http://127.0.0.1:\(port)"
        try await Bench.with(Self.workflow) { bench in
            try await bench.withDaemon("--listen", "\(port)", "--pages") { daemon in
                try await daemon.event(.baseline)
                try await daemon.event(.pagesShown)
                try await bench.change(7, ["more.txt": "more"])
                _ = try await bench.pipectl("notify")
                try await daemon.ended(1)
                try await eventually("the report on the page") {
                    try await get("\(root)/runs/1", bench).body.contains("id=\"timeline\"")
                }
                let log = try await get("\(root)/runs/1/steps/1", bench)
                #expect(log.status == "200" && log.body.contains("&lt;b&gt;one&lt;/b&gt;"))
                #expect(try await get("\(root)/runs/1/steps/1/raw", bench).body == "<b>one</b>\n")
                #expect(try await get("\(root)/", bench, "-H", "Host: evil.example").status == "403")

                #expect(try await get("\(root)/runs/1/rerun", bench, "-d", "a=b").status == "405")
                #expect(try await bench.runs().count == 1)
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test func `there are no pages without the setting, nor behind a proxy`() async throws {
        let port = try await ForgeDouble.freePort()
        try await Bench.with(Self.workflow) { bench in
            func showsNone(_ daemon: Bench.Daemon) async throws {
                try await daemon.event(.webhooksHeard)
                #expect(try await get("http://127.0.0.1:\(port)/", bench).status == "404")
                #expect(try await get("http://127.0.0.1:\(port)/api/v1/status", bench).status == "404")
                #expect(await daemon.stop() == 0)
            }
            try await bench.withDaemon("--listen", "\(port)") { try await showsNone($0) }
            try await bench.withDaemon(
                "--listen", "\(port)", "--pages", "--listen-url", "https://ci.example.com"
            ) { try await showsNone($0) }
        }
    }
}
