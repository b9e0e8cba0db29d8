import Foundation
import TestSupport

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A word that no other process of the machine has among its arguments.
struct Marker: Sendable, CustomStringConvertible {
    /// Digits, so that it can follow a decimal point: `sleep 0.05MARKER`.
    let description = String(UInt64.random(in: 100_000_000_000...999_999_999_999))

    /// The processes with the word in their command line.
    var processes: [Int32] {
        #if os(Linux)
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
            return names.compactMap(Int32.init).filter { id in
                guard let line = FileManager.default.contents(atPath: "/proc/\(id)/cmdline") else { return false }
                return line.range(of: Data(description.utf8)) != nil
            }
        #else
            return []
        #endif
    }

    /// Whether the last of them has ended within the limit.
    func isGone(within limit: Duration) async throws -> Bool {
        try await eventually(within: limit) { processes.isEmpty }
    }
}

/// Polls until the condition is true; false if the limit has passed.
func eventually(within limit: Duration, _ condition: () async throws -> Bool) async throws -> Bool {
    let clock = ContinuousClock()
    let end = clock.now + limit
    while true {
        if try await condition() { return true }
        if clock.now >= end { return false }
        try await Task.sleep(for: .milliseconds(10))
    }
}

extension Bench.Daemon {
    func signal(_ number: Int32) { kill(child.id, number) }

    /// A line of `/proc/PID/status`, as a number: `VmRSS` in KiB.
    func status(_ name: String) -> Int? {
        guard let text = FileManager.default.contents(atPath: "/proc/\(child.id)/status") else { return nil }
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") where line.hasPrefix("\(name):") {
            return Int(line.dropFirst(name.count + 1).filter(\.isNumber))
        }
        return nil
    }
}
