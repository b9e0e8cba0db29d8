import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A number in the command lines of a test's processes, by which they are found wherever they moved.
package struct Marker {
    package let seconds: Int

    package init(seconds: Int = Int.random(in: 100_000_000..<900_000_000)) { self.seconds = seconds }

    /// The command lines of those that live; a zombie has none.
    package var survivors: [String] {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.compactMap { process in
            guard Int32(process) ?? getpid() != getpid(),
                let data = FileManager.default.contents(atPath: "/proc/\(process)/cmdline")
            else { return nil }
            let line = String(decoding: data, as: UTF8.self)
            return line.contains(String(seconds)) ? process + ": " + line.replacing("\0", with: " ") : nil
        }
    }
}
