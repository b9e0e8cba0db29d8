import AsyncHTTPClient
import Delivery
import Foundation
import Results
import TestForge
import Testing

@testable import AppStore

@Suite struct PublisherTests {
    @Test(.timeLimit(.minutes(1))) func `an unknown group is an error that lists those there are, before any upload`()
        async throws
    {
        let groups = #"""
            {"data":[{"type":"betaGroups","id":"1","attributes":{"name":"Inside"}},
            {"type":"betaGroups","id":"2","attributes":{"name":"Friends"}}],"links":{"self":"/"}}
            """#
        let done = try await Fixture.publish(groups: ["Inside", "Freinds"]) { _ in .json(200, groups) }
        #expect(done.result.problem?.code == .invalid)
        let text = try #require(done.result.problem?.description)
        #expect(text.contains("\"Freinds\"") && text.contains("\"Friends\", \"Inside\""))
        #expect(done.asked.allSatisfy { $0.method == "GET" })
    }

    @Test(.timeLimit(.minutes(1)), arguments: [[], ["Hello.ipa", "Other.ipa"], ["Hello.pkg"]])
    func `a release that is not one app file is refused without a request`(names: [String]) async throws {
        let files = names.map { ReleaseFile(name: $0, path: "/nowhere/\($0)", bytes: 1, sha256: "") }
        let done = try await Fixture.publish(files) { _ in .cut }
        #expect(done.result.problem?.code == .invalid)
        #expect(done.asked.isEmpty)
    }

    private static func uploads(_ state: String) -> String {
        #"""
        {"data":[{"type":"buildUploads","id":"u","attributes":{"cfBundleVersion":"812",
        "cfBundleShortVersionString":"1.1","state":{"state":"\#(state)"}}}],"links":{"self":"/"}}
        """#
    }

    /// A version of which Apple knows no build is one for its review.
    @Test(.timeLimit(.minutes(1))) func `a build is looked for and uploaded under its marketing version`() async throws
    {
        let done = try await Fixture.publish { request in
            request.method == "GET" ? .json(200, Fixture.none) : .json(403, #"{"errors":[]}"#)
        }
        #expect(done.result.problem != nil)
        let body = try #require(done.asked.first { $0.method == "POST" }?.body)
        #expect(body.contains(#""cfBundleShortVersionString":"1.1""#) && body.contains(#""cfBundleVersion":"812""#))
        let filters = done.asked.filter { $0.method == "GET" && $0.path.contains("ersion") }
        #expect(!filters.isEmpty && !filters.contains { $0.path.contains("1.1.812") })
    }

    @Test(.timeLimit(.minutes(1)), arguments: [(11, "a"), (10, "b")])
    func `a version that is there with other bytes is a conflict`(there: (Int, String)) async throws {
        let sum = String(repeating: there.1, count: 64)
        let files = #"""
            {"data":[{"type":"buildUploadFiles","id":"f","attributes":{"assetType":"ASSET","fileName":"Hello.ipa",
            "fileSize":\#(there.0),"sourceFileChecksums":{"file":{"algorithm":"SHA_256","hash":"\#(sum)"}}}}],
            "links":{"self":"/"}}
            """#
        let done = try await Fixture.publish { request in
            .json(200, request.path.contains("buildUploadFiles") ? files : Self.uploads("COMPLETE"))
        }
        #expect(done.result.problem?.code == .conflict)
        #expect(done.asked.allSatisfy { $0.method == "GET" })
    }

    @Test(.timeLimit(.minutes(1)))
    func `a build that Apple could not process gives its errors, and uploads nothing again`()
        async throws
    {
        let failed = #"""
            {"data":{"type":"buildUploads","id":"u","attributes":{"state":{"state":"FAILED",
            "errors":[{"code":"90062","description":"The bundle is broken\n."}]}}}}
            """#
        let done = try await Fixture.publish { request in
            if request.path.contains("/buildUploadFiles") { return .json(200, Fixture.none) }
            return .json(200, request.path.hasPrefix("/v1/buildUploads/u") ? failed : Self.uploads("PROCESSING"))
        }
        let publication = try done.result.get()
        #expect(publication.state == .refused)
        #expect(publication.reason?.contains("90062") == true)
        #expect(done.asked.allSatisfy { $0.method == "GET" })
    }

    /// What Apple says of a build that it has, and of its testing.
    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            ("INVALID", "", PublicationRecord.State.refused), ("FAILED", "", .refused),
            ("VALID", "BETA_REJECTED", .refused), ("VALID", "PROCESSING_EXCEPTION", .refused),
            ("VALID", "IN_BETA_TESTING", .testing),
        ])
    func `a build that Apple refuses while it is published is refused with a reason`(
        processing: String, testing: String, state: PublicationRecord.State
    ) async throws {
        let build = #"""
            {"data":[{"type":"builds","id":"b","attributes":{"processingState":"\#(processing)"}}],"links":{"self":"/"}}
            """#
        let detail = #"""
            {"data":[{"type":"buildBetaDetails","id":"b","attributes":{"internalBuildState":"\#(testing)"}}],
            "links":{"self":"/"}}
            """#
        let localization = #"""
            {"data":{"type":"betaBuildLocalizations","id":"l","attributes":{"whatsNew":"","locale":"en-US"}}}
            """#
        let done = try await Fixture.publish { request in
            if request.path.hasPrefix("/v1/builds?") { return .json(200, build) }
            if request.path.hasPrefix("/v1/buildBetaDetails") { return .json(200, detail) }
            return request.method == "GET" ? .json(200, Fixture.none) : .json(201, localization)
        }
        let publication = try done.result.get()
        #expect(publication.state == state)
        #expect((publication.reason != nil) == (state == .refused))
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["INVALID", "PROCESSING"])
    func `nothing new is known of a build that Apple could not process, or has not`(processing: String) async throws {
        let build = #"""
            {"data":[{"type":"builds","id":"b","attributes":{"processingState":"\#(processing)"}}],"links":{"self":"/"}}
            """#
        let server = try await ForgeDouble { request in
            .json(200, request.path.hasPrefix("/v1/apps?") ? Fixture.app : build)
        }
        let publisher = try TestFlightPublisher(
            Fixture.testFlight(), key: Fixture.key, http: .shared, root: server.url)
        let standing = try await publisher.state(of: Fixture.release([]))
        try await server.close()
        #expect(standing == nil)
    }

    @Test(.timeLimit(.minutes(1))) func `upload operations that leave bytes out are not followed`() async throws {
        let file = #"""
            {"data":{"type":"buildUploadFiles","id":"f","attributes":{"assetType":"ASSET","uploadOperations":[
            {"method":"PUT","url":"https://elsewhere.example/1","offset":0,"length":4}]}}}
            """#
        let upload = #"{"data":{"type":"buildUploads","id":"u","attributes":{"state":{"state":"AWAITING_UPLOAD"}}}}"#
        let progress = MemoryProgress()
        let done = try await Fixture.publish(progress: progress) { request in
            guard request.method == "POST" else { return .json(200, Fixture.none) }
            return .json(201, request.path == "/v1/buildUploads" ? upload : file)
        }
        #expect(done.result.problem?.code == .unreachable)
        #expect(progress.all[UploadNotes.upload] == "u")
        #expect(!done.asked.contains { $0.method == "PATCH" })
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: [
            ("BETA_REJECTED", PublicationRecord.State.refused, true), ("EXPIRED", .refused, true),
            ("MISSING_EXPORT_COMPLIANCE", .processing, true), ("IN_BETA_REVIEW", .processing, false),
            ("BETA_APPROVED", .testing, false),
        ])
    func `what is in the way of a build is said`(
        apple: String, state: PublicationRecord.State, hasReason: Bool
    ) async throws {
        let groups = #"""
            {"data":[{"type":"betaGroups","id":"2","attributes":{"name":"Friends","isInternalGroup":false}}],
            "links":{"self":"/"}}
            """#
        let build = #"""
            {"data":[{"type":"builds","id":"b","attributes":{"processingState":"VALID"}}],"links":{"self":"/"}}
            """#
        let detail = #"""
            {"data":[{"type":"buildBetaDetails","id":"b","attributes":{"internalBuildState":"IN_BETA_TESTING",
            "externalBuildState":"\#(apple)"}}],"links":{"self":"/"}}
            """#
        let server = try await ForgeDouble { request in
            if request.path.hasPrefix("/v1/apps?") { return .json(200, Fixture.app) }
            if request.path.hasPrefix("/v1/betaGroups") { return .json(200, groups) }
            return .json(200, request.path.hasPrefix("/v1/buildBetaDetails") ? detail : build)
        }
        let publisher = try TestFlightPublisher(
            Fixture.testFlight(["Friends"]), key: Fixture.key, http: .shared, root: server.url)
        let standing = try await publisher.state(of: Fixture.release([]))
        try await server.close()
        #expect(standing?.state == state)
        #expect((standing?.reason != nil) == hasReason)
        #expect(server.requests.allSatisfy { $0.method == "GET" })
    }

    @Test(arguments: [
        (3, "d", ["a"]), (1, "d", ["c", "b", "a"]), (1, "b", ["a"]), (3, "b", ["a"]), (9, "d", []), (1, "gone", []),
    ])
    func `builds older than this one expire, and newer ones never`(most: Int, build: String, expected: [String]) {
        #expect(BuildTesting.unwanted(["d", "c", "b", "a"], keeping: most, and: build) == Set(expected))
    }

    @Test func `notes for testers are plain text within Apple's limit`() {
        let notes = TesterNotes.plain(
            "# 1.1\r\n\n\n\n- **Faster** start ([#12](https://example.com/12))\n* `init` works\u{7}\n```\ncode\n```\n")
        #expect(notes == "1.1\n\n• Faster start (#12)\n• init works\ncode")
        let long = TesterNotes.plain(String(repeating: "a line of the notes\n", count: 1_000))
        #expect(long.count <= TesterNotes.most && long.hasSuffix("\n…"))
        #expect(TesterNotes.plain(String(repeating: "x", count: 9_000)).count <= TesterNotes.most)
        #expect(TesterNotes.plain(" \n") == "")
    }

    @Test func `the end of an upload address is understood in both forms`() {
        func operation(_ text: String?) -> UploadOperation {
            UploadOperation(method: "PUT", url: "https://e.example", offset: 0, length: 1, expiration: text)
        }
        let date = Date(timeIntervalSince1970: 1_800_000_000)
        #expect(operation("2026-11-01T00:00:00Z").hasExpired(at: date))
        #expect(operation("2026-11-01T00:00:00.123Z").hasExpired(at: date))
        #expect(!operation("2030-11-01T00:00:00-07:00").hasExpired(at: date))
        #expect(!operation(nil).hasExpired(at: date))
    }
}
