import Pipeline

extension RunRequest {
    /// What is tested, in words.
    public var subjectInWords: String {
        if let task { return task.inWords }
        if let fix, let change { return "\(fix.inWords), change \(change.name) into \(change.target)" }
        if let landing, let change {
            let names = landing.map(\.name).joined(separator: ", ")
            return "change\(landing.count == 1 ? "" : "s") \(names) in the merge queue of \(change.target)"
        }
        if let change { return "change \(change.name) into \(change.target)" }
        let place = (branch ?? ref) + (options.machine.map { " on \($0)" } ?? "")
        switch background {
        case .warmUp: return "warm-up of \(place)"
        case .cleanBuild: return "clean build of \(place)"
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
    package var reproduction: String {
        if let fix { return fix.isMaking ? "pipectl fix \(fix.of)" : "pipectl fix \(fix.of) --patch | git am" }
        if let task { return "pipectl task show \(task.task)" }
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
