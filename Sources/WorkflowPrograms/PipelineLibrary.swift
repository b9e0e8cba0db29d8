import Foundation
import Sandbox

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The `Pipeline` module and dynamic library of this pipectl, against which workflows are compiled.
public struct PipelineLibrary: Sendable, Equatable {
    /// The path of `Pipeline.swiftmodule`, a file or a folder.
    public let module: String
    /// The path of `libPipeline.so` (`.dylib` on macOS).
    public let library: String

    public init(module: String, library: String) {
        self.module = module
        self.library = library
    }

    #if canImport(Darwin)
        static let fileName = "libPipeline.dylib"
    #else
        static let fileName = "libPipeline.so"
    #endif

    /// Finds the library that belongs to a pipectl binary.
    ///
    /// It looks in a SwiftPM build folder (the library beside the binary, the module in `Modules`) and in an installed
    /// prefix (`bin/pipectl` with `lib/pipectl/`).
    ///
    /// - Parameter executable: The binary's path; nil means the one that is running.
    /// - Throws: ``PipelineLibraryError`` with the paths that were tried.
    public static func find(beside executable: String? = nil) throws -> PipelineLibrary {
        let binary = executable ?? runningExecutable()
        guard let resolved = realpath(binary, nil) else {
            throw PipelineLibraryError(binary: binary, places: [])
        }
        defer { free(resolved) }
        let folder = parent(of: String(cString: resolved))
        let prefix = parent(of: folder)
        let candidates = [
            PipelineLibrary(module: "\(folder)/Modules/Pipeline.swiftmodule", library: "\(folder)/\(fileName)"),
            PipelineLibrary(
                module: "\(prefix)/lib/pipectl/Modules/Pipeline.swiftmodule",
                library: "\(prefix)/lib/pipectl/\(fileName)"),
        ]
        for candidate in candidates
        where FileStamp(path: candidate.library) != nil && access(candidate.module, R_OK) == 0 {
            return candidate
        }
        throw PipelineLibraryError(binary: binary, places: candidates.flatMap { [$0.library, $0.module] })
    }

    /// A digest of the content of library and module: it differs for each build of pipectl.
    public func identity() throws -> String {
        try FileDigest.of(parts: [FileDigest.of(file: library)] + moduleFiles().map { try FileDigest.of(file: $0) })
    }

    /// The module's file, or its files when it is a folder with one for each architecture.
    func moduleFiles() throws -> [String] {
        if FileStamp(path: module) != nil { return [module] }
        return try FileManager.default.contentsOfDirectory(atPath: module).sorted().map { "\(module)/\($0)" }
            .filter { FileStamp(path: $0) != nil }
    }

    private static func parent(of path: String) -> String {
        path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
    }

    private static func runningExecutable() -> String {
        #if canImport(Darwin)
            Bundle.main.executablePath ?? CommandLine.arguments[0]
        #else
            "/proc/self/exe"
        #endif
    }
}

/// The library against which workflows are compiled was not found.
public struct PipelineLibraryError: Error, Sendable, CustomStringConvertible {
    /// The binary beside which it was looked for.
    public let binary: String
    /// The paths that were tried.
    public let places: [String]

    public var description: String {
        guard !places.isEmpty else {
            return "\(binary) does not exist, so its Pipeline library can't be found"
        }
        return "The Pipeline library that belongs to this pipectl is missing. Looked for: "
            + places.joined(separator: ", ")
            + ". Build it with `swift build` in the same folder, or install pipectl with its lib/ folder."
    }
}
