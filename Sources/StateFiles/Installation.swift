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

    /// The path of `stepinit`, which starts steps.
    ///
    /// - Parameter executable: The path of pipectl; nil for the running one.
    /// - Throws: `missingProgram`.
    package static func stepInit(beside executable: String? = nil) throws(StateError) -> String {
        try helper("stepinit", beside: executable)
    }

    /// The path of `swift-reader`, which reads the Swift files of a change.
    ///
    /// - Parameter executable: The path of pipectl; nil for the running one.
    /// - Throws: `missingProgram`.
    package static func swiftReader(beside executable: String? = nil) throws(StateError) -> String {
        try helper("swift-reader", beside: executable)
    }

    /// The path of `pipectl-agent`, which runs steps on other machines.
    ///
    /// - Parameter executable: The path of pipectl; nil for the running one.
    /// - Throws: `missingProgram`.
    package static func agent(beside executable: String? = nil) throws(StateError) -> String {
        try helper("pipectl-agent", beside: executable)
    }

    /// A program beside pipectl in a build folder, or in `libexec/pipectl` of an installed prefix.
    private static func helper(_ name: String, beside executable: String?) throws(StateError) -> String {
        let folder = URL(fileURLWithPath: executable ?? Installation.executable).resolvingSymlinksInPath()
            .deletingLastPathComponent()
        let places = [
            folder.appendingPathComponent(name).path,
            folder.deletingLastPathComponent().appendingPathComponent("libexec/pipectl/\(name)").path,
        ]
        guard let found = places.first(where: FileManager.default.isExecutableFile) else {
            throw StateError(
                .missingProgram,
                "the program \(name) is missing; looked for \(places.joined(separator: " and ")). Install pipectl again."
            )
        }
        return found
    }
}
