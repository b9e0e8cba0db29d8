package import Pipeline

extension Plan {
    /// The patterns of all files that the key of a step covers: its own inputs and, unless these cover what it needs,
    /// the inputs of every step before it.
    ///
    /// - Returns: Nil if the key covers the whole tree.
    package func filesInKey(of name: String) -> [String]? {
        let byName = Dictionary(steps.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        guard let step = byName[name] else { return nil }
        let names = step.inputsCoverNeeds ? [name] : needs(of: name)
        // A step without a process reads no files; the steps before it are among the needs.
        let readers = names.compactMap { byName[$0] }.filter(\.action.startsProcess)
        if readers.contains(where: \.inputs.isEmpty) { return nil }
        return Set(readers.flatMap(\.inputs)).sorted()
    }
}
