/// Skips that test classes inherit from base classes, in whichever file these are.
struct InheritedSkips {
    /// What one class has, including what it inherits.
    struct Inherited: Equatable {
        var skips: [String] = []
        /// The first base class that is not in the sources and does not belong to XCTest.
        var unknownBase: String?
    }

    /// By the last part of the name. Only a type checker could tell two classes of one name apart, so both count.
    private var parts: [String: [SwiftFileFacts.ClassPart]] = [:]

    private static let deepest = 32
    private static let ofXCTest: Set<String> = ["XCTestCase", "XCTest"]

    init(_ files: [SwiftFileFacts]) { for file in files { add(file) } }

    mutating func add(_ facts: SwiftFileFacts) {
        for part in facts.classes { parts[Self.key(part.name), default: []].append(part) }
    }

    /// What the tests of a suite inherit, including their own class.
    func inherited(by suite: String) -> Inherited {
        var found = Inherited()
        var seen: Set<String> = []
        var waiting = [Self.key(suite)]
        while let name = waiting.popLast(), seen.count < Self.deepest {
            guard seen.insert(name).inserted, let own = parts[name] else { continue }
            found.skips += own.flatMap(\.skips)
            for part in own {
                // Swift requires the base class to be first, before protocols.
                guard let base = part.bases.first, !Self.ofXCTest.contains(base) else { continue }
                if parts[base] == nil { found.unknownBase = found.unknownBase ?? base }
                waiting.append(base)
            }
        }
        return found
    }

    private static func key(_ name: String) -> String { name.split(separator: ".").last.map(String.init) ?? name }
}
