/// What test classes inherit that keeps their tests from running, through base classes in whatever file.
struct InheritedSkips {
    /// What one class has, its bases' parts included.
    struct Inherited: Equatable {
        var skips: [String] = []
        /// The first base that is not among the sources and is none of XCTest's.
        var unknownBase: String?
    }

    /// By the last part of the name: which of two is meant takes a type checker, so both count.
    private var parts: [String: [SwiftFileFacts.ClassPart]] = [:]

    private static let deepest = 32
    private static let ofXCTest: Set<String> = ["XCTestCase", "XCTest"]

    init(_ files: [SwiftFileFacts]) { for file in files { add(file) } }

    mutating func add(_ facts: SwiftFileFacts) {
        for part in facts.classes { parts[Self.key(part.name), default: []].append(part) }
    }

    /// What the tests of a suite inherit, its own class included.
    func inherited(by suite: String) -> Inherited {
        var found = Inherited()
        var seen: Set<String> = []
        var waiting = [Self.key(suite)]
        while let name = waiting.popLast(), seen.count < Self.deepest {
            guard seen.insert(name).inserted, let own = parts[name] else { continue }
            found.skips += own.flatMap(\.skips)
            for part in own {
                // A class comes before protocols.
                guard let base = part.bases.first, !Self.ofXCTest.contains(base) else { continue }
                if parts[base] == nil { found.unknownBase = found.unknownBase ?? base }
                waiting.append(base)
            }
        }
        return found
    }

    private static func key(_ name: String) -> String { name.split(separator: ".").last.map(String.init) ?? name }
}
