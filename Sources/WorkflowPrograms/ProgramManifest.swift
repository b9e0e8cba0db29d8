import Sandbox

/// What a cache entry was made of and what is in it: the last file that is written, so an entry without is none.
struct ProgramManifest: Codable, Equatable {
    /// Raised when entries are laid out or compiled in another way.
    static let format = 1

    /// What decides about the program; all of it is in the key.
    struct Inputs: Codable, Equatable {
        var format = ProgramManifest.format
        /// The Git tree id of `workflows/`.
        var tree: String
        var swiftc: String
        var toolchain: String
        var target: String
        /// ``PipelineLibrary/identity()``.
        var library: String
        /// The absolute path of the cache: programs know their library by it.
        var cache: String

        var key: String {
            FileDigest.of(parts: ["\(format)", tree, swiftc, toolchain, target, library, cache])
        }
    }

    var inputs: Inputs
    /// Below the entry.
    var program: String
    var programDigest: String
    var descriptionDigest: String
}
