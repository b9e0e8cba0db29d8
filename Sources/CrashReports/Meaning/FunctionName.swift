import ForeignText

/// The part of a function's name that stays the same over builds, platforms and styles of demangling.
///
/// `static Shop.Cart.total(in: Shop.Currency) throws -> Swift.Int` and `Cart.total(in:)` both give `Cart.total`.
enum FunctionName {
    /// - Parameter image: The name of the image, which often is that of the module.
    static func stable(_ name: String, image: String?) -> String {
        var text = name
        if let block = objectiveC(text) { return block }
        text = withoutPrefixes(text)
        text = text.replacing("(anonymous namespace)::", with: "").replacing("`anonymous namespace'::", with: "")
        text = withoutDiscriminators(text)
        text = withoutBrackets(text)
        for cut in [" -> ", " : ", " + ", " throws", " async", " const", " [", " where "] {
            if let range = text.byteRange(of: cut), range.lowerBound > text.startIndex {
                text = String(text[..<range.lowerBound])
            }
        }
        text = text.trimmed
        if text.contains("::"), !text.contains("operator"), let space = text.lastIndex(of: " "),
            !text.contains("closure")
        {
            // A template's name begins with the type that it returns.
            text = String(text[text.index(after: space)...])
        }
        // Only the long style has types, and every name in it begins with its module.
        let isLong = name.byteRange(of: " -> ") != nil || name.byteRange(of: "Swift.") != nil
        return withoutModule(text, image, isLong: isLong).trimmed
    }

    /// `__64-[UIScene update:]_block_invoke.215` as `-[UIScene update:] block`; nil if it is no Objective-C.
    private static func objectiveC(_ name: String) -> String? {
        var text = name[...]
        var isBlock = false
        if let range = text.byteRange(of: "_block_invoke") {
            isBlock = true
            text = text[..<range.lowerBound]
            text = text.drop { $0 == "_" }
            if let method = text.firstIndex(where: { $0 == "-" || $0 == "+" }), text[..<method].allSatisfy(\.isNumber) {
                text = text[method...]
            }
        }
        guard text.hasPrefix("-[") || text.hasPrefix("+[") else { return isBlock ? "\(text) block" : nil }
        var result = String(text)
        // The name of a category says nothing.
        if let open = result.firstIndex(of: "("), let close = result[open...].firstIndex(of: ")"),
            result[..<open].allSatisfy({ $0 != " " })
        {
            result.removeSubrange(open...close)
        }
        if let end = result.firstIndex(of: "]") { result = String(result[...end]) }
        return isBlock ? result + " block" : result
    }

    private static func withoutPrefixes(_ name: String) -> String {
        var rest = name[...]
        var closures = ""
        while true {
            if let prefix = prefixes.first(where: { rest.hasPrefix($0) }) {
                rest = rest.dropFirst(prefix.count)
            } else if rest.hasPrefix("generic ") || rest.hasPrefix("function signature ") || rest.hasPrefix("(") {
                // `generic specialization <A, B> of f`, `(2) suspend resume partial function for f`
                guard
                    let end = [" of ", " for "].compactMap({ rest.byteRange(of: $0) }).min(by: {
                        $0.lowerBound < $1.lowerBound
                    })
                else { break }
                rest = rest[end.upperBound...]
            } else if let kind = inner.first(where: { rest.hasPrefix($0) }), let end = rest.byteRange(of: " in ") {
                if closures.isEmpty { closures = kind + "in " }
                rest = rest[end.upperBound...]
            } else {
                break
            }
        }
        if let conformance = rest.byteRange(of: " in conformance ") { rest = rest[..<conformance.lowerBound] }
        return closures + rest
    }

    /// `Backtrace.(print in _B82A8C0E)(signal:)` as `Backtrace.print(signal:)`.
    private static func withoutDiscriminators(_ name: String) -> String {
        guard let range = name.byteRange(of: " in _"), let open = name[..<range.lowerBound].lastIndex(of: "("),
            let close = name[range.upperBound...].firstIndex(of: ")")
        else { return name }
        return String(
            name[..<open] + name[name.index(after: open)..<range.lowerBound] + name[name.index(after: close)...])
    }

    /// Without what is between round and angle brackets; an arrow and an operator keep theirs.
    private static func withoutBrackets(_ name: String) -> String {
        let bytes = Array(name.utf8)
        guard bytes.contains(0x28) || bytes.contains(0x3C) else { return name }
        var result: [UInt8] = []
        var depth = 0
        for (index, byte) in bytes.enumerated() {
            let isArrow = byte == 0x3E && index > 0 && bytes[index - 1] == 0x2D
            switch byte {
            case 0x28: depth += 1
            case 0x3C where !name.contains("operator<"): depth += 1
            case 0x29: depth = max(0, depth - 1)
            case 0x3E where !isArrow && depth > 0: depth -= 1
            default: if depth == 0 { result.append(byte) }
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func withoutModule(_ name: String, _ image: String?, isLong: Bool) -> String {
        let closure = inner.map { $0 + "in " }.first { name.hasPrefix($0) } ?? ""
        let rest = name.dropFirst(closure.count)
        guard let dot = rest.firstIndex(of: "."), !name.contains("::") else { return name }
        let module = String((image ?? "").prefix { $0 != "." }.map { $0.isLetter || $0.isNumber ? $0 : "_" })
        return isLong || rest[..<dot] == module ? closure + rest[rest.index(after: dot)...] : name
    }

    /// What the compiler makes of a function.
    private static let prefixes = [
        "specialized ", "merged ", "@objc ", "@nonobjc ", "static ", "class ", "partial apply for ", "dynamic ",
        "partial apply forwarder for ", "protocol witness for ", "implicit ", "inlined ", "[inlined] ",
        "reabstraction ",
        "@autoclosure ", "override ", "distributed ", "vtable thunk for ", "@convention(thin) ",
        "non-virtual thunk to ",
        "virtual thunk to ",
    ]
    private static let inner = ["closure ", "defer ", "local "]
}
