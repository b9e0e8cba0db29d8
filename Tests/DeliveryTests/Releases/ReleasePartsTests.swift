import Foundation
import Pipeline
import Results
import Signing
import Testing

@testable import Delivery

/// Where the packages of a bill of materials are found.
@Suite struct ReleasePartsTests {
    private struct Files: ReleaseSources {
        var files: [String: String]
        func address(_ basis: ReleaseBasis) async throws -> String? { nil }
        func landed(_ basis: ReleaseBasis) async throws -> LandedNotes { LandedNotes([]) }
        func file(_ path: String, _ basis: ReleaseBasis) async throws -> Data? { files[path].map { Data($0.utf8) } }
        func paths(named names: Set<String>, _ basis: ReleaseBasis) async throws -> [String] {
            files.keys.sorted().filter { path in names.contains { path == $0 || path.hasSuffix("/\($0)") } }
        }
    }

    private func names(_ files: [String: String]) async throws -> [String] {
        let basis = ReleaseBasis(
            run: 1, repository: "app", workflow: "release",
            version: ReleaseVersion(version: "1.0", buildNumber: 4, tag: "v1.0"),
            commit: String(repeating: "c", count: 40), tree: "", committedAt: Date(timeIntervalSince1970: 100),
            definition: .init(commit: "", tree: "", toolchain: ""), parameters: [:],
            plan: Plan(workflow: "release", steps: []), trust: .merged, startedAt: Date(timeIntervalSince1970: 90),
            ref: "refs/heads/main", lastTag: nil, pipectl: "1", builder: "")
        return try await ReleaseParts(sources: Files(files: files), basis: basis).packages().packages.map(\.identity)
    }

    private static func list(_ name: String) -> String {
        #"""
        {"pins":[{"identity":"\#(name)","location":"https://git.example.com/o/\#(name)","state":{"version":"1.0"}}],
        "version":3}
        """#
    }
    private static let inProject = "App.xcodeproj/project.xcworkspace/xcshareddata/swiftpm/Package.resolved"
    private static let inWorkspace = "All.xcworkspace/xcshareddata/swiftpm/Package.resolved"
    private static let manifest = #"let package = Package(name: "a", dependencies: [])"#
    private static let fetches =
        #"dependencies: [ .package( name: "b", url: "https://git.example.com/o/b", from: "1.0")]"#

    @Test(arguments: [
        (["Package.resolved": list("a"), inProject: list("b")], ["a"]),
        ([inProject: list("a")], ["a"]), ([inWorkspace: list("a")], ["a"]),
        ([inProject: list("a"), inWorkspace: list("b")], ["a", "b"]),
        (["apps/" + inProject: list("a"), "Example/Demo/" + inProject: list("b")], ["a"]),
        // An example, and a file of a test.
        (["Package.swift": manifest, "Example/" + inProject: list("b")], []),
        (["Tests/Data/Package.resolved": list("b")], []),
        // Nothing is fetched, so nothing is noted.
        (["Package.swift": manifest], []), ([:], []), (["App.xcodeproj/project.pbxproj": "isa = PBXProject;"], []),
        (["Package.swift": "  // .package(url: \"x\")\n.package(path: \"../b\")"], []),
    ])
    func `packages are read where they are noted, and none need be`(
        files: [String: String], expected: [String]
    ) async throws {
        #expect(try await names(files) == expected)
    }

    @Test(arguments: [
        ["Package.swift": fetches], ["Package.swift": #".package(id: "a.b", from: "1.0")"#],
        ["App.xcodeproj/project.pbxproj": "isa = XCRemoteSwiftPackageReference;"],
    ])
    func `declared packages that are not noted are an error`(files: [String: String]) async throws {
        let problem = await #expect(throws: DeliveryProblem.self) { _ = try await names(files) }
        #expect(problem?.code == .invalid)
    }
}
