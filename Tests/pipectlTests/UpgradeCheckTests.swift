import Foundation
import TestBasics
import Testing

@testable import Delivery

/// Whether a newer pipectl is recognised in what projects publish.
@Suite struct UpgradeCheckTests {
    @Test(arguments: [
        (#"{"version": "1.3.0"}"#, ["1.3.0"]),
        (#"{"payload": "eyJ2ZXJzaW9uIjogIjEuNCJ9", "payloadType": "x"}"# + "\n{}", ["1.4"]),
        (#"[{"tag_name": "v1.2.0"}, {"tag_name": "v1.9", "draft": true}]"#, ["v1.2.0"]),
        (#"{"releases": [{"version": "2.0"}, {"tag_name": "v2.1", "prerelease": true}]}"#, ["2.0"]),
    ])
    func `the forms of a list of releases are read`(text: String, versions: [String]) throws {
        #expect(try UpgradeCheck.versions(in: Data(text.utf8)) == versions)
    }

    @Test(arguments: ["", "<html>", "[1]", "{}{}", #"{"releases": 1}"#])
    func `anything else is refused or names nothing`(text: String) {
        let found = try? UpgradeCheck.versions(in: Data(text.utf8))
        #expect(found == nil || found == [])
    }

    @Test(
        arguments: [
            ("pipectl-1.2.0-linux-x86_64.tar.gz", "1.2.0"), ("pipectl_1.2.0_amd64.deb", "1.2.0"),
            ("pipectl_1.2.0+deb12_amd64.deb", "1.2.0"),
            ("pipectl-1.2.0-rc1-linux-x86_64.tar.gz", nil), ("pipectl-1.2.0-beta.2.tar.gz", nil),
            ("pipectl-1.2.tar.gz", "1.2"), ("other-1.2.0-linux.tar.gz", nil), ("pipectl.rb", nil),
        ] as [(String, String?)])
    func `a package's name has its version`(name: String, version: String?) {
        #expect(UpgradeCheck.version(ofFile: name) == version)
    }

    @Test(.timeLimit(.minutes(1)), arguments: [("0.9.9", true), ("1.10.0", false), ("1.11", false)])
    func `the newest of a folder decides`(own: String, isNewer: Bool) async throws {
        let room = try TemporaryFolder()
        for version in ["1.9.0", "1.10.0", "1.2.0"] {
            try Data().write(to: URL(fileURLWithPath: "\(room.path)/pipectl-\(version).tar.gz"))
        }
        for mark in UpgradeCheck.foreign {
            try Data().write(to: URL(fileURLWithPath: "\(room.path)/pipectl-9.0-\(mark).tar.gz"))
        }
        let found = try await UpgradeCheck(source: room.path, version: own).run()
        #expect(found == .init(version: own, newest: "1.10.0", isNewer: isNewer))
    }

    /// GitLab's list does not say which of them are candidates.
    @Test(.timeLimit(.minutes(1)), arguments: [("1.1.0", "1.2.0"), ("1.2.0", "1.2.0"), ("1.3.0-rc.1", "1.3.0-rc.2")])
    func `a candidate is newer only for who has one`(own: String, newest: String) async throws {
        let room = try TemporaryFolder()
        let list = #"[{"tag_name": "v1.3.0-rc.2"}, {"tag_name": "v1.2.0"}, {"tag_name": "v1.3.0-beta"}]"#
        let found = try await UpgradeCheck(source: room.write("list.json", list.utf8), version: own).run()
        #expect(found == .init(version: own, newest: newest, isNewer: own != newest))
    }

    @Test(arguments: [
        (["pipectl-1.4.tar.gz"], ["1.4"]), (["other-1.4.tar.gz", "pipectl-1.4.tar.gz.minisig"], []), ([], []),
        (["pipectl-1.4-\(UpgradeCheck.foreign[0]).tar.gz"], []),
    ])
    func `a signed release without a package for this system is no update`(files: [String], versions: [String]) throws {
        let names = files.map { "{\"name\": \"\($0)\"}" }.joined(separator: ", ")
        let payload = Data("{\"version\": \"1.4\", \"files\": [\(names)]}".utf8).base64EncodedString()
        #expect(try UpgradeCheck.versions(in: Data("{\"payload\": \"\(payload)\"}\n".utf8)) == versions)
    }

    @Test(.timeLimit(.minutes(1))) func `an address that does not answer is unreachable, and a missing file too`() async
    {
        // Nothing listens on port 1 of this machine.
        for source in ["http://127.0.0.1:1/release.json", "/nowhere/release.json"] {
            let problem = await #expect(throws: DeliveryProblem.self) {
                try await UpgradeCheck(source: source, version: "1.0").run()
            }
            #expect(problem?.code == .unreachable)
        }
    }
}
