package import Pipeline

extension Plan {
    /// The patterns of all files that the key of a step holds: its own inputs and, unless these cover what it needs, those
    /// of every step before it.
    ///
    /// - Returns: Nil where that is the whole tree.
    package func filesInKey(of name: String) -> [String]? {
        let byName = Dictionary(steps.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        guard let step = byName[name] else { return nil }
        let names = step.inputsCoverNeeds ? [name] : needs(of: name)
        // A gate reads no files; what is before it is among the needs.
        let readers = names.compactMap { byName[$0] }.filter { $0.action != .approval }
        if readers.contains(where: \.inputs.isEmpty) { return nil }
        return Set(readers.flatMap(\.inputs)).sorted()
    }
}
