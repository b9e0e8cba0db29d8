import DaemonLog
import Results
import TestBasics
import TestSupport
import Testing

/// `static let rules` with a daemon: a change that breaks a rule of its target does not pass.
struct RuleTests {
    private static func definition(_ rules: String) -> String {
        """
        import Pipeline
        let test = Workflow("test", on: .pullRequest(into: "main")) { Step("unit", run: "true") }
        @main struct Workflows: WorkflowSet {
            static let workflows = [test]
            static let rules = [\(rules)]
        }

        """
    }

    private static let rule =
        #"Rule("no networking in views", forbids: "URLSession|import Network", in: "Views/**", says: "docs/rules.md")"#

    @Test(.timeLimit(.minutes(6)))
    func `a change that breaks a rule fails, and the finding cites the rule`() async throws {
        let files = [
            "workflows/x.swift": Self.definition(Self.rule),
            "docs/rules.md": "# Shop\n\n- No networking in views: ask the model.\n",
            "Views/Cart.swift": "// URLSession was here before\n",
        ]
        try await Bench.with(files) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                // The change also says in its own words that the rule is gone.
                try await bench.change(
                    1,
                    [
                        "Views/Cart.swift": "// URLSession was here before\nlet session = URLSession.shared\n",
                        "docs/rules.md": "# Shop\n",
                    ])
                try await daemon.event(.runEnded, run: 1)
                let run = try await bench.run(1)
                #expect(run.verdict == .failed)
                let report = try await bench.pipectl("report", "1").output
                #expect(report.contains("no networking in views"), "\(report)")
                #expect(report.contains("Views/Cart.swift:2"), "\(report)")
                #expect(report.contains("docs/rules.md:3"), "\(report)")

                try await bench.change(2, ["Model.swift": "let session = URLSession.shared\n"])
                try await daemon.event(.runEnded, run: 2)
                #expect(try await bench.run(2).verdict == .passed)
            }
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `validate says which rules can't be used or cited`() async throws {
        try await Bench.with(["workflows/x.swift": Self.definition(Self.rule), "docs/rules.md": "Be nice.\n"]) {
            bench in
            let uncited = try await bench.pipectl("validate")
            #expect(uncited.code == 0)
            #expect(uncited.output.contains("rule: no networking in views (docs/rules.md)"), "\(uncited.output)")
            #expect(uncited.errors.contains("[rule-source]"), "\(uncited.errors)")
        }
        let wrong = #"Rule("a", forbids: "(?=x)"), Rule("b", forbids: "x", in: "[")"#
        try await Bench.with(["workflows/x.swift": Self.definition(wrong)]) { bench in
            let ended = try await bench.pipectl("validate")
            #expect(ended.code == 2)
            #expect(ended.output.split(separator: "\n").filter { $0.hasSuffix("[rule]") }.count == 2, "\(ended.output)")
        }
    }
}
