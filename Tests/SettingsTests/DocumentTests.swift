import TestBasics
import Foundation
import SystemCalls
import TestSupport
import Testing

@testable import Settings

@Suite struct DocumentTests {
    @Test(arguments: [
        ("", "file "), (" \n", "file "), ("[]", "file "), ("4", "file "), ("{", "file :1"),
        ("{\n\"slots\": 4", "file :2"),
        ("{\"slots\": 4,}", "file :1"), ("{\"slots\" 4}", "file :1"), ("{'slots': 4}", "file :1"),
        ("{\n// why\n\"slots\": 4}", "file :2"), ("{\"slots\": 04}", "file :1"), ("{\"slots\": +4}", "file :1"),
        ("{\"slots\": 0x4}", "file :1"), ("{\"slots\": NaN}", "file :1"), ("{\"slots\": 4} {}", "file :1"),
        ("{\"slots\": four}", "file :1"), ("{\"target\": \"a\nb\"}", "file :1"), ("{\"a\": \"\\u12\"}", "file :1"),
        ("{\"a\": \"\\x\"}", "file :1"), ("{\"a\": \"\\ud800\"}", "file :1"), ("{\"a\": \"", "file :1"),
        ("{\"a\": [1,]}", "file :1"), ("{\"a\": [1 2]}", "file :1"), ("\u{FEFF}{}", "file "),
    ])
    func `a broken file is refused as a whole, with the line`(text: String, problem: String) {
        #expect(problems(text) == [problem])
    }

    @Test func `deep nesting ends in an error`() {
        let depth = 100_000
        let lists = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        #expect(problems("{\"slots\": \(lists)}") == ["file :1"])
        #expect(problems(String(repeating: "{\"a\":", count: depth)) == ["file :1"])
    }

    @Test(arguments: [
        [0xFF, 0xFE, 0x7B, 0x00], [0xFE, 0xFF, 0x00, 0x7B], [0x7B, 0x22, 0xC3, 0x22, 0x7D], [0x7B, 0x80],
    ])
    func `a file that is not UTF-8 is refused`(bytes: [UInt8]) {
        #expect { try SettingsDocument(bytes, path: "x", table: table) } throws: {
            ($0 as? SettingsError)?.problems.map(\.code) == [.file]
        }
    }

    @Test(arguments: [
        ("{\"slot\": 4}", "unknownKey slot:1"), ("{\"\": 4}", "unknownKey :1"),
        ("{\"limits\": {\"steps\": {}}}", "unknownKey limits.steps:1"),
        ("{\"limits.step.memory\": \"1GiB\"}", "unknownKey limits.step.memory:1"),
        ("{\"slots\": 4,\n\"slots\": 4}", "duplicateKey slots:2"),
        ("{\"slots\": \"4\"}", "wrongType slots:1"), ("{\"slots\": null}", "wrongType slots:1"),
        ("{\"slots\": true}", "wrongType slots:1"), ("{\"slots\": [4]}", "wrongType slots:1"),
        ("{\"slots\": 0}", "wrongValue slots:1"), ("{\"slots\": 1025}", "wrongValue slots:1"),
        ("{\"slots\": 1.5}", "wrongValue slots:1"), ("{\"slots\": 99999999999999999999}", "wrongValue slots:1"),
        ("{\"slots\": 1e9999}", "wrongValue slots:1"), ("{\"grace\": 10}", "wrongType grace:1"),
        ("{\"grace\": \"10\"}", "wrongValue grace:1"), ("{\"grace\": \"10GiB\"}", "wrongValue grace:1"),
        ("{\"grace\": \"2h\"}", "wrongValue grace:1"), ("{\"grace\": \"\"}", "wrongValue grace:1"),
        ("{\"grace\": \"1\\u0000s\"}", "wrongValue grace:1"), ("{\"logLimit\": \"9999TiB\"}", "wrongValue logLimit:1"),
        ("{\"notes\": \"true\"}", "wrongType notes:1"), ("{\"notes\": 1}", "wrongType notes:1"),
        ("{\"proofs\": {\"sampling\": 1.1}}", "wrongValue proofs.sampling:1"),
        ("{\"proofs\": 1}", "wrongType proofs:1"),
        ("{\"watch\": {\"changes\": \"a\"}}", "wrongType watch.changes:1"),
        ("{\"watch\": {\"changes\": [1]}}", "wrongType watch.changes:1"),
        ("{\"watch\": {\"changes\": [\"[\"]}}", "wrongValue watch.changes:1"),
        ("{\"watch\": {\"location\": \"/x\"}}", "unknownKey watch.location:1"),
        ("{\"resources\": {\"a\": \"1\"}}", "wrongType resources.a:1"),
        ("{\"resources\": {\"a\": 0}}", "wrongValue resources:1"),
        ("{\"resources\": {\"a=b\": 1}}", "wrongType resources.a=b:1"),
        ("{\"resources\": {\"a\": 1, \"a\": 2}}", "duplicateKey resources.a:1"),
        ("{\"repositories\": []}", "wrongType repositories:1"),
        ("{\"repositories\": {\"a\": \"/x\"}}", "wrongType repositories.a:1"),
        ("{\"repositories\": {\"a\": {}}}", "missingKey repositories.a:1"),
        ("{\"repositories\": {\"../a\": {\"location\": \"/x\"}}}", "wrongValue repositories.../a:1"),
        ("{\"repositories\": {\"a\": {\"location\": 4}}}", "wrongType repositories.a.location:1"),
        ("{\"repositories\": {\"a\": {\"location\": \"/x\", \"slots\": 4}}}", "unknownKey repositories.a.slots:1"),
        (
            "{\"repositories\": {\"a\": {\"location\": \"/x\"}, \"b\": {\"location\": \"/x\"}}}",
            "wrongValue repositories.b:1"
        ),
    ])
    func `a wrong setting is named with its line`(text: String, problem: String) {
        #expect(problems(text) == [problem])
    }

    @Test func `everything that is wrong is told at once, in the order of the file`() {
        let found = problems(
            "{\n\"slot\": 4,\n\"grace\": \"x\",\n\"notes\": 1\n}",
            environment: ["PIPECTL_SLOTS": "many", "PIPECTL_GRAC": "1s"])
        #expect(
            found == [
                "unknownKey slot:2", "wrongValue grace:3", "wrongType notes:4", "unknownKey PIPECTL_GRAC",
                "wrongValue PIPECTL_SLOTS",
            ])
    }

    @Test(arguments: [
        ("{\"slot\": 4}", "Did you mean \"slots\"?"),
        ("{\"memory\": \"1GiB\"}", "Did you mean \"limits.step.memory\"?"),
        ("{\"limits\": {\"step\": {\"memroy\": 1}}}", "Did you mean \"limits.step.memory\"?"),
        ("{\"completely\": 1}", "There are slots"), ("{\"grace\": 10}", "\"10s\" is seconds"),
        ("{\"grace\": \"2h\"}", "Allowed: 0s to 1h."), ("{\"logLimit\": \"1GB\"}", "B, KiB, MiB, GiB and TiB"),
    ])
    func `an error says what to write instead`(text: String, part: String) {
        #expect { try resolve(text) } throws: {
            "\($0)".contains(part) && "\($0)".contains("/box/config.json, line 1: ")
        }
    }

    @Test func `a great many mistakes are counted, not listed`() throws {
        let text = "{" + (0..<40_000).map { "\"unknown\($0)\": 0" }.joined(separator: ",") + "}"
        #expect { try resolve(text) } throws: { error in
            guard let error = error as? SettingsError else { return false }
            return error.problems.count == 40_000 && error.description.utf8.count < 10_000
        }
    }
}

/// Things on the disk in place of a proper settings file.
@Suite struct SettingsFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func read(_ path: String) throws -> SettingsDocument? { try SettingsDocument.read(path, table: table) }

    private func isRefused(_ path: String) -> Bool {
        do {
            _ = try read(path)
            return false
        } catch let error as SettingsError {
            return error.problems.map(\.code) == [.file] && error.description.contains(path)
        } catch {
            return false
        }
    }

    @Test func `no file means no settings`() throws {
        #expect(try read("\(folder.path)/config.json") == nil)
    }

    @Test func `a file is read`() throws {
        let path = try folder.write("config.json", Array("{\"slots\": 4}".utf8))
        chmod(path, 0o600)
        #expect(try read(path)?.entries["slots"]?.texts == ["4"])
    }

    @Test(arguments: [0o602, 0o666, 0o777])
    func `a file that others may write is refused`(mode: Int) throws {
        let path = try folder.write("config.json", Array("{}".utf8))
        #expect(chmod(path, mode_t(mode)) == 0)
        #expect(isRefused(path))
    }

    @Test func `a file that a group may write is refused, unless the group is the user's own`() throws {
        let path = try folder.write("config.json", Array("{}".utf8))
        #expect(chmod(path, 0o620) == 0)
        let user = geteuid()
        let owner = try #require(SystemUser.find(user))
        let isOwn = user != 0 && SystemGroup.find(getegid())?.isPrivate(of: owner) == true
        #expect(isRefused(path) != isOwn)
    }

    @Test func `a group is a user's own by its name and its members`() {
        let ann = SystemUser(name: "ann", group: 1000)
        #expect(SystemGroup(name: "ann", members: []).isPrivate(of: ann))
        #expect(SystemGroup(name: "ann", members: ["ann"]).isPrivate(of: ann))
        #expect(!SystemGroup(name: "ann", members: ["bob"]).isPrivate(of: ann))
        #expect(!SystemGroup(name: "users", members: []).isPrivate(of: ann))
    }

    @Test func `users and groups are found by their numbers`() {
        #expect(SystemUser.find(0)?.name == "root")
        #expect(SystemUser.find(4_000_000_123) == nil)
        #expect(SystemUser.find(0).flatMap { SystemGroup.find($0.group) } != nil)
        #expect(SystemGroup.find(4_000_000_123) == nil)
    }

    @Test func `a folder, a FIFO and a link without an end are refused, or are no file`() throws {
        #expect(isRefused(folder.path))
        let fifo = "\(folder.path)/fifo"
        #expect(mkfifo(fifo, 0o600) == 0)
        #expect(isRefused(fifo))
        let loop = "\(folder.path)/loop"
        #expect(symlink(loop, loop) == 0)
        #expect(isRefused(loop))
        #expect(isRefused("/dev/zero"))
    }

    @Test func `a huge file is not read`() throws {
        let path = try folder.write("config.json", Array("{}".utf8))
        chmod(path, 0o600)
        #expect(truncate(path, 1 << 40) == 0)
        #expect(isRefused(path))
    }
}
