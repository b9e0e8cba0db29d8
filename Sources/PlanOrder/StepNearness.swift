import Pipeline

/// Decides from a step's declaration whether the change touches what it tests.
struct StepNearness {
    private let paths: [String]
    /// Words that a command may contain if it names tests near the change.
    private let words: Set<String>

    init(changedFiles: [ChangedFile], tests: [KnownTest]) {
        paths = changedFiles.flatMap { [$0.path] + ($0.oldPath.map { [$0] } ?? []) }
        var words: Set<String> = []
        for file in Set(tests.compactMap(\.file)) {
            let parts = file.split(separator: "/")
            if let name = parts.last {
                words.insert(String(name))
                words.insert(String(name.prefix { $0 != "." }))
            }
            if parts.count > 1 { words.insert(String(parts[parts.count - 2])) }
        }
        // Short words such as `test` and `tests` are in every command that runs tests.
        self.words = words.filter { $0.utf8.count > 5 }
    }

    func isNear(_ step: PlannedStep) -> Bool {
        guard !paths.isEmpty else { return false }
        if !step.inputs.isEmpty {
            // A step that declares its inputs reads nothing else, so there is nothing to guess.
            let globs = step.inputs.compactMap { try? Glob($0) }
            return paths.contains { path in globs.contains { $0.matches(path) } }
        }
        if let folder = step.workingDirectory, !folder.isEmpty, folder != "." {
            let prefix = folder.hasSuffix("/") ? folder : folder + "/"
            if paths.contains(where: { $0.hasPrefix(prefix) }) { return true }
        }
        guard !words.isEmpty else { return false }
        return step.commandLine.split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "." && $0 != "-" }
            .contains { words.contains(String($0)) || words.contains(String($0.prefix { $0 != "." })) }
    }
}
