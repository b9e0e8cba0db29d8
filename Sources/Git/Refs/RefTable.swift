internal import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The refs of a repository in the order of their names' bytes, each with its commit.
///
/// All names are in one block of memory, so 100,000 refs need three allocations, and two tables are compared by walking
/// both once.
public struct RefTable: Sendable, Equatable {
    private var names: [UInt8] = []
    /// The end of each name in ``names``. It begins where the previous one ends.
    private var ends: [UInt32] = []
    private var ids: [OID] = []

    public init() {}

    public init(_ refs: some Sequence<(key: String, value: OID)>) {
        for (name, id) in refs.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            var name = name
            name.withUTF8 { append(name: UnsafeRawBufferPointer($0), id) }
        }
    }

    mutating func reserve(_ count: Int, bytes: Int) {
        names.reserveCapacity(bytes)
        ends.reserveCapacity(count)
        ids.reserveCapacity(count)
    }

    /// Appends a ref. The name of the last one must be smaller.
    mutating func append(name: UnsafeRawBufferPointer, _ id: OID) {
        names.append(contentsOf: name)
        ends.append(UInt32(names.count))
        ids.append(id)
    }

    /// The commit of the ref with this name.
    public subscript(name: String) -> OID? {
        var name = name
        return name.withUTF8 { name in
            let place = firstIndex(notBefore: UnsafeRawBufferPointer(name))
            guard place < count, order(at: place, UnsafeRawBufferPointer(name)) == 0 else { return nil }
            return ids[place]
        }
    }

    /// The refs whose names begin with `prefix`. They are next to each other.
    public func entries(under prefix: String) -> Slice<RefTable> {
        var prefix = prefix
        return prefix.withUTF8 { bytes in
            let prefix = UnsafeRawBufferPointer(bytes)
            let first = firstIndex(notBefore: prefix)
            var (low, high) = (first, count)
            while low < high {
                let middle = (low + high) / 2
                if withName(at: middle, { $0.starts(with: prefix) }) { low = middle + 1 } else { high = middle }
            }
            return Slice(base: self, bounds: first..<low)
        }
    }

    /// The same refs, with `others` replacing those with the same names; both are sorted. A nil id removes a ref.
    func overlaid(by others: [(name: String, id: OID?)]) -> RefTable {
        var table = RefTable()
        table.reserve(count + others.count, bytes: names.count + others.reduce(0) { $0 + $1.name.utf8.count })
        var others = others[...]
        func take() {
            guard var next = others.popFirst(), let id = next.id else { return }
            next.name.withUTF8 { table.append(name: UnsafeRawBufferPointer($0), id) }
        }
        for index in indices {
            var isReplaced = false
            while !isReplaced, var name = others.first?.name {
                let order = name.withUTF8 { self.order(at: index, UnsafeRawBufferPointer($0)) }
                if order < 0 { break }
                isReplaced = order == 0
                take()
            }
            if !isReplaced { withName(at: index) { table.append(name: $0, ids[index]) } }
        }
        while !others.isEmpty { take() }
        return table
    }

    /// Without names that are equal as Swift strings although their bytes differ, such as those with `K` and the Kelvin
    /// sign.
    ///
    /// The composed form is kept, so that nobody can replace a branch by one that only looks like it.
    var settled: RefTable {
        if names.allSatisfy({ $0 < 0x80 }) { return self }
        var winners: [String: Int] = [:]
        var losers: [Int] = []
        for index in indices where !withName(at: index, { $0.allSatisfy { $0 < 0x80 } }) {
            let name = name(at: index)
            let composed = name.precomposedStringWithCanonicalMapping
            if Array(composed.utf8) != Array(name.utf8), self[composed] != nil {
                // The composed form exists, with other letters or, as with the plain K, with none that need composing.
                losers.append(index)
            } else if winners[name] == nil {
                winners[name] = index
            } else {
                losers.append(index)
            }
        }
        return losers.isEmpty ? self : overlaid(by: losers.map { (name(at: $0), nil) })
    }

    /// The full names.
    public var keys: some RandomAccessCollection<String> { indices.lazy.map(name) }

    private func firstIndex(notBefore name: UnsafeRawBufferPointer) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if order(at: middle, name) < 0 { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// How the ref's name compares with `name`: less than, equal to (0) or greater than it.
    package func order(at index: Int, _ name: UnsafeRawBufferPointer) -> Int {
        withName(at: index) { $0.order(to: name) }
    }

    /// Lends the name's bytes, which must not be kept.
    package func withName<Result>(at index: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let start = index == 0 ? 0 : Int(ends[index - 1])
        let end = Int(ends[index])
        return names.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<end])) }
    }

    /// The full name of the ref at `index`.
    package func name(at index: Int) -> String {
        withName(at: index) { String(decoding: $0, as: UTF8.self) }
    }

    /// The commit or tag of the ref at `index`.
    package func id(at index: Int) -> OID { ids[index] }
}

extension RefTable: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { ids.count }
    public subscript(index: Int) -> (key: String, value: OID) { (name(at: index), ids[index]) }
}

extension RefTable: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral refs: (String, OID)...) { self.init(refs.lazy.map { (key: $0.0, value: $0.1) }) }
}

extension UnsafeRawBufferPointer {
    /// Like memcmp(3), with a prefix before the longer name: the order of Git and of SQLite.
    package func order(to other: UnsafeRawBufferPointer) -> Int {
        let shared = Swift.min(count, other.count)
        if shared > 0, let one = baseAddress, let two = other.baseAddress {
            let order = memcmp(one, two, shared)
            if order != 0 { return Int(order) }
        }
        return count - other.count
    }
}
