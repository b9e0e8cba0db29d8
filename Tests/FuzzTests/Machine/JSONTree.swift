import Foundation

/// JSON whose values can be changed one by one, so that the result is still JSON.
indirect enum JSONTree: Decodable {
    case object([(key: String, value: JSONTree)])
    case array([JSONTree])
    case text(String)
    case number(String)
    case flag(Bool)
    case null

    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        if let object = try? decoder.container(keyedBy: Key.self) {
            self = .object(
                try object.allKeys.sorted { $0.stringValue < $1.stringValue }
                    .map { ($0.stringValue, try object.decode(JSONTree.self, forKey: $0)) })
        } else if var array = try? decoder.unkeyedContainer() {
            var elements: [JSONTree] = []
            while !array.isAtEnd { elements.append(try array.decode(JSONTree.self)) }
            self = .array(elements)
        } else {
            let value = try decoder.singleValueContainer()
            if value.decodeNil() {
                self = .null
            } else if let flag = try? value.decode(Bool.self) {
                self = .flag(flag)
            } else if let number = try? value.decode(Int.self) {
                self = .number(String(number))
            } else if let number = try? value.decode(Double.self) {
                self = .number("\(number)")
            } else {
                self = .text(try value.decode(String.self))
            }
        }
    }

    var count: Int {
        switch self {
        case .object(let members): members.reduce(1) { $0 + $1.value.count }
        case .array(let elements): elements.reduce(1) { $0 + $1.count }
        default: 1
        }
    }

    /// All texts of the document: a name is most dangerous in the place of another.
    var texts: [String] {
        switch self {
        case .object(let members): members.flatMap { $0.value.texts }
        case .array(let elements): elements.flatMap(\.texts)
        case .text(let text): [text]
        default: []
        }
    }

    func print(to bytes: inout [UInt8]) {
        switch self {
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                JSONTree.text(member.key).print(to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.print(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.print(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .text(let text):
            bytes.append(UInt8(ascii: "\""))
            for byte in text.utf8 {
                if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                    let digits = String(byte, radix: 16)
                    bytes += Array("\\u00\(digits.count < 2 ? "0" : "")\(digits)".utf8)
                } else {
                    bytes.append(byte)
                }
            }
            bytes.append(UInt8(ascii: "\""))
        case .number(let digits): bytes += Array(digits.utf8)
        case .flag(let flag): bytes += Array(flag ? "true".utf8 : "false".utf8)
        case .null: bytes += Array("null".utf8)
        }
    }
}
