import DaemonLog
import Foundation
import Results
import TestBasics
import TestForge
import TestSupport
import Testing

/// The pages of the built binary, as a program of the same machine gets them.
@Suite(.timeLimit(.minutes(6))) struct PagesTests {
    private static let workflow = Workflows.test(
        #"Step("unit", run: "sh check.sh").neverProved()"#, files: ["check.sh": "echo '<b>one</b>'; exit 1\n"])

    /// The status and the body of an answer.
    private func get(_ url: String, _ bench: Bench, _ options: String...) async throws -> (status: String, body: String)
    {
        let answer = try await bench.command(
            ["curl", "-s", "--max-time", "120", "-w", "\n%{http_code}"] + options + [url])
        let parts = answer.output.split(separator: "\n", omittingEmptySubsequences: false)
        return (String(parts.last ?? ""), parts.dropLast().joined(separator: "\n"))
    }

    @Test func `a failed run is seen, and a stranger can do nothing there`() async throws {
        let port = try await ForgeDouble.freePort()
        let root = "http://127.0.0.1:\(port)"
        try await Bench.with(Self.workflow) { bench in
            try await bench.withDaemon("--listen", "\(port)") { daemon in
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

                #expect(try await get("\(root)/runs/1/rerun", bench, "-d", "a=b").status == "403")
                #expect(try await get("\(root)/api/v1/runs/1/rerun", bench, "-X", "POST").status == "401")
                #expect(try await bench.runs().count == 1)
                #expect(await daemon.stop() == 0)
            }
        }
    }

    /// What a page's form is sent with.
    private func formToken(_ page: String) throws -> String {
        String(try #require(page.firstMatch(of: /name="token" value="([0-9a-f]{64})"/)).1)
    }

    @Test func `a person logs in, repeats a run and approves one, and the reports name them`() async throws {
        let port = try await ForgeDouble.freePort()
        let root = "http://127.0.0.1:\(port)"
        let held = [
            "workflows/x.swift": """
            import Pipeline
            let test = Workflow("test", on: .pullRequest(into: "main")) {
                Step("unit", run: "echo one").neverProved()
            }
            .needsApproval()
            @main struct Workflows: WorkflowSet { static let workflows = [test] }

            """
        ]
        try await Bench.with(held) { bench in
            // Where no daemon runs, the command writes the state itself.
            let made = try await bench.pipectl("token", "create", "laptop", "--scope", "operate")
            let token = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(made.code == 0 && token.wholeMatch(of: /pipectl_[0-9a-f]{72}/) != nil)
            try await bench.withDaemon("--listen", "\(port)") { daemon in
                try await daemon.event(.baseline)
                try await daemon.event(.pagesShown)
                try await bench.change(7, ["more.txt": "more"])
                _ = try await bench.pipectl("notify")
                try await daemon.event(.runNeedsApproval, run: 1)

                let jar = bench.root + "/cookies"
                let login = try await get("\(root)/login", bench, "-c", jar, "--data-urlencode", "token=\(token)")
                #expect(login.status == "303")
                let page = try await get("\(root)/runs/1", bench, "-b", jar)
                #expect(page.body.contains("action=\"/runs/1/approve\""))
                let form = "token=\(try formToken(page.body))"
                #expect(try await get("\(root)/runs/1/approve", bench, "-b", jar, "-d", "token=no").status == "403")
                #expect(
                    try await get("\(root)/runs/1/approve", bench, "-b", jar, "-d", form, "-H", "Origin: \(root)")
                        .status
                        == "303")
                try await daemon.ended(1)
                #expect(try await bench.report(1).approvals?.first?.by == "token laptop")

                #expect(
                    try await get(
                        "\(root)/api/v1/runs/1/rerun", bench, "-X", "POST", "-H", "Authorization: Bearer \(token)"
                    )
                    .body.contains("\"run\":2"))
                try await daemon.event(.runNeedsApproval, run: 2)
                #expect(
                    try await get(
                        "\(root)/api/v1/runs/2/approve", bench, "-X", "POST", "-H", "Authorization: Bearer \(token)"
                    )
                    .status == "200")
                try await daemon.ended(2)
                #expect(try await bench.report(2).askedBy == "token laptop")

                let link = try await bench.pipectl("pages", "--print").output
                    .trimmingCharacters(in: .whitespacesAndNewlines)
                #expect(link.hasPrefix("\(root)/login/"))
                #expect(try await get(link, bench, "-c", jar, "-X", "POST").status == "303")
                #expect(try await get(link, bench, "-X", "POST").status == "403")
                #expect(try await get("\(root)/", bench, "-b", jar).body.contains("Log out"))

                let big = String(repeating: "a", count: 70_000)
                #expect(try await get("\(root)/login", bench, "-d", "token=\(big)").status == "413")
                let twice = ["-H", "Authorization: Bearer \(token)", "-H", "Authorization: Bearer x"]
                #expect(try await get("\(root)/", bench, twice[0], twice[1], twice[2], twice[3]).status == "400")

                #expect(try await bench.pipectl("token", "revoke", "laptop").code == 0)
                #expect(
                    try await get("\(root)/api/v1/status", bench, "-H", "Authorization: Bearer \(token)").status
                        == "401")
                #expect(await daemon.stop() == 0)
            }
        }
    }

    @Test func `pages can be switched off, and need a login behind a proxy`() async throws {
        let port = try await ForgeDouble.freePort()
        let root = "http://127.0.0.1:\(port)"
        try await Bench.with(Self.workflow) { bench in
            try await bench.withDaemon("--listen", "\(port)", "--no-pages") { daemon in
                try await daemon.event(.webhooksHeard)
                #expect(try await get("\(root)/", bench).status == "404")
                #expect(try await get("\(root)/api/v1/status", bench).status == "404")
                #expect(try await bench.pipectl("pages", "--print").code != 0)
                #expect(await daemon.stop() == 0)
            }
            try await bench.withDaemon("--listen", "\(port)", "--listen-url", "https://ci.example.com") { daemon in
                try await daemon.event(.webhooksHeard)
                #expect(try await get("\(root)/", bench).status == "303")
                #expect(try await get("\(root)/api/v1/status", bench).status == "401")
                #expect(try await get("\(root)/healthz", bench).status == "200")
                #expect(await daemon.stop() == 0)
            }
        }
    }
}
