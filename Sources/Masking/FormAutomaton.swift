/// All forms of all secrets as one Aho–Corasick automaton over bytes (Aho and Corasick, CACM 18(6), 1975).
///
/// States are numbered by depth. So the children of a state have consecutive numbers, and the states that are visited
/// often come first. Those have a table row with an entry for each byte. The deep states, of which a long secret makes
/// a million, only have their children and a fallback state.
struct FormAutomaton: Sendable {
    /// Set in an entry of ``table`` whose state has an output.
    static let outputFlag: UInt32 = 1 << 31
    /// The most entries of ``table``: 2 MiB, which fit into a processor's cache.
    private static let tableLimit = 1 << 19

    /// The class of each byte. Bytes that no form distinguishes share a class.
    let classes: [UInt8]
    /// A row of the table has 2 to the power of this many entries.
    let rowBits: Int
    /// The next state, for the first ``rows`` states and each class.
    let table: [UInt32]
    let rows: Int
    /// The number of each state's first child. The children end where those of the next state begin.
    let firstChild: [UInt32]
    /// The byte that leads to each state.
    let entry: [UInt8]
    /// For each state: the longest other state whose text is a suffix of this state's text.
    let fallback: [UInt32]
    /// The distance of each state from the root, in bytes: the length of the text that may become a form.
    let depth: [UInt32]
    /// The length, in bytes, of the longest form that ends in each state; 0 if none does.
    let outputLength: [UInt32]
    /// The number of the secret that this form belongs to.
    let outputOwner: [UInt16]

    /// - Parameter forms: Case-folded and sorted, each with its secret's number.
    init(_ forms: [(bytes: [UInt8], owner: UInt16)]) {
        let trie = Trie(forms)
        let count = trie.depth.count
        (firstChild, entry, depth) = (trie.firstChild, trie.entry, trie.depth)
        var fallback = [UInt32](repeating: 0, count: count)
        var length = trie.isForm.indices.map { trie.isForm[$0] ? trie.depth[$0] : 0 }
        var owner = trie.owner
        fallback.withUnsafeMutableBufferPointer { fallback in
            length.withUnsafeMutableBufferPointer { length in
                owner.withUnsafeMutableBufferPointer { owner in
                    for state in 1..<max(count, 1) {
                        let parent = Int(trie.parent[state])
                        var end = Int(fallback[parent])
                        if parent != 0 {
                            var found = trie.child(of: end, trie.entry[state])
                            while found == nil && end != 0 {
                                end = Int(fallback[end])
                                found = trie.child(of: end, trie.entry[state])
                            }
                            fallback[state] = UInt32(found ?? 0)
                        }
                        if length[state] == 0 {
                            let shorter = Int(fallback[state])
                            (length[state], owner[state]) = (length[shorter], owner[shorter])
                        }
                    }
                }
            }
        }
        (self.fallback, outputLength, outputOwner) = (fallback, length, owner)

        var isUsed = [Bool](repeating: false, count: 256)
        for state in 1..<max(count, 1) { isUsed[Int(trie.entry[state])] = true }
        // Class 0 is for the bytes that are in no form, if there are any.
        var next = isUsed.allSatisfy { $0 } ? 0 : 1
        var classes = [UInt8](repeating: 0, count: 256)
        for byte in 0..<256 where isUsed[byte] {
            classes[byte] = UInt8(next)
            next += 1
        }
        for byte in UInt8(ascii: "A")...UInt8(ascii: "Z") { classes[Int(byte)] = classes[Int(byte.caseFolded)] }
        self.classes = classes
        var bits = 0
        while 1 << bits < next { bits += 1 }
        let rows = min(count, max(FormAutomaton.tableLimit >> bits, 1))
        (rowBits, self.rows) = (bits, rows)
        var table = [UInt32](repeating: 0, count: rows << bits)
        table.withUnsafeMutableBufferPointer { table in
            for state in 0..<rows {
                let row = state << bits
                let from = Int(fallback[state]) << bits
                if state > 0 { for column in 0..<(1 << bits) { table[row + column] = table[from + column] } }
                for child in trie.firstChild[state]..<trie.firstChild[state + 1] {
                    let flag = length[Int(child)] > 0 ? FormAutomaton.outputFlag : 0
                    table[row + Int(classes[Int(trie.entry[Int(child)])])] = child | flag
                }
            }
        }
        self.table = table
    }

    /// The state after a byte. The flag is the same as in ``table``.
    func next(after state: UInt32, _ byte: UInt8) -> UInt32 {
        var state = Int(state)
        let byte = byte.caseFolded
        while state >= rows {
            for child in firstChild[state]..<firstChild[state + 1] where entry[Int(child)] == byte {
                return child | (outputLength[Int(child)] > 0 ? FormAutomaton.outputFlag : 0)
            }
            state = Int(fallback[state])
        }
        return table[state << rowBits | Int(classes[Int(byte)])]
    }
}

/// The forms as a tree, with states numbered by depth.
private struct Trie {
    var parent: [UInt32] = []
    var entry: [UInt8] = []
    var depth: [UInt32] = []
    var isForm: [Bool] = []
    var owner: [UInt16] = []
    var firstChild: [UInt32] = []

    init(_ forms: [(bytes: [UInt8], owner: UInt16)]) {
        // First in the order of the sorted forms: each form starts from the prefix that it shares with the previous
        // one.
        var path: [UInt32] = [0]
        var parents: [UInt32] = [0]
        var entries: [UInt8] = [0]
        var depths: [UInt32] = [0]
        var ends: [UInt32: UInt16] = [:]
        var last: [UInt8] = []
        for (bytes, owner) in forms {
            var shared = 0
            let most = min(bytes.count, last.count)
            while shared < most && bytes[shared] == last[shared] { shared += 1 }
            path.removeSubrange((shared + 1)...)
            for position in shared..<bytes.count {
                parents.append(path[position])
                entries.append(bytes[position])
                depths.append(UInt32(position + 1))
                path.append(UInt32(parents.count - 1))
            }
            if let end = path.last, ends[end] == nil { ends[end] = owner }
            last = bytes
        }
        // Sorting by depth is stable, so the children of a state stay together.
        let count = parents.count
        var starts = [Int](repeating: 0, count: Int(depths.max() ?? 0) + 2)
        for depth in depths { starts[Int(depth) + 1] += 1 }
        for depth in 1..<starts.count { starts[depth] += starts[depth - 1] }
        var number = [UInt32](repeating: 0, count: count)
        for state in 0..<count {
            let depth = Int(depths[state])
            number[state] = UInt32(starts[depth])
            starts[depth] += 1
        }
        parent = Array(repeating: 0, count: count)
        entry = Array(repeating: 0, count: count)
        depth = Array(repeating: 0, count: count)
        isForm = Array(repeating: false, count: count)
        owner = Array(repeating: 0, count: count)
        firstChild = Array(repeating: 0, count: count + 1)
        for state in 0..<count {
            let new = Int(number[state])
            parent[new] = number[Int(parents[state])]
            entry[new] = entries[state]
            depth[new] = depths[state]
            if state > 0 { firstChild[Int(number[Int(parents[state])]) + 1] += 1 }
        }
        for (state, secret) in ends {
            isForm[Int(number[Int(state)])] = true
            owner[Int(number[Int(state)])] = secret
        }
        // The root is state 0, and its first child state 1.
        firstChild[0] = 1
        for state in 1...count { firstChild[state] += firstChild[state - 1] }
    }

    func child(of state: Int, _ byte: UInt8) -> Int? {
        for child in Int(firstChild[state])..<Int(firstChild[state + 1]) where entry[child] == byte { return child }
        return nil
    }
}
