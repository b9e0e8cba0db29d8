import Foundation

#if canImport(Darwin)
    import Darwin
#endif

/// The current start of the system. What was not flushed to the disk may be lost when the system stops.
package enum Boot {
    /// An id that changes with each start of the system, or with each start of pipectl where the system has no such id.
    package static let id = system ?? "unknown-\(UInt64.random(in: 0 ... .max))"

    private static var system: String? {
        #if canImport(Darwin)
            var bytes = [CChar](repeating: 0, count: 64)
            var size = bytes.count - 1
            guard sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 else { return nil }
            return String(cString: bytes)
        #else
            return try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        #endif
    }
}
