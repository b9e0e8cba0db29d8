#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reads the counters of a run's control group at the start and end of each step, through files that stay open.
///
/// Opening a file of a control group takes the kernel several times as long as reading it.
package final class GroupCounters: Sendable {
    private let kills: Int32
    private let refusals: [Int32]

    /// Opens the counters of `group`; counters that can't be opened read as 0.
    package init(_ group: ControlGroup) {
        func opened(_ path: String) -> Int32 { open(path, O_RDONLY | O_CLOEXEC) }
        kills = group.killsFile.map(opened) ?? -1
        refusals = group.refusalsFiles.map(opened)
    }

    deinit { for file in [kills] + refusals where file >= 0 { closeFile(file) } }

    /// Number of processes that the kernel killed because memory ran out.
    package var outOfMemoryKills: Int { Self.value("oom_kill", in: kills) ?? 0 }

    /// The counts of kills and refusals, without times and sizes.
    package var usage: GroupUsage {
        var usage = GroupUsage()
        usage.outOfMemoryKills = outOfMemoryKills
        usage.refusedProcesses = refusals.reduce(0) { $0 + (Self.value("max", in: $1) ?? 0) }
        return usage
    }

    /// The number after `key` in a file of lines `key number`.
    static func value(_ key: StaticString, in file: Int32) -> Int? {
        guard file >= 0 else { return nil }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1_024) { buffer in
            let count = pread(file, buffer.baseAddress, buffer.count, 0)
            guard count > 0 else { return nil }
            return key.withUTF8Buffer { value($0, in: buffer[..<count]) }
        }
    }

    private static func value(_ key: UnsafeBufferPointer<UInt8>, in text: Slice<UnsafeMutableBufferPointer<UInt8>>)
        -> Int?
    {
        for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: key) {
            let rest = line.dropFirst(key.count)
            guard rest.first == UInt8(ascii: " ") else { continue }
            return Int(String(decoding: rest.dropFirst(), as: UTF8.self))
        }
        return nil
    }
}
