import Foundation

/// Values as the JSON of headers.
package enum Wire {
    package static func bytes(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        // The exact value, not one that was rounded: it is compared with stamps of files.
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(date.timeIntervalSinceReferenceDate.bitPattern)
        }
        return [UInt8](try encoder.encode(value))
    }

    package static func value<Value: Decodable>(_ type: Value.Type = Value.self, from bytes: [UInt8]) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let bits = try decoder.singleValueContainer().decode(UInt64.self)
            return Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits))
        }
        return try decoder.decode(type, from: Data(bytes))
    }
}

extension KeyedDecodingContainer {
    /// A number that the other side may have made up.
    ///
    /// - Throws: `DecodingError` for one that is out of the range.
    func decode<Number: Decodable & Numeric & Comparable>(
        _ key: Key, in range: ClosedRange<Number>
    ) throws -> Number {
        try checked(try decode(Number.self, forKey: key), key, range)
    }

    /// The same; nil if there is none.
    func decodeIfPresent<Number: Decodable & Numeric & Comparable>(
        _ key: Key, in range: ClosedRange<Number>
    ) throws -> Number? {
        try decodeIfPresent(Number.self, forKey: key).map { try checked($0, key, range) }
    }

    private func checked<Number: Numeric & Comparable>(
        _ number: Number, _ key: Key, _ range: ClosedRange<Number>
    ) throws -> Number {
        guard range.contains(number) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "\(number) is not one of \(range)")
        }
        return number
    }
}
