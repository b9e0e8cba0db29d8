import Pipeline
import PlanRules
import Testing

/// Each filter of a trigger is known everywhere: a field that is forgotten in one place fails here.
@Suite struct TriggerFilterTests {
    struct Sample: Sendable {
        /// A trigger that the filter limits.
        var trigger: Trigger
        /// What it does not let through.
        var refused: @Sendable () -> TriggerFacts
        /// What it does.
        var taken: @Sendable () -> TriggerFacts
        /// A value that can't be used; nil if there is none.
        var broken: Trigger?
    }

    /// By the field of the trigger.
    static let samples: [String: Sample] = [
        "branches": Sample(
            trigger: .push(to: "main", "release/*"), refused: { TriggerFacts(branch: "topic") },
            taken: { TriggerFacts(branch: "release/1") }, broken: .push(to: "{a")),
        "paths": Sample(
            trigger: .push(to: "*", paths: ["src/**"]),
            refused: { TriggerFacts(branch: "main", paths: { ["docs/a"] }) },
            taken: { TriggerFacts(branch: "main", paths: { ["docs/a", "src/b"] }) },
            broken: .push(to: "*", paths: ["/src"])),
        "ignoredPaths": Sample(
            trigger: .push(to: "*", ignoring: ["docs/**"]),
            refused: { TriggerFacts(branch: "main", paths: { ["docs/a"] }) },
            taken: { TriggerFacts(branch: "main", paths: { ["docs/a", "b"] }) },
            broken: .push(to: "*", ignoring: ["../docs"])),
        "messages": Sample(
            trigger: .push(to: "*", messages: ["[full]"]),
            refused: { TriggerFacts(branch: "main", message: { "Add it" }) },
            taken: { TriggerFacts(branch: "main", message: { "Add it [full]" }) },
            broken: .push(to: "*", messages: [""])),
        "ignoredMessages": Sample(
            trigger: .push(to: "*", ignoringMessages: ["[skip ci]"]),
            refused: { TriggerFacts(branch: "main", message: { "Add it [skip ci]" }) },
            taken: { TriggerFacts(branch: "main", message: { "Add it" }) },
            broken: .push(to: "*", ignoringMessages: [""])),
        "drafts": Sample(
            trigger: .pullRequest(into: "*", drafts: .ignored),
            refused: { TriggerFacts(branch: "main", isDraft: true) }, taken: { TriggerFacts(branch: "main") }),
        "labels": Sample(
            trigger: .pullRequest(into: "*", labels: ["ci", "slow"]),
            refused: { TriggerFacts(branch: "main", labels: ["fast"]) },
            taken: { TriggerFacts(branch: "main", labels: ["slow"]) }, broken: .pullRequest(into: "*", labels: [""])),
    ]

    private static let fields = TriggerFilter.all.flatMap(\.fields)

    @Test func `each field of a trigger is one of a filter, or says when it starts`() {
        let all = Mirror(reflecting: Trigger.manual).children.compactMap(\.label)
        #expect(Set(all) == Set(Self.fields).union(["event", "cron"]))
        #expect(Self.fields.count == Set(Self.fields).count)
        #expect(Set(TriggerFilter.all.map(\.name)).count == TriggerFilter.all.count)
    }

    @Test(arguments: fields) func `a filter says why it takes nothing, and takes the rest`(field: String) throws {
        let sample = try #require(Self.samples[field], "write a sample for the field")
        let filter = try #require(TriggerFilter.all.first { $0.fields.contains(field) })
        let objection = try #require(sample.trigger.objection(to: sample.refused()))
        #expect(objection.filter == filter.name && !objection.why.isEmpty)
        #expect(sample.trigger.objection(to: sample.taken()) == nil)
    }

    @Test(arguments: fields) func `plan names a filter`(field: String) throws {
        let sample = try #require(Self.samples[field])
        let isNamed = !sample.trigger.filterWords.isEmpty
        #expect(isNamed == (field != "branches"), "the branches are named with the event")
        #expect(Trigger.push(to: "main").filterWords.isEmpty && Trigger.manual.filterWords.isEmpty)
    }

    @Test(arguments: fields) func `a value that can't be used is found`(field: String) throws {
        let sample = try #require(Self.samples[field])
        #expect(WorkflowDeclaration.validate([WorkflowDeclaration(name: "w", triggers: [sample.trigger])]).isEmpty)
        guard let broken = sample.broken else {
            // Each value of an enumeration can be used.
            #expect(field == "drafts")
            return
        }
        #expect(!WorkflowDeclaration.validate([WorkflowDeclaration(name: "w", triggers: [broken])]).isEmpty)
    }

    @Test(arguments: fields) func `what is not known of commits prevents nothing`(field: String) throws {
        let trigger = try #require(Self.samples[field]).trigger
        let filter = try #require(TriggerFilter.all.first { $0.fields.contains(field) })
        #expect(trigger.asksAboutCommits == (filter.need == .commit))
        guard filter.need == .commit else { return }
        #expect(trigger.objection(to: TriggerFacts(branch: "main")) == nil)
    }

    @Test func `paths are wanted first and ignored then, and the reason is the one that counts`() {
        let trigger = Trigger.push(to: "*", paths: ["src/**"], ignoring: ["src/gen/**"])
        func why(_ paths: String...) -> String? {
            trigger.objection(to: TriggerFacts(branch: "main", paths: { paths }))?.why
        }
        #expect(why("docs/a") == #"starts only for changed files that match "src/**""#)
        #expect(why("docs/a", "src/gen/a") == #"ignores changed files that match "src/gen/**""#)
        #expect(why("src/gen/a", "src/a") == nil)
    }

    @Test func `of many values only the first are named`() {
        let trigger = Trigger.push(to: "*", messages: (1...7).map { "[\($0)]" })
        #expect(
            trigger.objection(to: TriggerFacts(branch: "main", message: { "" }))?.why
                == #"starts only for commits whose message has "[1]" or "[2]" or "[3]" or "[4]" or "[5]" or 2 more"#)
    }

    @Test func `what needs the repository is asked last, and only if it decides`() {
        let trigger = Trigger.pullRequest(into: "main", paths: ["src/**"], messages: ["[full]"], labels: ["ci"])
        func ask(_ branch: String, _ labels: [String], reads: Bool) -> TriggerObjection? {
            trigger.objection(
                to: TriggerFacts(
                    branch: branch, labels: labels,
                    paths: {
                        if !reads { Issue.record("the repository was read") }
                        return ["docs/a"]
                    },
                    message: {
                        Issue.record("the message was read")
                        return nil
                    }))
        }
        let objections = [
            ask("next", [], reads: false), ask("main", [], reads: false), ask("main", ["ci"], reads: true),
        ].compactMap { $0 }
        #expect(objections.map(\.filter) == ["branches", "labels", "paths"])
        for (far, near) in zip(objections, objections.dropFirst()) {
            #expect(near.isNearer(than: far) && !far.isNearer(than: near))
        }
        #expect(!objections.contains { $0.isNearer(than: $0) })
    }
}
