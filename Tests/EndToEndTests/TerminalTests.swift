#if os(Linux)
    import TestBasics
    import Foundation
    import TestSupport
    import Testing

    /// Commands on a terminal, which script(1) provides.
    @Suite(.timeLimit(.minutes(6))) struct TerminalTests {
        /// Notes the terminal's name, shows its settings while a run is drawn, lets the run continue or ends it, and
        /// shows the settings again.
        private static let look = """
            tty > "$0/name"
            "$@"
            echo "code $?" > "$0/code"
            stty -a > "$0/after"
            """

        @Test(arguments: ["", "INT", "HUP"])
        func `typed keys do not appear in a live view`(signal: String) async throws {
            try await Bench.with(["README.md": "begin\n"]) { bench in
                let step = "Step(\"one\", run: \"echo here > \(bench.meet)/begun; cat \(bench.meet)/go\")"
                try await bench.commit(Workflows.test(step), "Workflows")
                for name in ["begun", "go"] { try bench.meetingPoint(name) }
                let run = bench.sharing([Bench.pipectl, "run", "test", "--minimum-free", "0"])
                let line = (["sh", "-c", Self.look, bench.root] + run).map(\.quoted).joined(separator: " ")
                async let ended = bench.command(
                    ["env", "TERM=xterm", "script", "-qfec", line, "\(bench.root)/typescript"], in: bench.repository)
                try await bench.arrival(at: "begun")
                let name = try String(contentsOfFile: "\(bench.root)/name", encoding: .utf8)
                    .trimmingCharacters(in: .whitespacesAndNewlines)
                let during = try await bench.command(["stty", "-a", "-F", name]).output
                #expect(during.contains("-echo ") && during.contains("-icanon"), "\(during)")
                #expect(!during.contains("-isig"), "Ctrl-C is the kernel's: \(during)")
                if signal.isEmpty {
                    try await bench.release("go")
                } else {
                    let owner = try String(contentsOfFile: "\(bench.home)/lock", encoding: .utf8)
                    let pid = try #require(owner.split(separator: " ").first)
                    #expect(try await bench.command(["kill", "-\(signal)", "\(pid)"]).code == 0)
                }
                _ = try await ended
                let after = try String(contentsOfFile: "\(bench.root)/after", encoding: .utf8)
                #expect(!after.contains("-echo ") && !after.contains("-icanon"), "\(after)")
                let code = try String(contentsOfFile: "\(bench.root)/code", encoding: .utf8)
                #expect(code == ["": "code 0\n", "INT": "code 130\n", "HUP": "code 129\n"][signal])
                guard signal == "INT" else { return }
                let rows = Self.screen(try String(contentsOfFile: "\(bench.root)/typescript", encoding: .utf8))
                #expect(rows.contains { $0.contains("interrupted: run 1") }, "\(rows)")
                #expect(!rows.contains { $0.contains(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/) }, "a row of the live view is left: \(rows)")
            }
        }

        /// The rows that a terminal shows at the end, from line feeds, returns, and the sequences that live views use.
        private static func screen(_ text: String) -> [String] {
            var rows = [""]
            var row = 0
            var rest = text[...]
            while let scalar = rest.unicodeScalars.first {
                if let match = rest.prefixMatch(of: /\u{1B}\[(\d*)([A-Za-z])/) {
                    rest = rest[match.range.upperBound...]
                    switch match.2 {
                    case "A": row = max(0, row - (Int(match.1) ?? 1))
                    case "J": rows.removeSubrange((row + 1)...); rows[row] = ""
                    case "K": rows[row] = ""
                    default: break
                    }
                    continue
                }
                rest = rest[rest.unicodeScalars.index(after: rest.startIndex)...]
                switch scalar {
                case "\n":
                    row += 1
                    if row == rows.count { rows.append("") }
                case "\r": break
                default: rows[row].unicodeScalars.append(scalar)
                }
            }
            return rows
        }

        @Test func `run asks for missing parameters`() async throws {
            let definition = """
                import Pipeline
                let version = Parameter<String>("version", help: "What is published.")
                let count = Parameter("count", default: 3)
                let publish = Workflow("publish", on: .manual, parameters: [version, count]) { _ in
                    Step("say", run: "echo \\"got $PIPECTL_PARAM_VERSION $PIPECTL_PARAM_COUNT\\"")
                }
                @main struct Workflows: WorkflowSet { static let workflows = [publish] }

                """
            try await Bench.with(["workflows/x.swift": definition]) { bench in
                let run = [Bench.pipectl, "run", "publish", "--minimum-free", "0"].map(\.quoted).joined(separator: " ")
                func typed(_ text: String) async throws -> Ended {
                    try await bench.command(
                        ["sh", "-c", "printf '\(text)' | script -qec \"$0\" /dev/null", run], in: bench.repository)
                }
                let asked = try await typed(#"\n1.2\nmany\n\n"#)
                #expect(asked.code == 0, "\(asked.output)\(asked.errors)")
                #expect(asked.output.contains("What is published."), "\(asked.output)")
                #expect(try await bench.pipectl("logs", "1").output.contains("got 1.2 3"))

                #expect(try await typed("").code == 2, "the end of the input")
                let silent = try await bench.pipectl("run", "publish", "--minimum-free", "0")
                #expect(silent.code == 2 && silent.errors.contains("--param version="), "\(silent.errors)")
                #expect(try await bench.runs().count == 1)
            }
        }
    }

    extension String {
        /// As one word of a POSIX shell.
        fileprivate var quoted: String { "'" + replacing("'", with: "'\\''") + "'" }
    }
#endif
