/// The parts of a form that a browser sends with files: `multipart/form-data`.
/// https://www.rfc-editor.org/rfc/rfc7578, https://www.rfc-editor.org/rfc/rfc2046#section-5.1
package struct MultipartForm: Sendable, Equatable {
    /// One field or file.
    package struct Part: Sendable, Equatable {
        /// The name of the field.
        package var name: String
        /// The name of the file, without its folders; nil for a field without one.
        package var file: String?
        package var bytes: [UInt8]
    }

    /// Why a body is no such form, as a sentence without its full stop.
    package struct Problem: Error, Equatable {
        package var reason: String
    }

    /// The most parts of a form.
    package static let mostParts = 40
    private static let mostHeaderBytes = 8_192
    private static let mostNameBytes = 255

    package private(set) var parts: [Part] = []

    /// - Parameter type: The `Content-Type` of the body.
    package init(_ body: [UInt8], type: String) throws(Problem) {
        guard let boundary = Self.boundary(type) else { throw Problem(reason: "the form names no boundary") }
        let mark = Array("--\(boundary)".utf8)
        guard body.starts(with: mark) else { throw Self.unreadable }
        var rest = body[mark.count...]
        while true {
            // After the last mark are two hyphens, after another one a line end.
            if rest.starts(with: [0x2D, 0x2D]) { return }
            guard rest.starts(with: Self.lineEnd) else { throw Self.unreadable }
            rest = rest.dropFirst(2)
            guard parts.count < Self.mostParts else {
                throw Problem(reason: "the form has more than \(Self.mostParts) fields")
            }
            let header = rest.prefix(Self.mostHeaderBytes)
            // A part without a header begins with an empty line.
            guard let gap = Self.place(of: Self.lineEnd + Self.lineEnd, in: header),
                let (name, file) = Self.names(header[..<gap])
            else { throw Self.unreadable }
            rest = rest[(gap + 4)...]
            guard let end = Self.place(of: Self.lineEnd + mark, in: rest) else { throw Self.unreadable }
            parts.append(Part(name: name, file: file, bytes: Array(rest[..<end])))
            rest = rest[(end + 2 + mark.count)...]
        }
    }

    private static let lineEnd: [UInt8] = [0x0D, 0x0A]
    private static let unreadable = Problem(reason: "the form can't be read; load its page again")

    /// The boundary of a `Content-Type`; nil for another type, and for a boundary that no browser makes.
    private static func boundary(_ type: String) -> String? {
        let fields = type.split(separator: ";").map { trimmed($0) }
        guard fields.first?.lowercased() == "multipart/form-data" else { return nil }
        for field in fields.dropFirst() where field.lowercased().hasPrefix("boundary=") {
            var value = field.dropFirst("boundary=".count)
            if value.count > 1, value.hasPrefix("\""), value.hasSuffix("\"") { value = value.dropFirst().dropLast() }
            let isPlain = value.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                    || "'()+_,-./:=?".utf8.contains($0)
            }
            return isPlain && (1...70).contains(value.utf8.count) ? String(value) : nil
        }
        return nil
    }

    /// The names in the header of a part; nil where it has none, or text that is no UTF-8.
    private static func names(_ header: ArraySlice<UInt8>) -> (name: String, file: String?)? {
        guard let text = String(validating: header, as: UTF8.self) else { return nil }
        for line in text.split(separator: "\r\n") {
            guard let colon = line.firstIndex(of: ":"), trimmed(line[..<colon]).lowercased() == "content-disposition"
            else { continue }
            guard let values = parameters(of: line[line.index(after: colon)...]), let name = values["name"],
                !name.isEmpty, name.utf8.count <= mostNameBytes
            else { return nil }
            guard let file = values["filename"] else { return (name, nil) }
            let last = file.split { $0 == "/" || $0 == "\\" }.last.map(String.init) ?? ""
            guard last.utf8.count <= mostNameBytes, last != "..", last != "." else { return nil }
            return (name, last)
        }
        return nil
    }

    /// The values of `form-data; key="…"; key="…"`. Browsers write `%22` for a quote in a value.
    private static func parameters(of text: Substring) -> [String: String]? {
        var rest = text.drop { $0 == " " }
        guard rest.lowercased().hasPrefix("form-data") else { return nil }
        rest = rest.dropFirst("form-data".count)
        var values: [String: String] = [:]
        while true {
            rest = rest.drop { $0 == " " || $0 == "\t" }
            guard !rest.isEmpty else { return values }
            guard rest.first == ";" else { return nil }
            rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
            let key = rest.prefix { $0 != "=" }
            rest = rest.dropFirst(key.count)
            guard rest.hasPrefix("=\"") else { return nil }
            let value = rest.dropFirst(2).prefix { $0 != "\"" }
            rest = rest.dropFirst(2 + value.count)
            guard rest.first == "\"", !value.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
            else { return nil }
            rest = rest.dropFirst()
            let plain = value.replacing("%22", with: "\"").replacing("%0D", with: " ").replacing("%0A", with: " ")
            guard values.updateValue(String(plain), forKey: key.lowercased()) == nil else { return nil }
        }
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        String(text.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }

    /// Where `wanted`, which begins with CR, is in `bytes` first.
    private static func place(of wanted: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        var start = bytes.startIndex
        while let found = bytes[start...].firstIndex(of: wanted[0]) {
            if bytes[found...].starts(with: wanted) { return found }
            start = found + 1
        }
        return nil
    }
}
