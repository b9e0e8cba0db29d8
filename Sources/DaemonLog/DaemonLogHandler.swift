public import Foundation
public import Logging
import Results
import TerminalText

/// How the daemon writes its log.
public enum LogFormat: String, Sendable, CaseIterable {
    /// `14:03:22 warning: …`
    case text
    /// An object in each line.
    case json
}

/// Writes the daemon's log, a line for each event.
public struct DaemonLogHandler: LogHandler {
    public var logLevel = Logger.Level.notice
    public var metadata: Logger.Metadata = [:]
    private let format: LogFormat
    private let write: @Sendable (String) -> Void

    /// - Parameter write: Gets each line, without the line break at its end.
    public init(_ format: LogFormat, write: @escaping @Sendable (String) -> Void) {
        self.format = format
        self.write = write
    }

    public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    public func log(event: LogEvent) {
        switch format {
        case .text: write(Self.line(Date(), event.level, "\(event.message)"))
        case .json:
            write(
                Self.object(
                    Date(), event.level, "\(event.message)",
                    metadata.merging(event.metadata ?? [:]) { $1 }))
        }
    }

    /// A line for people. Messages may contain names of branches and other foreign text; control characters are made
    /// visible here, so that no caller can forget it.
    public static func line(_ time: Date, _ level: Logger.Level, _ message: String) -> String {
        let start = time.iso8601Time
        return "\(start)\(level >= .warning ? " \(level.rawValue):" : "") \(TerminalText.lines(message))"
    }

    /// A line for programs: a JSON object with `time`, `level`, `event` and `message`, and where they are known `run` (a
    /// number), `repository` and what else the event has. A line of another library has the event `other`.
    public static func object(
        _ time: Date, _ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata
    ) -> String {
        let line = Line(time: time, level: level, message: message, metadata: metadata)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts, numbers and nothing else: what can't be encoded is only a number that is none, and there is no fraction.
        guard let bytes = try? encoder.encode(line) else { return "{}" }
        return Self.visible(String(decoding: bytes, as: UTF8.self))
    }

    /// JSON escapes the controls of ASCII. The others act on terminals, too, and logs are read with `tail`.
    private static func visible(_ json: String) -> String {
        guard json.unicodeScalars.contains(where: isHidden) else { return json }
        return json.unicodeScalars.reduce(into: "") { text, scalar in
            guard isHidden(scalar) else { return text.unicodeScalars.append(scalar) }
            for unit in UTF16.encode(scalar) ?? .init() { text += "\\u" + hex(unit) }
        }
    }

    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    private static func hex(_ unit: UInt16) -> String {
        let digits = String(unit, radix: 16)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }
}

/// One line, as it is encoded.
private struct Line: Encodable {
    let time: Date
    let level: Logger.Level
    let message: String
    let metadata: Logger.Metadata

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        func put(_ value: some Encodable, _ name: String) throws {
            try container.encode(value, forKey: Name(stringValue: name))
        }
        try put("other", LogField.event)
        for (name, value) in metadata {
            if case .stringConvertible(let number) = value, let number = number as? Int64 {
                try put(number, name)
            } else {
                try put("\(value)", name)
            }
        }
        // Last, so that no fact can take their names.
        try put(time.iso8601, LogField.time)
        try put(level.rawValue, LogField.level)
        try put(message, LogField.message)
    }
}
