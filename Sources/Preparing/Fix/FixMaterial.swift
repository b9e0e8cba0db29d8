package import Results
import TerminalText
import Foundation
package import Pipeline
import Sandbox

/// The input of a fixer: a prompt that says what is wrong, the same as JSON, and the results of earlier attempts.
///
/// All are files among the run's values, which steps see read-only; the prompt is also on standard input.
package struct FixMaterial: Sendable {
    package static let bundleBytes = 64 << 10
    package static let earlierBytes = 24 << 10
    package static let patchBytes = 64 << 10

    static let prompt = "fix-prompt.md"
    package static let bundle = "fix-bundle.json"

    /// The result of an earlier attempt.
    package struct Earlier: Sendable {
        package var attempt: FixAttempt
        /// The bundle of the run that checked it, in Markdown.
        package var bundle: String?
        package var patch: String?

        package init(attempt: FixAttempt) { self.attempt = attempt }
    }

    package let role: FixRole
    package let request: RunRequest
    /// The bundle of the failed run.
    package let markdown: String
    package let json: String
    package let earlier: [Earlier]
    let minutes: Int

    package init(role: FixRole, request: RunRequest, markdown: String, json: String, earlier: [Earlier], minutes: Int) {
        self.role = role
        self.request = request
        self.markdown = markdown
        self.json = json
        self.earlier = earlier
        self.minutes = minutes
    }

    /// Writes the files. No step may write to the folder yet.
    package func write(to values: String) throws {
        try FileManager.default.createDirectory(atPath: values, withIntermediateDirectories: true)
        try SmallFile.write(text.utf8, to: "\(values)/\(Self.prompt)", isForAll: true)
        try SmallFile.write(json.utf8, to: "\(values)/\(Self.bundle)", isForAll: true)
    }

    /// The step in which the fixer works. No part of its command comes from the change.
    package static func plan(_ fix: Fix, workflow: String) -> Plan {
        var step = PlannedStep(name: "fix", action: .command(["/bin/sh", "-c", wrapper, fix.command]))
        (step.timeout, step.network, step.limits, step.isNeverProved) = (fix.timeout, fix.network, fix.limits, true)
        return Plan(workflow: workflow, steps: [step])
    }

    private static let wrapper = """
        PIPECTL_FIX_PROMPT=$PIPECTL_VALUES_IN/\(prompt) PIPECTL_FIX_BUNDLE=$PIPECTL_VALUES_IN/\(bundle)
        export PIPECTL_FIX_PROMPT PIPECTL_FIX_BUNDLE
        exec /bin/sh -ec "$0" < "$PIPECTL_FIX_PROMPT"
        """

    private static func text(of one: Earlier) -> String {
        var text = "# Attempt \(one.attempt.number): \(TerminalText.name(one.attempt.reason, limit: 1_000))\n"
        if let patch = one.patch { text += "\n## What it changed\n\n\(patch)\n" }
        if let bundle = one.bundle { text += "\n## What was wrong with it\n\n\(bundle)\n" }
        return text
    }

    private var text: String {
        let mark = DataMark()
        let change = request.change.map { "change \($0.name) into \($0.target)" } ?? "a change"
        var text = """
            # Fix a change that fails

            This workspace has the files of a change, merged with its target. Workflow "\(request.workflow)" failed on them. Edit \
            the files so that it passes. You have \(minutes) minutes. Do not commit and do not push: the files that differ \
            when you exit with code 0 become one commit, and the workflow runs on it.

            - Fix the cause. A fix that removes, skips or weakens a test, or adds waiting to one, is discarded.
            - Nothing below workflows/ may change; no links, no submodules; at most \(FixLimits.files) files. What \
            .gitignore names is ignored.
            - If you can't fix it, change nothing.

            \(mark.meaning)

            ## What is wrong

            \(mark.around("\(TerminalText.name(change, limit: 300))\n\(markdown)"))
            """
        guard !earlier.isEmpty else { return text }
        text += "\n## Earlier attempts, which did not pass\n\n"
        return text + mark.around(earlier.map(Self.text).joined())
    }
}
