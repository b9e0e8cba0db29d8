import Client
import Engine
import Foundation
import MCP
import Sandbox
import StateFiles

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Searches lines with a regular expression from an untrusted source.
///
/// Some expressions take practically for ever, and Swift's matcher can't be interrupted. So a child process runs the
/// search, reports each matching line, and is killed at the deadline.
struct LogSearch: Sendable {
    /// The hidden command of the child. Its arguments are the pattern, a file, the first line and the maximum number of
    /// matches.
    static let command = "search-lines"

    var pattern: String
    var context: Int
    /// Maximum number of matching lines.
    var limit: Int
    /// The line at which the search starts, counted from 1.
    var from: Int
    var bytes: Int
    var time: Duration

    struct Found: Sendable {
        var text = ""
        var matches = 0
        /// The last line that was searched.
        var searched = 0
        var isTimedOut = false
        /// The line at which a further search should start.
        var next: Int?
    }

    func run(in lines: [Substring]) async throws -> Found {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("pipectl-search-\(UInt64.random(in: 0 ... .max))").path
        let text = Data(lines.joined(separator: "\n").utf8)
        guard FileManager.default.createFile(atPath: path, contents: text, attributes: [.posixPermissions: 0o600])
        else {
            throw ToolFailure("the log can't be copied to \(path) for the search. Is the disk full?")
        }
        defer { try? FileManager.default.removeItem(atPath: path) }
        let ended = try await ExternalCommand(
            Installation.executable, [Self.command, pattern, path, "\(from)", "\(limit + 1)"], deadline: time,
            grace: .milliseconds(50), outputLimit: 1 << 20
        ).run()
        if case .exited(2) = ended.ending {
            throw ToolFailure(
                "the pattern is not a regular expression: \(ended.text.trimmingCharacters(in: .newlines))")
        }
        return gather(ended, lines)
    }

    /// A message of the child: `=12` for a matching line, `.1000` for the line it has reached.
    private func gather(_ ended: ExternalCommandResult, _ lines: [Substring]) -> Found {
        var found = Found()
        found.isTimedOut = ended.ending != .exited(0)
        found.searched = max(from - 1, 0)
        var hits: [Int] = []
        for word in ended.text.split(separator: "\n") {
            guard let number = Int(word.dropFirst()), lines.indices.contains(number - 1) else { continue }
            found.searched = max(found.searched, number)
            if word.first == "=" { hits.append(number) }
        }
        if hits.count > limit { found.next = hits[limit] }
        var shown = 0
        for hit in hits.prefix(limit) {
            var piece = ""
            for number in max(hit - context, 1)...min(hit + context, lines.count) where number > shown {
                if shown > 0, number > shown + 1 { piece += "--\n" }
                piece += "\(number)\(number == hit || hits.contains(number) ? ":" : "-") \(lines[number - 1])\n"
                shown = number
            }
            guard found.text.utf8.count + piece.utf8.count <= bytes else {
                found.next = hit
                break
            }
            found.text += piece
            found.matches += 1
        }
        if found.isTimedOut, found.next == nil { found.next = found.searched + 1 }
        return found
    }
}

/// The child process of ``LogSearch``.
package enum SearchLines {
    /// Answers `search-lines PATTERN FILE FROM LIMIT`; nil for any other arguments.
    package static func run(_ arguments: [String]) -> Int32? {
        guard arguments.count == 6, arguments[1] == LogSearch.command, let from = Int(arguments[4]),
            let limit = Int(arguments[5])
        else { return nil }
        // If the parent is killed, the kernel ends this process, too.
        var seconds = rlimit(rlim_cur: 60, rlim_max: 60)
        #if canImport(Glibc)
            setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &seconds)
        #else
            setrlimit(RLIMIT_CPU, &seconds)
        #endif
        let expression: Regex<AnyRegexOutput>
        do { expression = try Regex(arguments[2]) } catch {
            Terminal.print("\(error)")
            return 2
        }
        let bytes = FileManager.default.contents(atPath: arguments[3]) ?? Data()
        var (number, hits) = (0, 0)
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            guard number >= from else { continue }
            if number % 500 == 0 { Terminal.print(".\(number)") }
            guard String(decoding: line, as: UTF8.self).contains(expression) else { continue }
            Terminal.print("=\(number)")
            hits += 1
            if hits >= limit { return 0 }
        }
        Terminal.print(".\(number)")
        return 0
    }
}
