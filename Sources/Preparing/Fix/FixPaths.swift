import Git

/// Decides which paths a fix, or the work on a task, may change.
package enum FixPaths {
    /// Why a path can't be part of it, as the predicate of a sentence; nil if it can.
    ///
    /// - Parameter work: `fix`, or another word for what may not change it.
    package static func problem(_ path: [UInt8], of work: String = "fix") -> String? {
        let parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(Array.init)
        for part in parts {
            if let problem = TreeName.problem(part) { return problem }
        }
        guard path.count <= 1_024 else { return "it is longer than 1,024 bytes" }
        let names = parts.map { String(decoding: $0, as: UTF8.self) }
        if names.contains(where: TreeName.isModules) { return "a \(work) may not add or move submodules" }
        // The comparison ignores case, because some file systems do.
        switch names.first?.lowercased() {
        case "workflows": return "a \(work) may not change the workflows that test it"
        case ".pipectl": return "a \(work) may not change pipectl's own settings"
        default: return nil
        }
    }
}
