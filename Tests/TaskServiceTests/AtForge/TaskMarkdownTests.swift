import Foundation
import Pipeline
import Results
import Testing

@testable import TaskService

/// What is said of a task at a forge, also where its words are hostile.
@Suite struct TaskMarkdownTests {
    private func task(
        _ text: String = "The export crashes", title: String = "Mend the export", source: TaskSource = .issue(number: 9)
    ) -> TaskRecord {
        TaskRecord(
            id: 12, repository: "shop", branch: "main", title: title, text: text, source: source,
            reporter: "ada at GitHub", key: "issue 9", createdAt: Date(timeIntervalSince1970: 0),
            commit: String(repeating: "a", count: 40),
            rules: TasksDeclaration(
                branch: "main", agents: [AgentCommand("robo", plan: "p", work: "w")], workflows: ["test"]))
    }

    private func events(_ words: String = "Fine", files: [String] = ["Sources/A.swift"]) -> [TaskEvent] {
        let plan = TaskPlan(
            version: 2, summary: words, approach: "- \(words)\n- another", files: files, tests: [words],
            tradeoffs: words)
        let made = TaskTry(
            attempt: 1, agent: "robo", run: 5, commit: String(repeating: "b", count: 40), ref: "refs/x",
            files: files, additions: 3, deletions: 1, unplanned: files, summary: words)
        let all: [TaskEvent.What] = [
            .created, .planned(plan: plan, run: 4), .planApproved(version: 2, reason: nil), .made(attempt: made),
            .reproduced(run: 6, attempt: 1, tests: [words]),
            .checked(run: 7, attempt: 1, verdict: .passed, reason: words), .chosen(attempt: 1, reason: "the only one"),
        ]
        return all.enumerated().map { place, what in
            TaskEvent(
                task: 12, number: place + 1, at: Date(timeIntervalSince1970: Double(place)), by: "grace", what: what)
        }
    }

    @Test func `the change has plan, work and tests, the issue the plan and how to approve it`() {
        var task = task()
        let body = TaskMarkdown(task: task, events: events()).body
        for part in [
            "## Plan, version 2: approved by grace", "## What was done", "**Outside of the plan:** `Sources/A.swift`",
            "## How it was tested", "run 6", "run 7", "issue #9", "asked for by ada at GitHub",
        ] {
            #expect(body.contains(part))
        }
        #expect(TaskMarkdown(task: task, events: events()).title == "Task 12: Mend the export")
        task.state = .planWaits
        let note = TaskMarkdown(task: task, events: events()).note
        #expect(note.isNews && note.body.contains("/pipectl approve plan 2"))
        task.state = .delivered
        (task.change, task.changeLink, task.release) = ("14", "https://example.com/pull/14", "1.4")
        task.landedCommit = String(repeating: "c", count: 40)
        let end = TaskMarkdown(task: task, events: events()).note
        #expect(end.isNews && !end.body.contains("approve plan"))
        for part in ["https://example.com/pull/14", "landed as `cccccccccc`", "released in `1.4`"] {
            #expect(end.body.contains(part))
        }
        task.state = .working
        #expect(!TaskMarkdown(task: task, events: events()).note.isNews)
    }

    @Test(arguments: [
        "@everyone fixes #1", "closes GH-3", "![x](https://evil.example/p.png)", "<script>alert(1)</script>",
        "[click](javascript:alert(1))", "/approve", "/close\n/merge", "```\n/pipectl land", "</details>", "| a | b |",
        "\u{1B}[31mred", "\u{202E}txt.exe", "https://evil.example", "www.evil.example", "# Heading", "<!-- pipectl",
        "- [x] done", String(repeating: "`", count: 300), "octo/hello@0123456", "!7 ~bug %1",
    ])
    func `words of others are words`(words: String) {
        let task = task(words, title: words)
        let markdown = TaskMarkdown(task: task, events: events(words, files: [words]))
        for text in [markdown.body, markdown.note.body] {
            for line in text.split(separator: "\n") {
                // What a forge obeys stands at the start of a line.
                let isOwn = line.hasPrefix("## ") || line.hasPrefix("**") || line.hasPrefix("- ")
                #expect(!line.hasPrefix("/") && !line.hasPrefix("<") && (isOwn || !line.hasPrefix("#")))
            }
            // Outside of code, nothing of it is left that has a meaning.
            let plain = Self.withoutCode(text)
            for part in ["@everyone", "GH-3", "<script", "](", "evil.example", "#1 ", "\u{202E}", "\u{1B}", "!7"] {
                #expect(!plain.contains(part), "\(part) in \(plain)")
            }
        }
        #expect(!markdown.title.contains("\n") && markdown.title.hasPrefix("Task 12: "))
        #expect(
            !markdown.title.contains("#1") && !markdown.title.contains("GH-3") && !markdown.title.contains("@every"))
        #expect(markdown.title.utf8.count <= 1_000)
    }

    /// The text without code spans, as CommonMark finds them.
    private static func withoutCode(_ text: String) -> String {
        var plain = ""
        for line in text.split(separator: "\n") {
            var rest = line[...]
            while let start = rest.firstIndex(of: "`") {
                plain += rest[..<start]
                let fence = rest[start...].prefix { $0 == "`" }
                let after = rest[fence.endIndex...]
                var end: Substring.Index?
                var place = after.startIndex
                while let tick = after[place...].firstIndex(of: "`") {
                    let run = after[tick...].prefix { $0 == "`" }
                    if run.count == fence.count {
                        end = run.endIndex
                        break
                    }
                    place = run.endIndex
                }
                rest = end.map { after[$0...] } ?? after[after.endIndex...]
            }
            plain += rest + "\n"
        }
        return plain
    }

    @Test func `long words are cut, and the rest is counted`() {
        let long = (1...500).map { "line \($0)" }.joined(separator: "\n")
        let text = TaskMarkdown.prose(long, lines: 20)
        #expect(text.contains("line 20") && !text.contains("line 21") && text.contains("480 more lines"))
        #expect(TaskMarkdown.prose(" \n\n", lines: 20).isEmpty)
    }
}
