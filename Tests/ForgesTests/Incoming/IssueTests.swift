import Foundation
import Store
import Synchronization
import TestForge
import Testing

@testable import Forges

extension ForgeInbox.Contents {
    fileprivate static func issue(_ number: Int, by logins: String...) -> Self {
        var contents = Self()
        contents.issues = [number]
        contents.labellers[number] = logins.map { ForgeUser(login: $0) }
        return contents
    }
}

/// Issues that become tasks, and what people say to tasks.
@Suite struct IssueTests {
    private static let label = ForgeTasks.Interest(isDeclared: true, labels: ["agent"])

    @Test(.timeLimit(.minutes(1))) func `a label that a writer set makes one task, whoever wrote the issue`()
        async throws
    {
        try await Hosted.open { hosted, receiver, _, _ in
            hosted.interest.withLock { $0 = Self.label }
            hosted.change { $0.issue.labels = ["agent", "bug"] }
            for _ in 0..<3 { _ = try await receiver.take(.issue(9, by: "eve", "grace")) }
            #expect(hosted.begun.withLock { $0 } == ["9 by grace at GitHub"])
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["a template", "no delivery", "another label", "closed", "undeclared"])
    func `a label makes no task if a stranger may have set it, or nobody wants it`(why: String) async throws {
        try await Hosted.open { hosted, receiver, _, double in
            hosted.interest.withLock { $0 = why == "undeclared" ? ForgeTasks.Interest() : Self.label }
            hosted.change {
                $0.issue.labels = [why == "another label" ? "agents" : "agent"]
                $0.issue.isOpen = why != "closed"
            }
            let logins = why == "a template" ? ["eve"] : why == "no delivery" ? [] : ["grace"]
            var contents = ForgeInbox.Contents.issue(9)
            contents.labellers[9] = logins.map { ForgeUser(login: $0) }
            _ = try await receiver.take(contents)
            #expect(hosted.begun.withLock { $0 }.isEmpty)
            if why == "undeclared" { #expect(!double.requests.contains { $0.path.contains("/issues/9") }) }
            // A writer who sets it later is heard.
            guard ["a template", "no delivery"].contains(why) else { return }
            _ = try await receiver.take(.issue(9, by: "grace"))
            #expect(hosted.begun.withLock { $0 } == ["9 by grace at GitHub"])
        }
    }

    @Test(.timeLimit(.minutes(1))) func `a poll finds a labelled issue of a writer, and commands at issues`()
        async throws
    {
        try await Hosted.open { hosted, receiver, index, _ in
            hosted.interest.withLock { $0 = Self.label }
            hosted.change {
                $0.issue.author = "grace"
                $0.issue.labels = ["agent"]
                $0.said = [(31, "/pipectl approve plan 2", "grace"), (32, "/pipectl task", "eve")]
            }
            for _ in 0..<2 {
                _ = try await receiver.take(ForgeInbox.Contents())
                hosted.clock.advance(61)
            }
            #expect(hosted.begun.withLock { $0 } == ["9 by grace at GitHub"])
            #expect(hosted.given.map(\.command) == [.approvePlan(version: 2)])
            #expect(hosted.given.map(\.issue) == [9] && hosted.given.map(\.change) == [nil])
            let answers = try await index.openForgeItems(of: "hello").compactMap { item -> CommandAnswer? in
                if case .answer(let answer) = try ForgeWanted(json: item.wanted) { answer } else { nil }
            }
            #expect(answers.allSatisfy { $0.isAtIssue == true && $0.change == 9 })
            #expect(answers.map(\.isObeyed).sorted { !$0 && $1 } == [false, true])
        }
    }

    @Test(.timeLimit(.minutes(1))) func `a writer asks for a task at an issue without a label, and not at a change`()
        async throws
    {
        try await Hosted.open { hosted, receiver, _, _ in
            hosted.interest.withLock { $0 = Self.label }
            hosted.change {
                $0.said = [(41, "/pipectl task", "grace")]
                $0.comments = [(42, "/pipectl task", "grace", "User", false, 5)]
            }
            for _ in 0..<2 { _ = try await receiver.take(.issue(9)) }
            _ = try await receiver.take(.commented(7))
            #expect(hosted.begun.withLock { $0 } == ["9 by grace at GitHub"])
            #expect(hosted.given.isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(1))) func `what a writer says at a task's change is a remark, once`() async throws {
        try await Hosted.open { hosted, receiver, _, _ in
            hosted.interest.withLock { $0 = ForgeTasks.Interest(isDeclared: true, changes: [7]) }
            hosted.change {
                $0.comments = [
                    (1, "please keep the old name", "grace", "User", false, 5),
                    (2, "I am a stranger", "eve", "User", false, 5), (3, "bots talk", "grace", "Bot", false, 5),
                    (4, "<!-- pipectl 7 ab -->\nfailed", "grace", "User", false, 5),
                    (5, "/pipectl rerun", "grace", "User", false, 5), (6, "edited", "grace", "User", true, 5),
                ]
                // Counts on its own: the same number as a comment's.
                $0.lines = [(1, "an off-by-one", "grace")]
            }
            for _ in 0..<2 { _ = try await receiver.take(.commented(7)) }
            let remarks = hosted.remarks.withLock { $0 }
            #expect(remarks.map(\.text) == ["please keep the old name", "A.swift:3: an off-by-one"])
            #expect(Set(remarks.map(\.key)).count == 2 && remarks.allSatisfy { $0.by == "grace at GitHub" })
            #expect(hosted.given.map(\.command) == [.rerun(failedOnly: false)])
        }
    }

    @Test(.timeLimit(.minutes(1))) func `what is said at other changes is nobody's remark`() async throws {
        try await Hosted.open { hosted, receiver, _, double in
            hosted.interest.withLock { $0 = ForgeTasks.Interest(isDeclared: true, changes: [8]) }
            hosted.change { $0.comments = [(1, "hello", "grace", "User", false, 5)] }
            _ = try await receiver.take(.commented(7))
            #expect(hosted.remarks.withLock { $0 }.isEmpty)
            #expect(!double.requests.contains { $0.path.contains("/reviews") })
        }
    }
}
