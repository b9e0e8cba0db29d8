public import Results
import Store
import Foundation
import Pipeline

extension Report {
    /// The report of a run that begins: everything that is known before it is prepared.
    init(starting run: QueuedRun, at start: Date) {
        let request = run.request
        self.init(
            id: run.id, repository: request.repository, workflow: request.workflow, event: request.event,
            ref: request.ref, branch: request.branch, head: request.head, change: request.change,
            mergedChanges: request.mergedChanges, parameters: request.parameters, verdict: .infrastructure,
            reason: "not finished", createdAt: run.createdAt, startedAt: start, endedAt: start, attempt: run.attempt,
            rerunOf: request.rerun?.of, reproduce: request.reproduction, box: .current)
        repetition = request.rerun.map { Repetition(origin: $0.origin, number: $0.number) }
        fix = request.fix.map(FixRecord.init)
        if run.attempt > 1 {
            findings.append(
                Finding(
                    rule: "interrupted", severity: .note,
                    message:
                        "the daemon ended during attempt \(run.attempt - 1); this is attempt \(run.attempt), in a fresh workspace",
                    file: nil, line: nil, column: nil, suggestion: nil))
        }
    }
}

extension Report.Box {
    /// The version of pipectl.
    public static let version = "0.1.0"

    /// This machine.
    static var current: Report.Box {
        #if os(macOS)
            let system = "macOS"
        #else
            let system = "Linux"
        #endif
        #if arch(arm64)
            let processor = "arm64"
        #else
            let processor = "x86_64"
        #endif
        return Report.Box(
            host: ProcessInfo.processInfo.hostName, system: "\(system) \(processor)", pipectlVersion: version)
    }
}

extension RunRequest {
    /// What is tested, as a person would say it.
    public var subjectInWords: String {
        if let fix, let change { return "\(fix.inWords), change \(change.name) into \(change.target)" }
        if let landing, let change {
            let names = landing.map(\.name).joined(separator: ", ")
            return "change\(landing.count == 1 ? "" : "s") \(names) in the merge queue of \(change.target)"
        }
        if let change { return "change \(change.name) into \(change.target)" }
        switch background {
        case .warmUp: return "warm-up of \(branch ?? ref)"
        case .cleanBuild: return "clean build of \(branch ?? ref)"
        case .bisect: return "bisection of \(branch ?? ref) at \(head.prefix(10))"
        case .flakeProbe: return "retry of failing tests on \(branch ?? ref)"
        case nil: break
        }
        if ref.isEmpty { return "working tree" }
        if let branch { return branch }
        if ref.hasPrefix("refs/tags/") { return "tag \(ref.dropFirst("refs/tags/".count))" }
        return ref
    }

    /// The command that repeats the run in a clone.
    var reproduction: String {
        if let fix { return fix.isMaking ? "pipectl fix \(fix.of)" : "pipectl fix \(fix.of) --patch | git am" }
        var words = ["pipectl", "run", workflow]
        if let change, !isOfMergeQueue {
            words += ["--change", change.name]
        } else if !ref.isEmpty {
            words += ["--ref", String(head.prefix(12))]
        }
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) { words += ["--param", "\(name)=\(value)"] }
        for step in onlySteps ?? [] { words += ["--step", step] }
        for test in onlyTests ?? [] { words += ["--tests", test.typed] }
        return words.map(\.shellQuoted).joined(separator: " ")
    }
}
