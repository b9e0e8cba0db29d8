/// The test targets of a `Package.swift`, as far as they are written as literals.
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
    /// Of the package, relative to the repository; empty or with a slash at its end.
    var folder: String

    init(path: String, bytes: [UInt8]) throws(SwiftLexer.Problem) {
        folder = path.split(separator: "/").dropLast().map { $0 + "/" }.joined()
        let words = try SwiftWords(bytes)
        let tokens = words.tokens
        for index in tokens.indices.dropLast()
        where tokens[index].isWord("testTarget") && tokens[index + 1].isPunctuation("(") {
            guard words.isAlive(index) else { continue }
            var name: String?
            var place: String?
            var exclude: [String] = []
            var sources: [String]?
            for part in LiteralCounts.parts(of: (index + 2)..<words.partner[index + 1], words) {
                guard part.count > 2, tokens[part.lowerBound + 1].isPunctuation(":") else { continue }
                let value = (part.lowerBound + 2)..<part.upperBound
                let texts = value.filter { tokens[$0].kind == .string }.map { tokens[$0].text.filter { $0 != "\"" } }
                switch tokens[part.lowerBound].text {
                case "name": name = texts.first
                case "path": place = texts.first
                case "exclude": exclude = texts
                case "sources": sources = texts
                default: break
                }
            }
            guard let name else { continue }
            targets.append(
                Target(
                    name: name, path: (place ?? "Tests/\(name)").trimmedSlash, exclude: exclude, sources: sources,
                    line: tokens[index].line))
        }
    }

    /// Whether a file of the repository is compiled into one of the test targets.
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
