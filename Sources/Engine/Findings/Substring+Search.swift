extension Substring {
    /// Where `words` begin and end, by bytes: a log has many lines, and comparing characters costs a hundred times as much.
    func place(of words: String) -> Range<Index>? {
        let needle = Array(words.utf8)
        guard let first = needle.first else { return nil }
        let bytes = utf8
        var start = bytes.startIndex
        while let found = bytes[start...].firstIndex(of: first) {
            if let end = bytes.index(found, offsetBy: needle.count, limitedBy: bytes.endIndex),
                bytes[found..<end].elementsEqual(needle)
            {
                return found..<end
            }
            start = bytes.index(after: found)
        }
        return nil
    }
}
