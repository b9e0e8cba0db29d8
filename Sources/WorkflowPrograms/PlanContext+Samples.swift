public import Pipeline

extension PlanContext {
    /// Made-up contexts to validate a workflow with: one for each event that can start it.
    public static func samples(for declaration: WorkflowDeclaration) -> [PlanContext] {
        var parameters: [String: String] = [:]
        for parameter in declaration.parameters {
            parameters[parameter.name] = parameter.defaultValue ?? sample(of: parameter)
        }
        let events =
            declaration.triggers.isEmpty
            ? [.manual] : Set(declaration.triggers.map(\.event)).sorted { $0.rawValue < $1.rawValue }
        let zero = String(repeating: "0", count: 40)
        return (declaration.readsContext ? events : Array(events.prefix(1))).map { event in
            var context = PlanContext(
                repository: "example", event: event, commit: zero, ref: "refs/heads/main", branch: "main",
                parameters: parameters)
            switch event {
            case .pullRequest:
                context.ref = "refs/pull/1/head"
                context.change = Change(
                    name: "1", head: zero, target: "main", targetCommit: zero, title: "Example", author: "Example")
                context.changedFiles = [ChangedFile(status: .modified, path: "README.md")]
            case .merge:
                context.mergedChanges = [MergedChange(name: "1", head: zero, commit: zero, recognition: .merge)]
            case .tag:
                (context.ref, context.branch, context.tag) = ("refs/tags/1.0.0", nil, "1.0.0")
            case .push, .schedule, .manual: break
            }
            return context
        }
    }

    private static func sample(of parameter: ParameterDeclaration) -> String {
        switch parameter.kind {
        case .string: "example"
        case .integer: "1"
        case .bool: "false"
        case .choice: parameter.choices.first ?? ""
        }
    }
}
