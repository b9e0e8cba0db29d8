/// The output of `git merge-tree --write-tree -z --stdin`: one outcome for each pair, in order.
///
/// For each pair it has these fields, each ended by a zero byte: `1` (clean) or `0`; the tree; for a conflict, lines of
/// `mode id stage<tab>path`; an empty field; the messages (a count, that many paths, a kind, a sentence); an empty
/// field.
public struct MergeTreeOutput: Sendable, Equatable {
    /// Fewer than asked for if Git ended before the last one.
    public let outcomes: [MergeOutcome]

    /// Reads the output. A part that is cut or has another form ends the list.
    public init(_ bytes: [UInt8]) {
        var fields = Fields(bytes)
        var outcomes: [MergeOutcome] = []
        while let outcome = Self.outcome(&fields) { outcomes.append(outcome) }
        self.outcomes = outcomes
    }

    /// The output for one pair without `--stdin`, where the exit code says whether the merge is clean.
    public init(single bytes: [UInt8], isClean: Bool) {
        self.init([isClean ? 0x31 : 0x30, 0] + bytes + [0])
    }

    private static func outcome(_ fields: inout Fields) -> MergeOutcome? {
        guard let status = fields.next(), let tree = fields.next().flatMap({ OID(hex: text($0)) }) else { return nil }
        if status.elementsEqual([0x31]) {
            return fields.next()?.isEmpty == true ? .merged(tree: tree) : nil
        }
        guard status.elementsEqual([0x30]), let stages = stages(&fields), let told = messages(&fields) else {
            return nil
        }
        var kinds = stages.mapValues(\.kind)
        for (path, kind) in told where kind != nil || stages.isEmpty {
            // If a folder's rename is ambiguous, Git lists no file, and only its message has the paths.
            if kinds[path] != nil || stages.isEmpty { kinds[path] = kind ?? "conflicts" }
        }
        return .conflicts(
            kinds.map { MergeConflict(path: $0.key, kind: $0.value) }.sorted { $0.path < $1.path })
    }

    private static func stages(_ fields: inout Fields) -> [String: ConflictStages]? {
        var found: [String: ConflictStages] = [:]
        while let line = fields.next() {
            if line.isEmpty { return found }
            guard let tab = line.firstIndex(of: 0x09) else { return nil }
            let facts = text(line[..<tab]).split(separator: " ")
            guard facts.count == 3, let mode = UInt32(facts[0], radix: 8) else { return nil }
            let path = text(line[(tab + 1)...])
            switch facts[2] {
            case "1": found[path, default: ConflictStages()].base = mode
            case "2": found[path, default: ConflictStages()].target = mode
            case "3": found[path, default: ConflictStages()].change = mode
            default: return nil
            }
        }
        return nil
    }

    /// The paths in conflict messages, with a kind if the message says more than the stages do.
    private static func messages(_ fields: inout Fields) -> [(path: String, kind: String?)]? {
        var found: [(String, String?)] = []
        while let first = fields.next() {
            if first.isEmpty { return found }
            guard let count = Int(text(first)), count >= 0 else { return nil }
            var paths: [String] = []
            for _ in 0..<count {
                guard let path = fields.next() else { return nil }
                paths.append(text(path))
            }
            guard let type = fields.next().map(text), fields.next() != nil else { return nil }
            guard type.hasPrefix("CONFLICT") else { continue }
            found += paths.map { ($0, kind(type)) }
        }
        return nil
    }

    /// Git's identifiers of the kinds (merge-ort.c), which are the same in all versions and languages.
    private static func kind(_ type: String) -> String? {
        let kinds = [
            "(rename/rename)": "renamed differently by both",
            "(rename/delete)": "renamed by one side, deleted by the other",
            "(rename involved in collision)": "renamed to the same name by both",
            "(file/directory)": "a file on one side, a folder on the other",
            "(binary)": "both modified, binary",
            "(directory rename suggested)": "added by one side where the other renamed the folder",
            "(file in way of directory rename)": "added by one side where the other renamed the folder",
            "(directory rename collision)": "added by one side where the other renamed the folder",
            "(directory rename unclear split)": "added by one side where the other split the folder",
        ]
        return kinds.first { type.hasSuffix($0.key) }?.value
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    /// The output's fields, each ended by a zero byte.
    private struct Fields {
        private let bytes: [UInt8]
        private var position = 0

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        /// Nil at the end, and for a field that is cut.
        mutating func next() -> ArraySlice<UInt8>? {
            guard let end = bytes[position...].firstIndex(of: 0) else { return nil }
            defer { position = end + 1 }
            return bytes[position..<end]
        }
    }
}
