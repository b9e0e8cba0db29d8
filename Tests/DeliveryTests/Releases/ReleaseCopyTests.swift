import Foundation
import Results
import TestBasics
import Testing

@testable import Delivery

/// How a person gets the files of a release.
struct ReleaseCopyTests {
    private let room: TemporaryFolder

    init() throws { room = try TemporaryFolder() }

    private func release(_ state: ReleaseRecord.State = .draft) throws -> ReleaseRecord {
        for (name, text) in [("app.txt", "one"), ("b.txt", "two")] { try room.write("kept/\(name)", text.utf8) }
        let files = try ReleaseFolders.files(in: room["kept"])
        if state != .draft { try room.write("kept/NOTES.md", "new".utf8) }
        return ReleaseRecord(
            repository: "app", version: ReleaseVersion(version: "1.0", buildNumber: 4, tag: "v1.0"),
            commit: String(repeating: "c", count: 40), tree: "", committedAt: Date(timeIntervalSince1970: 50),
            workflow: "release", run: 1, madeAt: Date(timeIntervalSince1970: 60), state: state, notes: "new",
            files: files.map { ReleaseRecord.File(name: $0.name, bytes: $0.bytes, sha256: $0.sha256) })
    }

    private func copy(_ release: ReleaseRecord, to target: String? = nil) throws -> [String] {
        try ReleaseCopy(release, in: room["kept"]).copy(to: target ?? room["dist"])
    }

    private func code(_ release: ReleaseRecord, to target: String? = nil) throws -> DeliveryProblem.Code? {
        do { _ = try copy(release, to: target) } catch let problem as DeliveryProblem { return problem.code }
        return nil
    }

    private func copied() -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: room["dist"])) ?? []).sorted()
    }

    @Test func `all files are copied, and a second time none is touched`() throws {
        let release = try release(.sealed)
        for _ in 1...2 { #expect(try copy(release) == ["NOTES.md", "app.txt", "b.txt"]) }
        #expect(copied() == ["NOTES.md", "app.txt", "b.txt"])
        #expect(try String(contentsOfFile: room["dist/b.txt"], encoding: .utf8) == "two")
    }

    @Test(
        arguments: [
            ("b.txt", "twx"), ("b.txt", nil), ("other.txt", "x"), ("NOTES.md", "old"), ("NOTES.md", nil),
        ] as [(String, String?)])
    func `a release whose files were changed is not copied`(name: String, text: String?) throws {
        let release = try release(.published)
        if let text {
            try room.write("kept/\(name)", text.utf8)
        } else {
            try FileManager.default.removeItem(atPath: room["kept/\(name)"])
        }
        #expect(try code(release) == .conflict)
        #expect(copied() == [])
    }

    @Test func `a file that is there is not replaced`() throws {
        let release = try release()
        try room.write("dist/b.txt", "mine".utf8)
        #expect(try code(release) == .invalid)
        #expect(try String(contentsOfFile: room["dist/b.txt"], encoding: .utf8) == "mine")
    }

    @Test(arguments: ["", "/dev/null/x"]) func `a folder that can't be made is a wrong one`(target: String) throws {
        let release = try release()
        let problem = #expect(throws: DeliveryProblem.self) { try copy(release, to: target) }
        #expect(problem?.code == .invalid)
        #expect(problem?.description.contains("NSCocoaErrorDomain") == false)
    }

    @Test func `files that are gone are a matter of this machine`() throws {
        let release = try release()
        try FileManager.default.removeItem(atPath: room["kept"])
        #expect(try code(release) == .machine)
    }
}
