import Foundation

#if canImport(Darwin)
    import Darwin
#endif

/// One start of the system, until the next: what was not flushed may be lost with its end.
enum Boot {
    /// Another one after each start of the system; where it can't be told, after each start of pipectl.
    static let id = system ?? "unknown-\(UInt64.random(in: 0 ... .max))"

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
