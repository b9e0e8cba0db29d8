import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What the box needs of the machine.
enum BoxTools {
    /// The path of the running pipectl, links resolved.
    static var executable: String {
        #if os(Linux)
            if let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") { return path }
        #endif
        return Bundle.main.executablePath ?? CommandLine.arguments[0]
    }

    /// `stepinit`, beside pipectl in a build folder or in `libexec/pipectl` of an installed prefix.
    static func stepInit(beside executable: String?) throws -> String {
        let folder = URL(fileURLWithPath: executable ?? BoxTools.executable).resolvingSymlinksInPath()
            .deletingLastPathComponent()
        let places = [
            folder.appendingPathComponent("stepinit").path,
            folder.deletingLastPathComponent().appendingPathComponent("libexec/pipectl/stepinit").path,
        ]
        guard let found = places.first(where: FileManager.default.isExecutableFile) else {
            throw BoxError(
                .missingTool, "the program stepinit is missing: looked for \(places.joined(separator: " and ")). Install pipectl again.")
        }
        return found
    }

    /// Bytes that this user may still write on the disk of `path`; nil when that can't be found out.
    static func freeBytes(at path: String) -> Int? {
        var info = statvfs()
        guard statvfs(path, &info) == 0 else { return nil }
        return Int(info.f_bavail) * Int(info.f_frsize)
    }
}
