import Foundation
import Testing

@testable import Signing

@Suite struct PartsListTests {
    private static let first = """
        {"object":{"pins":[{"package":"Crypto","repositoryURL":"https://github.com/apple/swift-crypto.git",
        "state":{"branch":null,"revision":"0123456789012345678901234567890123456789","version":"4.5.2"}}]},"version":1}
        """
    private static func later(_ version: Int) -> String {
        """
        {"originHash":"x","pins":[{"identity":"crypto","kind":"remoteSourceControl",
        "location":"https://github.com/apple/swift-crypto","state":{"revision":"0123456789012345678901234567890123456789",
        "version":"4.5.2"}}],"version":\(version)}
        """
    }

    @Test(arguments: [first, later(2), later(3)])
    func `each version of Package.resolved gives the same package URL`(_ text: String) throws {
        let resolved = try ResolvedPackages(Data(text.utf8))
        #expect(resolved.packages.map(\.url) == ["pkg:swift/github.com/apple/swift-crypto@4.5.2"])
        #expect(
            resolved.packages.first?.source
                == "git+https://github.com/apple/swift-crypto@0123456789012345678901234567890123456789")
    }

    @Test func `packages of branches, registries, folders and ssh have package URLs`() throws {
        let text = """
            {"pins":[
            {"identity":"mona.list","kind":"registry","location":"","state":{"version":"1.0.0+2"}},
            {"identity":"tool","kind":"remoteSourceControl","location":"git@git.example.com:team/Tool.git",
             "state":{"branch":"main","revision":"abc"}},
            {"identity":"near","kind":"localSourceControl","location":"/srv/near","state":{"revision":"def"}}],"version":2}
            """
        #expect(
            try ResolvedPackages(Data(text.utf8)).packages.map(\.url) == [
                "pkg:generic/near@def", "pkg:swift/git.example.com/team/Tool@abc", "pkg:swift/mona/list@1.0.0%2B2",
            ])
    }

    @Test(arguments: [
        (SigningError.Code.newerFormat, #"{"pins":[],"version":4}"#), (.malformed, #"{"version":2}"#),
        (.malformed, "[]"),
        (.malformed, ""), (.duplicateKey, #"{"pins":[],"pins":[],"version":2}"#),
        (.malformed, #"{"pins":[{"identity":1}],"version":3}"#),
    ])
    func `what is no Package.resolved is refused`(_ expected: SigningError.Code, _ text: String) async {
        #expect(await code { _ = try ResolvedPackages(Data(text.utf8)) } == expected)
    }

    private func list(_ text: String = later(3), at seconds: Double = 1_700_000_000) throws -> PartsList {
        PartsList(
            name: "tool", version: "1.2.0", repository: "https://git.example.com/o/tool",
            commit: String(repeating: "c", count: 40), madeAt: Date(timeIntervalSince1970: seconds), toolVersion: "0.9",
            resolved: try ResolvedPackages(Data(text.utf8)))
    }

    @Test func `the same input gives the same bytes, and another input another identifier`() throws {
        #expect(try list().spdx() == list().spdx())
        #expect(try list().cycloneDX() == list().cycloneDX())
        #expect(try list().spdx() != list(at: 1_700_000_001).spdx())
        func serial(_ list: PartsList) throws -> String? {
            try (JSONSerialization.jsonObject(with: list.cycloneDX()) as? [String: Any])?["serialNumber"] as? String
        }
        let serial1 = try #require(try serial(list()))
        #expect(
            serial1.wholeMatch(of: /urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/)
                != nil)
        #expect(try serial(list(at: 1)) != serial1)
    }

    @Test func `both lists are JSON in which no key is twice`() async throws {
        let list = try list()
        #expect(await code { try StrictJSON.check(list.spdx(), named: "it") } == nil)
        #expect(await code { try StrictJSON.check(list.cycloneDX(), named: "it") } == nil)
    }
}
