public import Results
import TerminalText
import Foundation

/// Everything that a bundle could contain, before it is shortened to its size.
///
/// Every problem has versions from short to full. The first few problems are the ones that are read: they share half of
/// the space and get their message and the nearest part of the change. Then each other problem gets its shortest
/// version, in the order of rank, as long as there is space. Longer versions follow in the same order: first the
/// nearest part of the change for every problem, then the full version.
public struct BundleDraft: Sendable {
    /// The bundle without its problems.
    var head: RunBundle
    var items: [Item]

    struct Item: Sendable {
        /// Problems with lower ranks are kept longer.
        var rank: Int
        /// What is counted if the problem is omitted: `failing test`.
        var kind: String
        /// The command that shows the problem.
        var command: String
        /// From short to full; at least one.
        var versions: [RunBundle.Problem]
    }

    /// The number of problems that get the nearest part of the change before any other problem is shown.
    private static let foremost = 3

    /// The default size of a bundle: some 4,000 tokens.
    public static let defaultBytes = 16 << 10
    /// With fewer bytes, the bundle's head would not fit.
    public static let minimumBytes = 3 << 10

    /// The bundle as a document of at most `bytes` bytes of UTF-8, with a line feed at its end.
    ///
    /// - Parameter bytes: At least ``minimumBytes``; a smaller number counts as that.
    public func render(bytes: Int = defaultBytes, as format: BundleFormat) -> String {
        BundleText.render(fit(bytes: bytes, as: format), as: format)
    }

    /// The bundle with as much as fits into `bytes` in this format.
    public func fit(bytes: Int = defaultBytes, as format: BundleFormat) -> RunBundle {
        let limit = max(bytes, Self.minimumBytes)
        var copy = self
        if BundleText.render(head, as: format).utf8.count > limit / 2 { copy.head.shorten() }
        return copy.fit(within: limit, as: format)
    }

    private func fit(within limit: Int, as format: BundleFormat) -> RunBundle {
        let order = items.indices.sorted { (items[$0].rank, $0) < (items[$1].rank, $1) }
        var chosen = [Int?](repeating: nil, count: items.count)
        // The most space that the note about all omitted problems takes.
        var room = limit - BundleText.render(head, as: format).utf8.count - omissionBytes
        func size(_ index: Int, _ version: Int) -> Int {
            BundleText.size(of: items[index].versions[version], as: format)
        }
        var sizes = [Int](repeating: 0, count: items.count)
        var reserved = room / 2
        for index in order.prefix(Self.foremost) {
            let versions = 0..<min(items[index].versions.count, 3)
            guard let best = versions.last(where: { size(index, $0) <= reserved }) else { continue }
            (chosen[index], sizes[index]) = (best, size(index, best))
            reserved -= sizes[index]
            room -= sizes[index]
        }
        for index in order where chosen[index] == nil {
            sizes[index] = size(index, 0)
            guard sizes[index] <= room else { continue }
            chosen[index] = 0
            room -= sizes[index]
        }
        for version in 1..<max(items.map(\.versions.count).max() ?? 1, 1) {
            for index in order where chosen[index].map({ $0 < version }) ?? false {
                guard version < items[index].versions.count else { continue }
                // Everything useful is larger.
                guard room > 60 else { break }
                let next = size(index, version)
                guard next - sizes[index] <= room else { continue }
                room -= next - sizes[index]
                (chosen[index], sizes[index]) = (version, next)
            }
        }
        var result = bundle(order, chosen)
        // The sizes are those of the parts. If the whole is larger nevertheless, the last problems are removed.
        var last = order.count - 1
        while last >= 0, BundleText.render(result, as: format).utf8.count > limit {
            chosen[order[last]] = nil
            last -= 1
            result = bundle(order, chosen)
        }
        return result
    }

    private func bundle(_ order: [Int], _ chosen: [Int?]) -> RunBundle {
        var bundle = head
        bundle.problems = order.compactMap { index in chosen[index].map { items[index].versions[$0] } }
        // If two problems are near the same part of the change, only the first one shows it.
        var shown: Set<RunBundle.Hunk> = []
        for index in bundle.problems.indices {
            let own = bundle.problems[index].hunks?.filter { shown.insert($0).inserted }
            bundle.problems[index].hunks = own?.isEmpty == false ? own : nil
        }
        var missing: [(kind: String, command: String, count: Int)] = []
        for index in order where chosen[index] == nil {
            let item = items[index]
            if let place = missing.firstIndex(where: { $0.kind == item.kind }) {
                missing[place].count += 1
            } else {
                missing.append((item.kind, item.command, 1))
            }
        }
        let shortened = order.count { index in chosen[index].map { $0 < items[index].versions.count - 1 } ?? false }
        bundle.leftOut += missing.map { .init(what: Figures.count($0.count, $0.kind), command: $0.command) }
        if shortened > 0 {
            bundle.leftOut.append(
                .init(
                    what: "details of \(Figures.count(shortened, "problem"))",
                    command: "pipectl report \(bundle.run) --bundle --bytes 262144"))
        }
        return bundle
    }

    /// The most bytes of the note about what is omitted.
    private var omissionBytes: Int {
        let commands = Dictionary(items.map { ($0.kind, $0.command) }, uniquingKeysWith: { first, _ in first })
        return 200 + commands.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 60 }
    }
}

/// Renders a bundle.
package enum BundleText {
    static func render(_ bundle: RunBundle, as format: BundleFormat) -> String {
        switch format {
        case .json: json(bundle) + "\n"
        case .markdown: BundleMarkdown(bundle: bundle).render()
        }
    }

    /// The bytes that a problem adds to the document.
    static func size(of problem: RunBundle.Problem, as format: BundleFormat) -> Int {
        switch format {
        case .json: json(problem).utf8.count + 1
        // Its number may have more digits than here.
        case .markdown: BundleMarkdown.text(of: problem, number: 1).utf8.count + 3
        }
    }

    private static func json(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // It contains only texts, numbers and arrays of them, which JSON can always represent.
        guard let data = try? encoder.encode(value) else { return "{}" }
        return VisibleJSON.text(data)
    }
}

extension RunBundle {
    /// Shortens the head to its essential parts, because texts of a change may have any length.
    fileprivate mutating func shorten() {
        func cut(_ text: String, _ bytes: Int) -> String { WholeText.part(of: text, bytes: bytes) ?? "" }
        reason = cut(reason, 200)
        (repository, workflow, subject) = (cut(repository, 60), cut(workflow, 60), cut(subject, 100))
        if var short = change {
            (short.title, short.name, short.target) = (cut(short.title, 60), cut(short.name, 60), cut(short.target, 60))
            change = short
        }
        passed = cut(passed, 100)
        if let text = fix?.reason { fix?.reason = cut(text, 120) }
        if reproduce.utf8.count > 200 { reproduce = "pipectl rerun \(run)" }
        if let command = next?.command, command.utf8.count > 200 { next?.command = "pipectl show \(run)" }
        leftOut = Array(leftOut.prefix(2))
    }
}
