import Foundation

/// The programs of this pipectl.
package enum Installation {
    /// The path of the running pipectl, links resolved.
    package static var executable: String {
        #if os(Linux)
            if let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") { return path }
        #endif
        return Bundle.main.executablePath ?? CommandLine.arguments[0]
    }

    /// The path of `stepinit`: beside pipectl in a build folder, or in `libexec/pipectl` of an installed prefix.
    ///
    /// - Parameter executable: The path of pipectl; nil for the running one.
    /// - Throws: `missingProgram`.
    package static func stepInit(beside executable: String? = nil) throws(StateError) -> String {
        let folder = URL(fileURLWithPath: executable ?? Installation.executable).resolvingSymlinksInPath()
            .deletingLastPathComponent()
        let places = [
            folder.appendingPathComponent("stepinit").path,
            folder.deletingLastPathComponent().appendingPathComponent("libexec/pipectl/stepinit").path,
        ]
        guard let found = places.first(where: FileManager.default.isExecutableFile) else {
            throw StateError(
                .missingProgram,
                "the program stepinit is missing; looked for \(places.joined(separator: " and ")). Install pipectl again."
            )
        }
        return found
    }
}
