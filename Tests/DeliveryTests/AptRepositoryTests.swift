import Foundation
import SystemPackage
import TestBasics
import Testing

@testable import Delivery

/// Which packages clients see, without the programs of apt.
struct AptRepositoryTests {
    private let folder: TemporaryFolder
    private let repository: AptRepository

    init() throws {
        folder = try TemporaryFolder()
        repository = AptRepository(root: FilePath(folder["repo"]), suite: "stable", component: "main")
    }

    @Test(.timeLimit(.minutes(1)))
    func `what a release has added and not shown is not shown by the next one`() async throws {
        show(try await add("1.0"))
        // Killed, or withdrawn.
        _ = try await add("1.1")
        _ = try await add("1.2", architecture: "amd64")
        show(try await add("1.3"))
        #expect(try packages() == ["hello 1.0 all", "hello 1.3 all"])
        #expect(try !text("Release").contains("amd64"))
        // Its step is repeated.
        show(try await add("1.1"))
        #expect(try packages() == ["hello 1.0 all", "hello 1.1 all", "hello 1.3 all"])
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["InRelease", "none"])
    func `a release is seen by the next one as soon as clients see it`(last: String) async throws {
        show(try await add("1.0"))
        let state = try await add("1.1")
        // Killed right after, or right before, the first file that clients read.
        if last == "InRelease" { try folder.write("repo/dists/stable/InRelease", Self.signed(state).clear) }
        show(try await add("1.2"))
        let seen = last == "InRelease" ? ["hello 1.1 all"] : []
        #expect(try packages() == ["hello 1.0 all"] + seen + ["hello 1.2 all"])
    }

    @Test(.timeLimit(.minutes(1)))
    func `lists that are gone are made again of what clients see, and none is made up`() async throws {
        show(try await add("1.0"))
        let binary = folder["repo/dists/stable/main/binary-all"]
        try FileManager.default.removeItem(atPath: "\(binary)/by-hash")
        let state = try await add("1.1")
        #expect(FileManager.default.fileExists(atPath: "\(binary)/by-hash"))
        show(state)
        #expect(try repository.isShown(state))
        try FileManager.default.removeItem(atPath: binary)
        await #expect(throws: DeliveryProblem.self) { _ = try await add("1.2") }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a package that a person has removed is not in the next lists`() async throws {
        for version in ["1.0", "1.1"] { show(try await add(version)) }
        try FileManager.default.removeItem(atPath: folder["repo/pool/main/h/hello/hello_1.1_all.deb"])
        show(try await add("1.0"))
        #expect(try packages() == ["hello 1.0 all"])
        // It is not a disk that is missing.
        try FileManager.default.removeItem(atPath: folder["repo/pool"])
        await #expect(throws: DeliveryProblem.self) { _ = try await add("1.2", architecture: "amd64") }
    }

    @Test(.timeLimit(.minutes(1)))
    func `the lists of other components and of other suites stay`() async throws {
        show(try await add("1.0"))
        let other = AptRepository(root: repository.root, suite: "stable", component: "extra")
        try other.show(try await add("1.0", to: other), Self.signed(try await add("1.0", to: other)))
        show(try await add("1.1"))
        #expect(try packages() == ["hello 1.0 all", "hello 1.1 all"])
        #expect(try text("Release").contains("extra/binary-all/Packages.gz"))
    }

    private func add(
        _ version: String, architecture: String = "all", to other: AptRepository? = nil
    ) async throws -> AptRepository.State {
        let repository = other ?? repository
        let release = try await release(
            version, in: folder, ["hello_\(version)_\(architecture).deb": Array("\(version) \(architecture)".utf8)])
        let package = try DebianPackage(
            control: "Package: hello\nVersion: \(version)\nArchitecture: \(architecture)\n", file: release.files[0],
            component: repository.component)
        return try repository.add([(package, release.files[0])], at: Date(timeIntervalSince1970: 1_780_000_000))
    }

    private func show(_ state: AptRepository.State) {
        #expect(throws: Never.self) { try repository.show(state, Self.signed(state)) }
    }

    private static func signed(_ state: AptRepository.State) -> SignedRelease {
        SignedRelease(clear: Array("signed\n\n\(state.text)".utf8), detached: [1], publicKey: [2])
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: folder["repo/dists/stable/\(name)"], encoding: .utf8)
    }

    /// The packages of the list that `InRelease` names.
    private func packages() throws -> [String] {
        let list = try text("main/binary-all/Packages")
        let digest = try #require(
            try text("InRelease").split(separator: "\n").first { $0.hasSuffix("main/binary-all/Packages") })
        let same = try text("main/binary-all/by-hash/SHA256/\(digest.split(separator: " ")[0])")
        #expect(same == list)
        return DebianPackage.all(in: list).map(\.identity)
    }
}
