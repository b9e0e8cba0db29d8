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
