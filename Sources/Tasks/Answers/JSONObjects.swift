import ForeignText

/// Finds JSON in what a program prints.
enum JSONObjects {
    /// The objects that begin a line, with text between them. The time is linear: text that breaks off is not read twice.
    ///
    /// - Parameter valueBytes: The most bytes that are kept of one string.
    static func beginningLines(of bytes: [UInt8], valueBytes: Int) -> [JSONValue] {
        var chunk = bytes
        var source = ByteSource {
            defer { chunk = [] }
            return chunk
        }
        var objects: [JSONValue] = []
        while true {
            var walk = JSONWalk(JSONTokenizer(source, valueLimit: valueBytes, depth: 64))
            walk.skip(toList: false)
            switch walk.next() {
            case .value(_, let token):
                if let value = walk.take(token) { objects.append(value) }
            case .finished: return objects
            case .leave, .broken: break
            }
            source = walk.tokens.source
            // What follows on the line belongs to the object, or to broken text.
            _ = source.nextLine(limit: 0)
            guard source.peek() != nil else { return objects }
        }
    }
}
