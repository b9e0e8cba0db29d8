internal import Foundation

/// JSON as the archive keeps it: keys sorted, dates in ISO 8601 with milliseconds, in UTC.
enum ArchiveJSON {
    static func pretty(_ value: some Encodable) throws -> [UInt8] {
        let encoder = encoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return Array(try encoder.encode(value)) + [0x0A]
    }

    static func compactText(_ value: some Encodable) throws -> String {
        let encoder = encoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try decoder().decode(type, from: Data(bytes))
    }

    static func decode<Value: Decodable>(_ type: Value.Type, from text: String) throws -> Value {
        try decoder().decode(type, from: Data(text.utf8))
    }

    private static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(date.iso8601)
        }
        return encoder
    }

    private static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            if let date = Date(iso8601: text) { return date }
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "\"\(text)\" is no time; it must look like 2026-08-01T12:00:00.000Z.")
        }
        return decoder
    }
}

extension Date {
    /// Since 1970, rounded to the nearest: the resolution of everything the archive keeps.
    var milliseconds: Int64 { Int64((timeIntervalSince1970 * 1000).rounded()) }

    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }

    var wholeMilliseconds: Date { Date(milliseconds: milliseconds) }

    /// `2026-08-01T12:00:00.000Z`. By whole numbers, since Foundation's style cuts .123 to .122 where a `Double` falls short.
    var iso8601: String {
        let total = milliseconds
        let (days, inDay) = (total.flooredQuotient(86_400_000), total.flooredRemainder(86_400_000))
        let (year, month, day) = Self.civil(daysSince1970: days)
        let second = inDay / 1000
        let clock = [second / 3600, second / 60 % 60, second % 60].map { Self.padded($0, 2) }.joined(separator: ":")
        return "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))T\(clock)."
            + "\(Self.padded(inDay % 1000, 3))Z"
    }

    init?(iso8601 text: String) {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
        guard let date = try? style.parse(text) else { return nil }
        self = date.wholeMilliseconds
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// Howard Hinnant's `civil_from_days`: years are counted from March, so that the leap day comes last.
    private static func civil(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted.flooredQuotient(146_097)
        let dayOfEra = shifted.flooredRemainder(146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}

extension Int64 {
    fileprivate func flooredQuotient(_ divisor: Int64) -> Int64 { (self - flooredRemainder(divisor)) / divisor }
    fileprivate func flooredRemainder(_ divisor: Int64) -> Int64 { ((self % divisor) + divisor) % divisor }
}
