#if os(Linux)
    import TestBasics
    import Foundation
    import TestSupport
    import Testing

    /// The daemon reads what a step leaves: its files, results, repository and output.
    struct EscapeOutputTests {
        private static let cleaned = "Step(\"next\", run: \"cat README.md\")"

        @Test(.timeLimit(.minutes(6)))
        func `files that steps leave lead nowhere outside`() async throws {
            let steps =
                OutputAttempt.all.map {
                    "Step(\"\($0.name)\", run: \"sh attempts/\($0.name).sh\").allowFailure()\($0.modifiers)"
                } + ["Step(\"racing\", run: \"sh attempts/racing.sh\").allowFailure()"]
                + OutputAttempt.racers.map {
                    "Step(\"\($0)\", run: \"sh attempts/racer.sh\").allowFailure().artifacts(\"race/turn/*.txt\")"
                } + ["Step(\"poison\", run: \"sh attempts/poison.sh\").allowFailure()", Self.cleaned]
            try await EscapeRoom.with(steps: steps.joined(separator: "\n")) { room in
                let bench = room.bench
                try Data(Self.results(named: room.canary).utf8)
                    .write(to: URL(fileURLWithPath: "\(room.outside)/results.xml"))
                let before = try FileManager.default.contentsOfDirectory(atPath: room.outside).sorted()
                var files = ["attempts/racing.sh": OutputAttempt.racing, "attempts/racer.sh": OutputAttempt.racer]
                files["attempts/poison.sh"] = OutputAttempt.poison
                for attempt in OutputAttempt.all { files["attempts/\(attempt.name).sh"] = attempt.script }
                _ = try await bench.look()
                try await bench.change(1, files.mapValues { "set -e\n" + room.filled($0) + "\n" })
                let look = try await bench.look("--slots", "3")
                #expect(look.code == 0, "\(look.output)\(look.errors)")

                let report = try await bench.pipectl("report", "1").output
                for attempt in OutputAttempt.all {
                    for words in attempt.says { #expect(report.contains(words), "\(attempt.name):\n\(report)") }
                }
                #expect(try await room.log("racing", of: 1).contains("done: "), "exchanged at least once")
                #expect(try await room.log("poison", of: 1).hasSuffix("poisoned\n"))
                // Nothing from outside the workspace is in the stored reports.
                for format in ["json", "html", "markdown", "junit"] {
                    let text = try await bench.pipectl("report", "1", "--format", format).output
                    #expect(!text.contains(room.canary), "\(format)")
                }
                let kept = try await bench.command(["grep", "-rla", room.canary, "\(bench.home)/artifacts"])
                #expect(kept.output.isEmpty, "\(kept.output)")
                let archived = try await bench.command([
                    "git", "-C", "\(bench.home)/archive.git", "grep", "-la", room.canary, "refs/runs/1",
                ])
                #expect(archived.code == 1, "not found: \(archived.output)\(archived.errors)")

                // The daemon continues, and the commands in the workspace's Git settings ran nowhere.
                try await bench.change(2, ["README.md": "second\n"])
                let next = try await bench.look()
                #expect(try await room.log("next", of: 2) == "second\n", "\(next.errors)")
                #expect(try await room.traces().isEmpty)
                #expect(try FileManager.default.contentsOfDirectory(atPath: room.outside).sorted() == before)
                for folder in ["workspaces", "live"] {
                    let left = try FileManager.default.contentsOfDirectory(atPath: "\(bench.home)/\(folder)")
                    #expect(left.isEmpty, "\(folder): \(left) \(look.errors)")
                }
                try await expectPoisonWorks(room)
            }
        }

        /// Git itself does run them in a repository with the same settings.
        private func expectPoisonWorks(_ room: EscapeRoom) async throws {
            let folder = "\(room.bench.root)/control"
            try await room.bench.git(["init", "-q", folder])
            try Data(room.filled(OutputAttempt.poison).utf8).write(to: URL(fileURLWithPath: "\(folder)/poison.sh"))
            _ = try await room.bench.command(["sh", "poison.sh"], in: folder)
            _ = try await room.bench.command(["git", "--work-tree", folder, "status"], in: folder)
            #expect(try await room.traces().contains { $0.hasSuffix("fsmonitor") })
        }

        private static func results(named name: String) -> String {
            "<testsuite name=\"\(name)\" tests=\"1\"><testcase classname=\"\(name)\" name=\"\(name)\"/></testsuite>"
        }

        // MARK: Words

        /// Terminal sequences for title, clipboard, cursor and links, and HTML.
        private static let sequences =
            "\u{1b}]0;title\u{7}\u{1b}]52;c;cHduZWQ=\u{7}\u{1b}[2J\u{1b}[1;1H\u{1b}]8;;file:///\u{1b}\\"
        private static let markup = "<script>alert(1)</script><img src=x onerror=alert(2)>"

        @Test(.timeLimit(.minutes(6)))
        func `output of steps stays text`() async throws {
            let steps = """
                Step("words", run: "sh words.sh").testResults(.junit("words.xml")).artifacts("out/*").allowFailure()
                """
            try await EscapeRoom.with(steps: steps) { room in
                let bench = room.bench
                let hostile = Self.sequences + Self.markup
                let escaped = "&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(2)&gt;"
                let script = """
                    cat words.txt
                    mkdir out; cat name.txt | while IFS= read -r name; do echo x > "out/$name"; done
                    printf 'a\\nb' > 'out/two
                    lines'
                    echo '</pre></td><script>alert(3)</script>' >&2
                    exit 1
                    """
                let results = """
                    <testsuite name="\(escaped)" tests="1"><testcase classname="\(escaped)" name="\(escaped)" \
                    file="\(escaped)" line="1"><failure message="\(escaped)">\(escaped)</failure></testcase></testsuite>
                    """
                _ = try await bench.look()
                try await bench.change(
                    1,
                    [
                        "words.sh": "cp results words.xml\n" + script, "words.txt": hostile + "\n",
                        "name.txt": hostile.replacing("/", with: "_") + "\n", "results": results,
                    ])
                let look = try await bench.look()
                #expect(look.code == 0, "\(look.output)\(look.errors)")
                for arguments in [
                    ["report", "1"], ["report", "1", "--format", "markdown"], ["show", "1"], ["runs"],
                    ["report", "1", "--format", "html"],
                ] {
                    let ended = try await bench.command([Bench.pipectl] + arguments)
                    #expect(ended.code == 0, "\(arguments): \(ended.errors)")
                    #expect(!(ended.output + ended.errors).contains("\u{1b}"), "\(arguments)")
                }
                let html = try await bench.pipectl("report", "1", "--format", "html").output
                #expect(html.contains("alert(1)"), "what it said is there, as text")
                for tag in ["<script>alert", "<img src=x", "<pre></td>"] { #expect(!html.contains(tag), "\(tag)") }
                // A program gets the raw log; a terminal gets it without dangerous sequences.
                #expect(try await room.log("words", of: 1).contains(Self.sequences))
                let shown = try await bench.command([
                    "script", "-qec", "\(Bench.pipectl) logs 1 words", "/dev/null",
                ])
                if shown.code == 0 {
                    #expect(shown.output.contains("alert(1)"), "\(shown.output.debugDescription)")
                    for bad in ["\u{1b}]52", "\u{1b}]0;", "\u{1b}[2J", "\u{1b}[1;1H"] {
                        #expect(!shown.output.contains(bad), "\(shown.output.debugDescription)")
                    }
                }
            }
        }
    }
#endif
