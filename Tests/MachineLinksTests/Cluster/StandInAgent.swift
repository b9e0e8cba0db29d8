import Concurrency
import Foundation
import Machines
import SystemCalls
import TestBasics
import Testing

@testable import MachineLinks

/// A program that stands in for the agent: it says hello, then repeats each line, and ends with its input. At Slurm,
/// where an agent lasts, it has one connection, by two named pipes.
struct StandInAgent: Sendable {
    let folder: TemporaryFolder
    /// In the command line of the agent and of what carries it.
    let marker = Marker()
    let programs: [AgentPrograms]

    /// - Parameters:
    ///   - arguments: `cat` repeats bytes; `exit N` ends with that code at once.
    ///   - padding: Bytes that the program is larger.
    init(_ arguments: String..., padding: Int = 0, platform: MachinePlatform? = .own) throws {
        folder = try TemporaryFolder(.disk)
        let agent = try folder.write(
            "pipectl-agent",
            """
            #!/bin/sh
            # \(String(repeating: "x", count: padding))
            for word; do
                case $word in --listen | --connect) mode=$word ;; esac
                room=$word
            done
            case $mode in
                --connect)
                    while [ ! -p "$room/out" ]; do
                        [ -d "$room" ] || exit 1
                        sleep 0.05
                    done
                    exec 3<&0
                    cat <&3 >"$room/in" &
                    cat "$room/out"
                    kill $!
                    exit 0
                    ;;
                --listen)
                    trap 'rm -rf "$room"' EXIT
                    mkfifo "$room/in" "$room/out"
                    exec <"$room/in" >"$room/out"
                    ;;
            esac
            case $2 in
                cat) cat; exit ;;
                exit) exit "$3" ;;
            esac
            echo hello from "$(uname -n)"
            while read -r line; do echo "$line"; done

            """.utf8)
        let other = try folder.write("stepinit", "#!/bin/sh\n".utf8)
        programs = [
            try AgentPrograms(
                try #require(platform), agent: agent, others: [other], arguments: [marker.description] + arguments)
        ]
    }

    /// Fails the test if a process of it is alive after a minute.
    func expectNothingLeft(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let isGone = try await marker.isGone(within: .seconds(60))
        #expect(isGone, "\(marker.survivors)", sourceLocation: sourceLocation)
    }
}

#if os(Linux)
    /// What a test says to an agent and hears from it.
    struct Talk: Sendable {
        let stream: AgentStream

        init(_ stream: AgentStream) { self.stream = stream }

        /// Writes bytes.
        func write(_ bytes: [UInt8], within limit: Duration = .seconds(30)) async throws {
            try await onOwnThread {
                let end = ContinuousClock.now + limit
                var left = bytes[...]
                while !left.isEmpty {
                    try wait(stream.input, Int16(POLLOUT), end)
                    let count = left.withUnsafeBytes { part in
                        stream.input.use {
                            send($0, part.baseAddress, part.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
                        }
                    }
                    if count < 0 && errno != EAGAIN { throw SystemFailure("send") }
                    left = left.dropFirst(max(count, 0))
                }
            }
        }

        /// Reads bytes until `isEnough`, or the stream ends.
        func read(
            within limit: Duration = .seconds(30), until isEnough: @escaping @Sendable ([UInt8]) -> Bool
        ) async throws -> [UInt8] {
            try await onOwnThread {
                let end = ContinuousClock.now + limit
                var bytes: [UInt8] = []
                var piece = [UInt8](repeating: 0, count: 64 << 10)
                while !isEnough(bytes) {
                    try wait(stream.output, Int16(POLLIN), end)
                    let count = stream.output.use { recv($0, &piece, piece.count, Int32(MSG_DONTWAIT)) }
                    if count < 0 && errno == EAGAIN { continue }
                    guard count > 0 else { break }
                    bytes += piece[..<count]
                }
                return bytes
            }
        }

        /// The next line.
        func line(within limit: Duration = .seconds(30)) async throws -> String {
            let bytes = try await read(within: limit) { $0.last == UInt8(ascii: "\n") }
            return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
        }

        /// What the agent answers to a line: the line.
        func say(_ text: String, within limit: Duration = .seconds(30)) async throws -> String {
            try await write(Array("\(text)\n".utf8), within: limit)
            return try await line(within: limit)
        }

        /// Waits until the stream ends.
        func waitForEnd(within limit: Duration) async throws { _ = try await read(within: limit) { _ in false } }

        private func wait(
            _ descriptor: Descriptor, _ events: Int16, _ end: ContinuousClock.Instant
        ) throws {
            while true {
                var request = pollfd(fd: descriptor.number, events: events, revents: 0)
                if poll(&request, 1, 100) > 0 { return }
                if ContinuousClock.now > end { throw SystemFailure("poll", ETIMEDOUT) }
            }
        }
    }
#endif
