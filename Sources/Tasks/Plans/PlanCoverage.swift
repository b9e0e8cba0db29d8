package import Pipeline
package import Results

/// Compares what was done with what the plan said.
package enum PlanCoverage {
    /// The files that no entry of the plan names, in their order. An entry is a path, a folder or a glob.
    package static func unplanned(_ files: [String], plan: TaskPlan?) -> [String] {
        guard let plan else { return [] }
        let entries = plan.files.map(Entry.init)
        return files.filter { file in !entries.contains { $0.covers(file) } }
    }

    struct Entry {
        /// Without a slash at its end.
        let path: String
        private let glob: Glob?

        init(_ text: String) {
            path = text.hasSuffix("/") ? String(text.dropLast()) : text
            glob = try? Glob(path)
        }

        /// A path may have brackets, so that it is compared as it is, too.
        func covers(_ file: String) -> Bool {
            file == path || file.hasPrefix(path + "/") || glob?.matches(file) == true
        }

        /// Whether the entry says nothing, because it names every file.
        var isEverything: Bool { covers("pipectl/any\u{2049}/any.\u{2049}") || covers("any\u{2049}.\u{2049}") }

        var isPattern: Bool { path.contains { "*?[{\\".contains($0) } }
    }
}

extension SmallTask {
    /// Whether a plan is so small that its approval may be skipped: it names few files, each by its path, and all of
    /// them match.
    package func covers(_ plan: TaskPlan) -> Bool {
        guard !plan.files.isEmpty, plan.files.count <= files else { return false }
        let allowed = globs.compactMap { try? Glob($0) }
        return plan.files.allSatisfy { file in
            // A folder or a pattern stands for more files than it counts as.
            !file.hasSuffix("/") && !PlanCoverage.Entry(file).isPattern && allowed.contains { $0.matches(file) }
        }
    }
}
