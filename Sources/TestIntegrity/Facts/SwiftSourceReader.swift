#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Reads the text of Swift files. pipectl itself parses none: the text is foreign, a parser is large.
public protocol SwiftSourceReader: Sendable {
    /// The facts of each source, in order. What is not read by the deadline is a failure, and so is what the reader
    /// crashed on.
    func read(
        _ sources: [SwiftSource], before deadline: ContinuousClock.Instant
    ) async -> [Result<SwiftFileFacts, UnreadableSource>]
}

/// One Swift file to read.
public struct SwiftSource: Sendable {
    /// What is wanted of it.
    package enum Scope: String, Sendable {
        /// Tests, their helpers, and the outline.
        case tests
        /// Names and classes that tests elsewhere may meet.
        case outline
        /// The test targets of a package.
        case manifest
    }

    package var scope: Scope
    /// As Git has them, in UTF-8 or not.
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

/// What pipectl and `swift-reader` say to each other: for each file a line `SCOPE BYTES` and the bytes; for each file, in
/// order, a line of JSON.
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

    /// The files of a request; nil where it is none.
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

    /// The line that answers for one file, with its line feed.
    package static func line(_ result: Result<SwiftFileFacts, UnreadableSource>) -> [UInt8] {
        let answer =
            switch result {
            case .success(let facts): Answer(facts: facts)
            case .failure(let problem): Answer(problem: problem)
            }
        guard let json = try? JSONEncoder().encode(answer) else { return Array("{}\n".utf8) }
        return Array(json) + [UInt8(ascii: "\n")]
    }

    /// What whole lines of an answer say; ends before the first that is none.
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
