#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Finds the values of a run's secrets in output, in all their forms, and replaces them.
///
/// A run has one masker, which all its outputs share. ``MaskingStream`` has the state of one stream.
public final class Masker: Sendable {
    let automaton: FormAutomaton
    /// The replacement for each secret.
    let marks: [[UInt8]]
    let names: [String]
    /// The length of the longest form, in bytes.
    public let longestForm: Int
    private let filter: FormFilter
    /// Whether terminal control sequences are ignored when searching. They are not if a secret contains an escape
    /// character.
    let cutsSequences: Bool

    /// The most bytes that the twice-encoded forms of all secrets may have. They bound the automaton's memory and the
    /// time to build it. Secrets with fewer such bytes take precedence.
    static let twiceEncodedBytes = 8 << 20

    /// Returns nil if there is nothing to mask: there are no secrets, or all are too short.
    public init?(_ secrets: [Secret]) {
        var owners: [[UInt8]: UInt16] = [:]
        var twice: [(forms: Set<[UInt8]>, owner: UInt16)] = []
        for (number, secret) in secrets.prefix(Int(UInt16.max)).enumerated() {
            let forms = SecretForms(of: secret.bytes)
            owners.add(forms.all, of: UInt16(number))
            twice.append((forms.twice, UInt16(number)))
        }
        var room = Masker.twiceEncodedBytes
        for (forms, owner) in twice.sorted(by: { $0.forms.byteCount < $1.forms.byteCount }) {
            room -= forms.byteCount
            guard room >= 0 else { break }
            owners.add(forms, of: owner)
        }
        guard !owners.isEmpty else { return nil }
        let sorted = owners.map { (bytes: $0.key, owner: $0.value) }.sorted { $0.bytes.isBefore($1.bytes) }
        automaton = FormAutomaton(sorted)
        filter = FormFilter(sorted.map(\.bytes))
        cutsSequences = !sorted.contains { $0.bytes.contains(SequenceCutter.escape) }
        longestForm = sorted.map(\.bytes.count).max() ?? 0
        names = secrets.map(\.name)
        let automaton = automaton
        // One secret's name may be another secret's value.
        marks = secrets.map { secret -> [UInt8] in
            let candidates = ["[secret \(secret.name)]", "[masked]", "***"].map { Array($0.utf8) }
            return candidates.first { mark in
                var state: UInt32 = 0
                return mark.allSatisfy { byte in
                    let next = automaton.next(after: state, byte)
                    state = next & ~FormAutomaton.outputFlag
                    return next & FormAutomaton.outputFlag == 0
                }
            } ?? []
        }
    }

    /// The text with every form in it replaced.
    public func masked(_ text: String) -> String {
        var stream = MaskingStream(self)
        var output: [UInt8] = []
        var text = text
        text.withUTF8 { stream.feed(UnsafeRawBufferPointer($0)) { output += $0 } }
        stream.flush { output += $0 }
        return stream.count == 0 ? text : String(decoding: output, as: UTF8.self)
    }

    /// The name of a secret of which `text` contains a form; nil if there is none.
    public func secret(in text: String) -> String? {
        var stream = MaskingStream(self)
        var text = text
        text.withUTF8 { stream.feed(UnsafeRawBufferPointer($0)) { _ in } }
        return stream.found
    }

    /// Reports for each form where it ends, its length in bytes, and its secret.
    func scan(
        _ bytes: UnsafeBufferPointer<UInt8>, from state: UInt32,
        _ found: (_ end: Int, _ length: Int, _ owner: Int) -> Void
    ) -> UInt32 {
        automaton.table.withUnsafeBufferPointer { table in
            automaton.classes.withUnsafeBufferPointer { classes in
                filter.withSkips { filter in
                    scan(bytes, state, table, classes, filter, found)
                }
            }
        }
    }

    private func scan(
        _ bytes: UnsafeBufferPointer<UInt8>, _ first: UInt32, _ table: UnsafeBufferPointer<UInt32>,
        _ classes: UnsafeBufferPointer<UInt8>, _ filter: FormFilter.Skips, _ found: (Int, Int, Int) -> Void
    ) -> UInt32 {
        // An empty buffer may have no address.
        guard let base = bytes.baseAddress, let table = table.baseAddress, let classes = classes.baseAddress else {
            return first
        }
        let count = bytes.count
        let rows = UInt32(automaton.rows)
        let bits = UInt32(automaton.rowBits)
        var state = first
        var position = 0
        while position < count {
            // Skipping is allowed in the root only: there, no form has begun.
            if state == 0 { position = filter.skip(base, from: position, to: count) }
            while position < count {
                let byte = base[position]
                position &+= 1
                let next =
                    state < rows
                    ? table[Int(state << bits | UInt32(classes[Int(byte)]))] : automaton.next(after: state, byte)
                state = next & ~FormAutomaton.outputFlag
                if next != state {
                    found(
                        position, Int(automaton.outputLength[Int(state)]), Int(automaton.outputOwner[Int(state)]))
                }
                if state == 0 { break }
            }
        }
        return state
    }
}

extension Set<[UInt8]> {
    fileprivate var byteCount: Int { reduce(0) { $0 + $1.count } }
}

extension [[UInt8]: UInt16] {
    /// Adds forms in the case that the automaton searches for. A form that already has an owner keeps it.
    fileprivate mutating func add(_ forms: Set<[UInt8]>, of owner: UInt16) {
        for form in forms {
            let folded = form.map(\.caseFolded)
            if self[folded] == nil { self[folded] = owner }
        }
    }
}

extension [UInt8] {
    fileprivate func isBefore(_ other: [UInt8]) -> Bool {
        withUnsafeBytes { ours in
            other.withUnsafeBytes { theirs in
                let count = Swift.min(ours.count, theirs.count)
                // Both are empty or have an address; no form is empty.
                guard count > 0, let one = ours.baseAddress, let two = theirs.baseAddress else {
                    return ours.count < theirs.count
                }
                let order = memcmp(one, two, count)
                return order == 0 ? ours.count < theirs.count : order < 0
            }
        }
    }
}
