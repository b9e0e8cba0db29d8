import Sandbox

/// The inputs and the content of a cache entry. It is written last, so an entry without it is not valid.
struct ProgramManifest: Codable, Equatable {
    /// Increase it when the layout of entries or the way they are compiled changes.
    static let format = 1

    /// Everything that determines the program; all of it is in the key.
    struct Inputs: Codable, Equatable {
        var format = ProgramManifest.format
        /// The Git tree id of `workflows/`.
        var tree: String
        var swiftc: String
        var toolchain: String
        var target: String
        /// ``PipelineLibrary/identity()``.
        var library: String
        /// The absolute path of the cache, which is part of the program: it is where the program finds its library.
        var cache: String

        var key: String {
            FileDigest.of(parts: ["\(format)", tree, swiftc, toolchain, target, library, cache])
        }
    }

    var inputs: Inputs
    /// The path of the program, relative to the entry.
    var program: String
    var programDigest: String
    var descriptionDigest: String
}
