#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads the text of Swift files. pipectl itself parses none: the text is untrusted, and a parser is large.
public protocol SwiftSourceReader: Sendable {
    /// Returns the facts of each source, in order. A source is a failure if it was not read by the deadline, or if the
    /// reader crashed on it.
    func read(
        _ sources: [SwiftSource], before deadline: ContinuousClock.Instant
    ) async -> [Result<SwiftFileFacts, UnreadableSource>]
}

/// One Swift file to read.
public struct SwiftSource: Sendable {
    /// What to look for in the file.
    package enum Scope: String, Sendable {
        /// Tests, their helpers, and the outline.
        case tests
        /// Names and classes that tests in other files may use.
        case outline
        /// The test targets of a package.
        case manifest
    }

    package var scope: Scope
    /// The content as Git has it; not necessarily UTF-8.
    package var bytes: [UInt8]

    package init(_ scope: Scope, _ bytes: [UInt8]) {
        self.scope = scope
        self.bytes = bytes
    }
}

/// Why a file was not read.
public struct UnreadableSource: Error, Sendable, Equatable, Codable {
    /// From 1.
    package var line: Int?
    package var message: String

    package init(line: Int? = nil, _ message: String) {
        self.line = line
        self.message = message
    }
}

/// The protocol between pipectl and `swift-reader`. A request is, for each file, a line `SCOPE BYTES` and the bytes.
/// The answer is, for each file in order, a line of JSON.
package enum SwiftReaderProtocol {
    /// One line of the answer.
    private struct Answer: Codable {
        var facts: SwiftFileFacts?
        var problem: UnreadableSource?
    }

    package static func request(_ sources: some Sequence<SwiftSource>) -> [UInt8] {
        sources.reduce(into: []) { request, source in
            request += Array("\(source.scope.rawValue) \(source.bytes.count)\n".utf8)
            request += source.bytes
        }
    }

    /// The files of a request; nil if it is malformed.
    package static func sources(of request: [UInt8]) -> [SwiftSource]? {
        var sources: [SwiftSource] = []
        var left = request[...]
        while let end = left.firstIndex(of: UInt8(ascii: "\n")) {
            let words = String(decoding: left[..<end], as: UTF8.self).split(separator: " ")
            guard words.count == 2, let scope = SwiftSource.Scope(rawValue: String(words[0])),
                let count = Int(words[1]), count >= 0, count <= left.endIndex - end - 1
            else { return nil }
            sources.append(SwiftSource(scope, Array(left[(end + 1)..<(end + 1 + count)])))
            left = left[(end + 1 + count)...]
        }
        return left.isEmpty ? sources : nil
    }

    /// The line of the answer for one file, with its line feed.
    package static func line(_ result: Result<SwiftFileFacts, UnreadableSource>) -> [UInt8] {
        let answer =
            switch result {
            case .success(let facts): Answer(facts: facts)
            case .failure(let problem): Answer(problem: problem)
            }
        guard let json = try? JSONEncoder().encode(answer) else { return Array("{}\n".utf8) }
        return Array(json) + [UInt8(ascii: "\n")]
    }

    /// The results of an answer's complete lines, up to the first malformed line.
    package static func results(of answer: [UInt8]) -> [Result<SwiftFileFacts, UnreadableSource>] {
        var results: [Result<SwiftFileFacts, UnreadableSource>] = []
        var left = answer[...]
        while let end = left.firstIndex(of: UInt8(ascii: "\n")) {
            guard let answer = try? JSONDecoder().decode(Answer.self, from: Data(left[..<end])) else { break }
            if let facts = answer.facts, facts.isPlausible {
                results.append(.success(facts))
            } else if let problem = answer.problem, problem.message.utf8.count <= 1_000, (problem.line ?? 1) >= 1 {
                results.append(.failure(problem))
            } else {
                break
            }
            left = left[(end + 1)...]
        }
        return results
    }
}
