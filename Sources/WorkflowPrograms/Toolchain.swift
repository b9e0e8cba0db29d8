public import Foundation
import Sandbox

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The Swift compiler that workflows are compiled with.
public struct Toolchain: Sendable, Equatable {
    /// The compiler's absolute path, as it was found.
    public let swiftc: String
    /// The version as the compiler prints it: `Swift version 6.3.1 (swift-6.3.1-RELEASE)`.
    public let version: String
    /// The triple that it compiles for: `x86_64-unknown-linux-gnu`.
    public let target: String

    public init(swiftc: String, version: String, target: String) {
        self.swiftc = swiftc
        self.version = version
        self.target = target
    }

    /// The `swift` beside the compiler, which builds packages.
    public var swift: String { (swiftc.hasSuffix("c") ? String(swiftc.dropLast()) : swiftc) }

    /// A text that identifies the compiler's current file and changes when the file is replaced; empty for a wrapper
    /// such as that of xcode-select.
    public var fileWords: String {
        ToolchainMemory.stamp(of: swiftc).map { "\($0.size) bytes of \($0.modifiedSeconds)" } ?? ""
    }

    /// Finds the compiler: `PIPECTL_SWIFTC`, then `PATH`; on macOS through `xcrun`.
    ///
    /// - Parameters:
    ///   - environment: The variables to look at.
    ///   - memory: A file that stores the compiler's answer, so that a later process need not ask.
    /// - Throws: ``ToolchainError``.
    public static func find(
        environment: [String: String] = ProcessInfo.processInfo.environment, memory: String? = nil
    ) async throws -> Toolchain {
        let path = try await path(environment: environment)
        let stamp = ToolchainMemory.stamp(of: path)
        if let stamp, let memory, let known = ToolchainMemory.read(memory, stamp: stamp, path: path) { return known }
        let result: ExternalCommandResult
        do {
            result = try await ExternalCommand(path, ["-print-target-info"], environment: environment).run()
        } catch let error as ExternalCommandError {
            throw ToolchainError(.unusable, "\(path) can't be started: \(error.cause). \(ToolchainError.remedy)")
        }
        guard result.succeeded, let info = try? JSONDecoder().decode(TargetInfo.self, from: Data(result.output)) else {
            throw ToolchainError(
                .unusable, "\(path) did not report its Swift version. \(ToolchainError.remedy)", output: result.text)
        }
        let found = Toolchain(swiftc: path, version: info.compilerVersion, target: info.target.triple)
        if let stamp, let memory {
            ToolchainMemory(stamp: stamp, version: found.version, target: found.target).write(memory)
        }
        return found
    }

    private struct TargetInfo: Decodable {
        struct Target: Decodable { var triple: String }
        var compilerVersion: String
        var target: Target
    }

    private static func path(environment: [String: String]) async throws -> String {
        if let chosen = environment["PIPECTL_SWIFTC"], !chosen.isEmpty {
            guard chosen.hasPrefix("/"), access(chosen, X_OK) == 0 else {
                throw ToolchainError(
                    .missing,
                    "PIPECTL_SWIFTC is \"\(chosen)\", which is not the absolute path of a program; correct or unset it")
            }
            return chosen
        }
        let folders = (environment["PATH"] ?? "").split(separator: ":").filter { $0.hasPrefix("/") }
        for folder in folders {
            let path = "\(folder)/swiftc"
            guard FileStamp(path: path) != nil, access(path, X_OK) == 0 else { continue }
            #if os(macOS)
                // A wrapper that asks xcode-select each time does not change when the real compiler does.
                if folder == "/usr/bin" { break }
            #endif
            return path
        }
        #if os(macOS)
            let asked = try await ExternalCommand("/usr/bin/xcrun", ["--find", "swiftc"], environment: environment)
                .run()
            let path = asked.text.split(separator: "\n").last.map(String.init) ?? ""
            if asked.succeeded, path.hasPrefix("/"), access(path, X_OK) == 0 { return path }
        #endif
        let places = folders.isEmpty ? "PATH is empty" : "looked in \(folders.joined(separator: ", "))"
        throw ToolchainError(.missing, "swiftc was not found: \(places). \(ToolchainError.remedy)")
    }
}

/// The stored answer of a compiler, for later processes.
struct ToolchainMemory: Codable, Equatable {
    var stamp: FileStamp
    var version: String
    var target: String

    /// The stamp of the compiler's real file; nil for a wrapper, whose answer may change while its file does not.
    static func stamp(of path: String) -> FileStamp? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        let real = String(cString: resolved)
        // swiftc is a link to swift-frontend or swift-driver; swiftly chooses by folder and configuration.
        guard let name = real.split(separator: "/").last, name.hasPrefix("swift"), name != "swiftly" else { return nil }
        return FileStamp(path: real)
    }

    static func read(_ file: String, stamp: FileStamp, path: String) -> Toolchain? {
        guard let data = try? Data(contentsOf: URL(fileURLWithPath: file)),
            let memory = try? JSONDecoder().decode(ToolchainMemory.self, from: data), memory.stamp == stamp
        else { return nil }
        return Toolchain(swiftc: path, version: memory.version, target: memory.target)
    }

    /// Stores the answer if possible; without it the compiler is asked again.
    func write(_ file: String) {
        try? JSONEncoder().encode(self).write(to: URL(fileURLWithPath: file), options: .atomic)
    }
}

/// Why there is no compiler for workflows.
public struct ToolchainError: Error, Sendable, CustomStringConvertible {
    /// What is wrong, to switch on.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// No `swiftc` was found.
        public static let missing = Code(rawValue: "toolchain-missing")
        /// It was found but does not work.
        public static let unusable = Code(rawValue: "toolchain-unusable")
    }

    /// What is wrong, to switch on.
    public let code: Code
    /// What is wrong and what to do next.
    public let message: String
    /// The compiler's output; may be empty.
    public let output: String

    init(_ code: Code, _ message: String, output: String = "") {
        self.code = code
        self.message = message
        self.output = output
    }

    static let remedy =
        "Workflows are Swift and are compiled on this machine: install Swift 6.3 or later from https://swift.org/install, "
        + "put it in PATH or set PIPECTL_SWIFTC to the absolute path of swiftc, then check with `pipectl doctor`."

    public var description: String { output.isEmpty ? message : "\(message)\n\(output)" }
}
