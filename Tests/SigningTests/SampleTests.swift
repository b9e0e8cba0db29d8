import Foundation
import TestBasics
import Testing

@testable import Signing

/// Writes a release into the folder that `script/verify-foreign` names, which has other programs look at it.
@Suite struct SampleTests {
    private static let folder = ProcessInfo.processInfo.environment["PIPECTL_SAMPLE_RELEASE"]

    @Test(.enabled(if: folder != nil, "only for script/verify-foreign"))
    func `a release is written for other programs`() async throws {
        let folder = try #require(Self.folder)
        let release = try await TestRelease.make()
        let keys: [(String, String)] = [
            ("release.pub", try release.key.publicKey.minisignText()), ("release.pem", release.key.publicKey.pem),
            ("blob.pem", release.blobKey.publicKey.pem),
        ]
        let files = FileManager.default
        for name in try files.contentsOfDirectory(atPath: release.folder.path) {
            try files.copyItem(atPath: release.folder[name], toPath: "\(folder)/dist/\(name)")
        }
        for (name, text) in keys { try text.write(toFile: "\(folder)/\(name)", atomically: false, encoding: .utf8) }
        let file = ReleaseManifest.File(name: TestRelease.app, try release.digests(TestRelease.app))
        let byBlobKey = try await release.provenance(of: [file]).signed(by: release.blobKey)
        try Envelope.file([byBlobKey]).write(to: URL(fileURLWithPath: "\(folder)/p256.intoto.jsonl"))
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let list = PartsList(
            name: "tool", version: release.version, repository: release.repository, commit: release.commit,
            madeAt: Date(timeIntervalSince1970: 1_700_000_000), toolVersion: "1",
            resolved: try ResolvedPackages(Data(contentsOf: root.appending(path: "Package.resolved"))))
        try list.spdx().write(to: URL(fileURLWithPath: "\(folder)/sbom.spdx.json"))
        try list.cycloneDX().write(to: URL(fileURLWithPath: "\(folder)/sbom.cdx.json"))
    }
}
