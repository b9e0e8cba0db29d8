import Foundation
import TestBasics
import Testing

@testable import Delivery

struct FolderTests {
    @Test(.timeLimit(.minutes(1)))
    func `a version is in a folder of its name, and another attempt changes nothing`() async throws {
        let folder = try TemporaryFolder()
        let release = try await release(in: folder, ["a.tar.gz": bytes(1 << 20), "b.txt": Array("b".utf8)])
        let publisher = FolderPublisher(folder: folder["out"])
        try await publisher.bring(release)
        try await publisher.bring(release)
        #expect(try Set(FileManager.default.contentsOfDirectory(atPath: folder["out"])) == [".lock", "1.0.0"])
        #expect(try await runCommand("diff", "-r", folder["out/1.0.0"], folder["release-1.0.0"]) == "")
    }

    @Test(.timeLimit(.minutes(1)))
    func `people get the address that a web server gives it`() async throws {
        let folder = try TemporaryFolder()
        let publisher = FolderPublisher(folder: folder["out"], address: "https://files.example.org/app/")
        let plain = try await publisher.bring(try await release(in: folder, ["a": [1]]))
        #expect(plain.address == "https://files.example.org/app/1.0.0/" && plain.install == nil)
        let app = try await publisher.bring(try await release("1.1.0", in: folder, ["install.html": [1]]))
        #expect(app.install == "https://files.example.org/app/1.1.0/install.html")
    }

    @Test(.timeLimit(.minutes(1)))
    func `what an interrupted attempt has left is replaced`() async throws {
        let folder = try TemporaryFolder()
        let release = try await release(in: folder, ["a": bytes(4_096)])
        try folder.write("out/\(release.partName)/a", Array("half".utf8))
        try folder.write("out/\(release.partName)/other", Array("other".utf8))
        // Of an earlier version of pipectl, and of another release of this version.
        try folder.write("out/.1.0.0.part/a", Array("half".utf8))
        try folder.write("out/.1.0.0-0123456789ab.part/a", Array("half".utf8))
        try folder.write("out/.1.0.1.part/a", Array("of another version".utf8))
        try await FolderPublisher(folder: folder["out"]).bring(release)
        #expect(
            try Set(FileManager.default.contentsOfDirectory(atPath: folder["out"])) == [
                ".lock", ".1.0.1.part", "1.0.0",
            ]
        )
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder["out/1.0.0"]) == ["a"])
        #expect(FileManager.default.contents(atPath: folder["out/1.0.0/a"])?.count == 4_096)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a release that is withdrawn on its way does not appear`() async throws {
        let folder = try TemporaryFolder()
        let release = try await release(in: folder, ["a": bytes(64)])
        #expect(try await FolderPublisher(folder: folder["out"]).failure(release, Withdrawn()) == .conflict)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder["out"]) == [".lock"])
    }

    @Test(.timeLimit(.minutes(2)))
    func `of two releases of a version that are published at the same time, one is there whole`() async throws {
        let folders = [try TemporaryFolder(), try TemporaryFolder()]
        let publisher = FolderPublisher(folder: folders[0]["out"])
        for number in 1...5 {
            let version = "1.0.\(number)"
            let releases = [
                try await release(version, in: folders[0], ["a": bytes(4 << 20, 1), "b": bytes(4 << 20, 2)]),
                try await release(version, in: folders[1], ["a": bytes(4 << 20, 3), "b": bytes(4 << 20, 4)]),
            ]
            #expect(releases[0].partName != releases[1].partName)
            let failures = try await withThrowingTaskGroup(of: DeliveryProblem.Code?.self) { group in
                for release in releases { group.addTask { try await publisher.failure(release) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(failures.compactMap { $0 } == [.conflict])
            let isWhole = folders.contains { folder in
                succeeds(["diff", "-r", folders[0]["out/\(version)"], folder["release-\(version)"]])
            }
            #expect(isWhole)
        }
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["other bytes", "missing", "one more"])
    func `a version with other content is a conflict, and stays`(kind: String) async throws {
        let folder = try TemporaryFolder()
        let release = try await release(in: folder, ["a": bytes(64), "b": bytes(64, 2)])
        let publisher = FolderPublisher(folder: folder["out"])
        try await publisher.bring(release)
        switch kind {
        case "other bytes": try folder.write("out/1.0.0/a", bytes(64, 3))
        case "missing": try FileManager.default.removeItem(atPath: folder["out/1.0.0/b"])
        default: try folder.write("out/1.0.0/c", [1])
        }
        let before = try await runCommand("sh", "-c", "cd '\(folder["out/1.0.0"])' && sha256sum *")
        #expect(try await publisher.failure(release) == .conflict)
        #expect(try await runCommand("sh", "-c", "cd '\(folder["out/1.0.0"])' && sha256sum *") == before)
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["../1", ".hidden", "a/b", "", "-x", "1 0"])
    func `a version that is no folder's name is refused`(version: String) async throws {
        let folder = try TemporaryFolder()
        var release = try await release(in: folder, ["a": [1]])
        release.version = version
        #expect(try await FolderPublisher(folder: folder["out"]).failure(release) == .invalid)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a file that is not the release's any more is not published`() async throws {
        let folder = try TemporaryFolder()
        let release = try await release(in: folder, ["a": bytes(64)])
        try folder.write("release-1.0.0/a", bytes(64, 9))
        #expect(try await FolderPublisher(folder: folder["out"]).failure(release) == .machine)
        #expect(!FileManager.default.fileExists(atPath: folder["out/1.0.0"]))
    }

    @Test(.timeLimit(.minutes(5)))
    func `a version is there once and whole, whenever its publisher is killed`() async throws {
        let folder = try TemporaryFolder(.disk)
        let files = ["a.tar.gz": bytes(8 << 20), "b.deb": bytes(4 << 20, 2), "c.txt": bytes(64, 3)]
        var random = SplitMix64(seed: 5)
        var kills = 0
        for number in 1...10 {
            let release = try await release("1.0.\(number)", in: folder, files)
            let sums = release.files.map { "\($0.sha256) \($0.name)\n" }.joined()
            try folder.write("release-\(release.version).sums", sums.utf8)
            let command = [
                Products.path("publish-once"), folder["notes-\(number)"], release.version, release.commit,
                folder["release-\(release.version)"], "folder", folder["out"],
            ]
            let out = try folder.folder("said-\(number)")
            for _ in 0..<3 {
                let child = try Child(command, in: folder.path, output: out)
                try await Task.sleep(for: .milliseconds(random.below(120)))
                child.kill()
                if await child.end != 0 { kills += 1 }
            }
            let last = try await CommandRunner(in: folder.path).end(of: command)
            #expect(last.code == 0, "\(last.errors)")
            let place = folder["out/\(release.version)"]
            #expect(try await runCommand("diff", "-r", place, folder["release-\(release.version)"]) == "")
        }
        #expect(kills > 0)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder["out"]).filter { !$0.hasPrefix(".") }.count == 10
        )
    }
}
