/// The test targets of a `Package.swift`, as far as literals declare them.
struct SwiftManifest: Sendable, Equatable {
    struct Target: Sendable, Equatable {
        var name: String
        /// Relative to the package.
        var path: String
        var exclude: [String]
        /// Nil for everything below ``path``.
        var sources: [String]?
        var line: Int
    }

    var targets: [Target] = []
    /// The folder of the package, relative to the repository; empty or with a slash at its end.
    var folder: String

    init(path: String, facts: SwiftFileFacts) {
        folder = path.split(separator: "/").dropLast().map { $0 + "/" }.joined()
        targets = facts.testTargets.map { target in
            Target(
                name: target.name, path: (target.path ?? "Tests/\(target.name)").trimmedSlash, exclude: target.exclude,
                sources: target.sources, line: target.line)
        }
    }

    /// Whether one of the test targets contains this file of the repository.
    func builds(_ file: String) -> Bool {
        guard file.hasPrefix(folder) else { return false }
        let path = String(file.dropFirst(folder.count))
        return targets.contains { target in
            guard path.hasPrefix(target.path + "/") || target.path == "." else { return false }
            let inside = target.path == "." ? path : String(path.dropFirst(target.path.count + 1))
            func lies(in places: [String]) -> Bool {
                places.contains { inside == $0.trimmedSlash || inside.hasPrefix($0.trimmedSlash + "/") }
            }
            return !lies(in: target.exclude) && (target.sources.map(lies) ?? true)
        }
    }
}

extension String {
    fileprivate var trimmedSlash: String {
        var text = self[...]
        while text.hasSuffix("/") { text = text.dropLast() }
        if text.hasPrefix("./") { text = text.dropFirst(2) }
        return text.isEmpty ? "." : String(text)
    }
}
