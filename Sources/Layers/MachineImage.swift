import Foundation
import Sandbox

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

    /// The number of the form in which snapshots are written. It changes when pipectl writes their files in another way.
    package static let form = 2

    /// The form, the programs, and what a compiler says of itself that no package manager may know.
    package static func words(with compiler: String?) async -> String {
        var words = "\(form) \(words)"
        guard let compiler else { return words }
        words += (stamp(URL(fileURLWithPath: compiler).resolvingSymlinksInPath().path)).map { ", \($0)" } ?? ""
        // The file may be one that starts another compiler.
        let said = try? await ExternalCommand(compiler, ["--version"], deadline: .seconds(20), outputLimit: 4_096).run()
        return words + (said.map { ", \($0.text.trimmingCharacters(in: .whitespacesAndNewlines))" } ?? "")
    }

    private static func stamp(_ path: String) -> String? {
        var info = stat()
        guard stat(path, &info) == 0 else { return nil }
        return "\(path) \(info.st_size) bytes of \(info.modifiedTime.tv_sec)"
    }

    /// Read once: an upgrade while the process runs shows in the package manager's files.
    private static let system = ProcessInfo.processInfo.operatingSystemVersionString
}
