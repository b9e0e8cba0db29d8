internal import Foundation

/// The protocol between commands and the daemon: one JSON object a line, in both directions.
///
///     {"request":…,"version":1}
///     {"reply":…,"version":1}          any number of them, then one of
///     {"end":true,"version":1}
///     {"error":{"code":…,"message":…},"version":1}
enum Envelope {
    static let version = 1

    struct Question<Request: Codable & Sendable>: Codable, Sendable {
        var version = Envelope.version
        var request: Request
    }

    struct Answer<Response: Codable & Sendable>: Codable, Sendable {
        var version = Envelope.version
        var reply: Response?
        var error: DaemonError?
        var end: Bool?
    }

    /// An answer line without a reply, the same for every `Response`.
    typealias Closing = Answer<Bool>

    private struct VersionOnly: Decodable { var version: Int }

    /// One line of `value`, its newline included.
    static func line(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try Array(encoder.encode(value)) + [UInt8(ascii: "\n")]
    }

    static func line(_ error: DaemonError) -> [UInt8] {
        // Two strings and a number always encode.
        (try? line(Closing(error: error))) ?? []
    }

    static func question<Request>(_ line: [UInt8]) throws(DaemonError) -> Request
    where Request: Codable & Sendable {
        do {
            let question = try JSONDecoder().decode(Question<Request>.self, from: Data(line))
            if question.version == version { return question.request }
            throw otherVersion(question.version, isDaemon: false)
        } catch let error as DaemonError {
            throw error
        } catch {
            if let other = foreignVersion(line) { throw otherVersion(other, isDaemon: false) }
            throw DaemonError(
                .badRequest,
                "This line of \(line.count) bytes is not a request: \(reason(error)). Send one JSON object per line, "
                    + "{\"request\":...,\"version\":\(version)}, or use the pipectl command.")
        }
    }

    static func answer<Response>(_ line: [UInt8]) throws(DaemonError) -> Answer<Response>
    where Response: Codable & Sendable {
        do {
            let answer = try JSONDecoder().decode(Answer<Response>.self, from: Data(line))
            if answer.version == version { return answer }
            throw otherVersion(answer.version, isDaemon: true)
        } catch let error as DaemonError {
            throw error
        } catch {
            if let other = foreignVersion(line) { throw otherVersion(other, isDaemon: true) }
            throw DaemonError(
                .badRequest,
                "The daemon sent a line of \(line.count) bytes that is not an answer: \(reason(error)). "
                    + "Restart the daemon with the same pipectl as this one.")
        }
    }

    private static func foreignVersion(_ line: [UInt8]) -> Int? {
        let found = try? JSONDecoder().decode(VersionOnly.self, from: Data(line)).version
        return found == version ? nil : found
    }

    private static func otherVersion(_ other: Int, isDaemon: Bool) -> DaemonError {
        let (daemon, command) = isDaemon ? (other, version) : (version, other)
        return DaemonError(
            .otherVersion,
            "The daemon speaks version \(daemon) of its protocol, this command version \(command). "
                + "Restart the daemon with the same pipectl as the command.")
    }

    /// Why decoding failed, without a byte of what was sent: it may not be fit for a terminal.
    private static func reason(_ error: any Error) -> String {
        switch error as? DecodingError {
        case .keyNotFound(let key, _)?: "the field \"\(key.stringValue)\" is missing"
        case .typeMismatch(let type, let context)?: "\(place(context)) is not a \(type)"
        case .valueNotFound(let type, let context)?: "\(place(context)) is null and must be a \(type)"
        case .dataCorrupted(let context)? where !context.codingPath.isEmpty: "\(place(context)) is not valid"
        default: "it is not valid JSON"
        }
    }

    private static func place(_ context: DecodingError.Context) -> String {
        let path = context.codingPath.filter { !$0.stringValue.isEmpty }
        // Keys that are ours by type or the sender's by dictionary: only plain ones are repeated.
        let isPlain = path.allSatisfy { key in
            key.stringValue.utf8.count <= 64 && key.stringValue.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
        }
        return path.isEmpty || !isPlain ? "a value" : "\"\(path.map(\.stringValue).joined(separator: "."))\""
    }
}
