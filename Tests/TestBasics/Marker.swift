import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A number in the command lines of a test's processes, by which they are found wherever they moved. It can be the
/// argument of `sleep`, or stand behind the decimal point of one: `sleep 0.05MARKER`.
package struct Marker: Sendable, CustomStringConvertible {
    package let seconds: Int

    package init(seconds: Int = Int.random(in: 100_000_000..<900_000_000)) { self.seconds = seconds }

    package var description: String { String(seconds) }

    /// The processes that have it in their command line, with that line; a zombie has none.
    private var found: [(id: Int32, line: String)] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap(Int32.init).compactMap { id in
            guard id != getpid(), let data = FileManager.default.contents(atPath: "/proc/\(id)/cmdline"),
                data.range(of: Data(description.utf8)) != nil
            else { return nil }
            return (id, String(decoding: data, as: UTF8.self).replacing("\0", with: " "))
        }
    }

    package var processes: [Int32] { found.map(\.id) }

    /// The command lines of those that live.
    package var survivors: [String] { found.map { "\($0.id): \($0.line)" } }

    /// Whether the last of them is gone within the limit.
    package func isGone(within limit: Duration) async throws -> Bool {
        try await becomesTrue(within: limit) { processes.isEmpty }
    }
}
