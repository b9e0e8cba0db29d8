import Foundation
import Sandbox

/// What the manifest of a Swift package declares, as SwiftPM reads it.
///
/// A manifest is a program: SwiftPM compiles and runs it. Here it runs in a sandbox, in a folder that contains only the
/// manifest, and without network.
public struct PackageManifest: Sendable, Equatable {
    /// The package's name.
    public var name: String
    /// The names of test targets, wherever their sources are.
    public var testTargets: [String]
    /// The names of executable products; where none is declared, those of executable targets. Sorted.
    public var executables: [String]

    public init(name: String, testTargets: [String], executables: [String]) {
        (self.name, self.testTargets, self.executables) = (name, testTargets, executables)
    }

    /// Has SwiftPM read the manifest of the package in `folder`.
    ///
    /// - Throws: ``DefinitionError`` where it can't be read, or not within `deadline`.
    public static func read(
        in folder: String, toolchain: Toolchain, programSandbox: ProgramSandbox, deadline: Duration = .seconds(60)
    ) async throws -> PackageManifest {
        let scratch = try ScratchFolder(named: "pipectl-manifest")
        defer { scratch.remove() }
        let package = "\(scratch.path)/package"
        try FileManager.default.createDirectory(atPath: package, withIntermediateDirectories: false)
        let manifests = try FileManager.default.contentsOfDirectory(atPath: folder).filter {
            $0 == "Package.swift" || $0.hasPrefix("Package@swift-") && $0.hasSuffix(".swift")
        }
        for name in manifests {
            // The text is read and written rather than copied, because the copy of a link would still lead elsewhere.
            let text = try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(package)/\(name)"))
        }
        let command = [
            toolchain.swift, "package", "--scratch-path", "\(scratch.path)/build", "--cache-path",
            "\(scratch.path)/cache", "--disable-sandbox", "dump-package",
        ]
        let result = try await programSandbox.run(
            ProgramLaunch(.untrustedPackage, command, in: package, writes: [scratch.path], reads: []),
            environment: ProgramEnvironment.forPackage(ProcessInfo.processInfo.environment), deadline: deadline)
        // Progress and warnings come before the answer in the same stream.
        let json = result.text.range(of: "{\n").map { String(result.text[$0.lowerBound...]) } ?? result.text
        guard result.succeeded, let dumped = try? JSONDecoder().decode(Dumped.self, from: Data(json.utf8)) else {
            throw DefinitionError(.compileFailed, "SwiftPM can't read \(folder)/Package.swift", output: result.text)
        }
        return PackageManifest(dumped)
    }

    private init(_ dumped: Dumped) {
        name = dumped.name
        testTargets = dumped.targets.filter { $0.type == "test" }.map(\.name)
        let products = dumped.products.filter(\.isExecutable).map(\.name)
        executables = (products.isEmpty ? dumped.targets.filter { $0.type == "executable" }.map(\.name) : products)
            .sorted()
    }

    /// The parts of the output of `swift package dump-package` that are used here.
    private struct Dumped: Decodable {
        struct Target: Decodable {
            var name: String
            var type: String
        }
        struct Product: Decodable {
            var name: String
            var isExecutable: Bool

            enum Key: String, CodingKey { case name, type }
            enum Kind: String, CodingKey { case executable }

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                name = try container.decode(String.self, forKey: .name)
                isExecutable = try container.nestedContainer(keyedBy: Kind.self, forKey: .type).contains(.executable)
            }
        }
        var name: String
        var targets: [Target]
        var products: [Product]
    }
}
