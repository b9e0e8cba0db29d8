#if os(Linux)
    import TestBasics
    import Foundation
    import TestSupport
    import Testing

    /// A change whose definition is a package: its manifest runs when the daemon reads it.
    @Suite struct EscapePackageTests {
        @Test(.timeLimit(.minutes(6)))
        func `files that a manifest leaves redirect no later write`() async throws {
            try await Bench.with { bench in
                let target = "\(bench.root)/written"
                let manifest = """
                    // swift-tools-version: 6.0
                    import Foundation
                    import PackageDescription
                    let own = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path
                    unlink(own + "/evil.txt")
                    symlink("\(target)", own + "/evil.txt")
                    let package = Package(name: "x", targets: [.executableTarget(name: "absent")])

                    """
                let files = ["workflows/Package.swift": manifest, "workflows/evil.txt": "by the box\n"]
                _ = try await bench.look()
                for number in [1, 2] {
                    // The same definition again: the second run finds the files that the first one left.
                    try await bench.change(number, files.merging(["n.txt": "\(number)\n"]) { $1 })
                    #expect(try await bench.look().code == 0)
                    let report = try await bench.pipectl("report", "\(number)", "--format", "json").output
                    #expect(report.contains("definition-review"), "\(report)")
                }
                #expect(!FileManager.default.fileExists(atPath: target), "a link of the manifest was followed")
            }
        }
    }
#endif
