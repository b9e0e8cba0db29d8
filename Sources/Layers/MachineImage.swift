import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The programs of this machine, as a text that changes when one of them does.
package enum MachineImage {
    /// The release of the system and the state of its package manager.
    package static var words: String {
        let stamps = ["/var/lib/dpkg/status", "/var/lib/rpm/rpmdb.sqlite", "/lib/apk/db/installed"].compactMap(stamp)
        return ([system] + stamps).joined(separator: ", ")
    }

    /// The same with the file of a program that no package manager may know.
    package static func words(with program: String?) -> String {
        let file = program.map { URL(fileURLWithPath: $0).resolvingSymlinksInPath().path }
        return words + (file.flatMap(stamp).map { ", \($0)" } ?? "")
    }

    private static func stamp(_ path: String) -> String? {
        var info = stat()
        guard stat(path, &info) == 0 else { return nil }
        return "\(path) \(info.st_size) bytes of \(info.modifiedTime.tv_sec)"
    }

    /// Read once: an upgrade while the process runs shows in the package manager's files.
    private static let system = ProcessInfo.processInfo.operatingSystemVersionString
}
