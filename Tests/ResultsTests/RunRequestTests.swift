import Foundation
import Pipeline
import Testing

@testable import Results

/// What a run is asked to do, as JSON in the store: the next version reads it, and the one before.
@Suite struct RunRequestTests {
    /// A request as the versions before kinds wrote it, with some keys of its own.
    private func before(_ members: String) -> String {
        """
        {"concurrency":{"supersede":{}},"definitionCommit":"d0","event":"pullRequest","head":"a0",\
        "mergedChanges":[],"parameters":{},"ref":"refs/heads/main","repository":"alpha","runsAtMostOnce":false,\
        "subject":"main","workflow":"test"\(members.isEmpty ? "" : ",")\(members)}
        """
    }

    private static let role = #"{"attempt":1,"last":2,"maker":8,"mayPush":true,"of":7}"#

    @Test(arguments: [
        (#""nonce":"""#, RunKind.triggered),
        (#""nonce":"onto 0123""#, .triggered),
        (#""nonce":"after run 3""#, .triggered),
        (#""nonce":"by hand at 12.5-7""#, .manual),
        (
            #""nonce":"rerun of 4 at 1","origin":3,"repetition":3,"rerunOf":4"#,
            .rerun(RunKind.Rerun(of: 4, origin: 3, number: 3))
        ),
        (
            #""nonce":"rerun of 4 at 1","origin":4,"repetition":2,"rerunOf":4,"resumes":4"#,
            .rerun(RunKind.Rerun(of: 4, resumes: true))
        ),
        (#""isMissed":true,"nonce":"refresh","upkeep":"refresh""#, .warmUp(isMissed: true)),
        (#""nonce":"refresh","upkeep":"refresh""#, .warmUp(isMissed: false)),
        (
            #""nonce":"clean room after run 9","upkeep":"cleanRoom","warmFailed":true,"warmRun":9"#,
            .cleanBuild(of: 9, hasFailed: true)
        ),
        (#""nonce":"clean room 1 after run 9","upkeep":"cleanRoom""#, .cleanBuild(of: nil, hasFailed: false)),
        (#""nonce":"bisect try 1","upkeep":"bisect""#, .bisect),
        (#""learning":2,"nonce":"learn 2 of test","onlySteps":["test"],"upkeep":"learn""#, .flakeProbe(2)),
        (
            #""fix":{"attempt":1,"last":2,"mayPush":false,"of":7},"nonce":"fix 1 of run 7","resumes":7"#,
            .fix(FixRole(of: 7, attempt: 1, last: 2, mayPush: false))
        ),
        (
            #""fix":\#(role),"nonce":"check of fix 1 of run 7""#,
            .fix(FixRole(of: 7, attempt: 1, last: 2, mayPush: true, maker: 8))
        ),
    ])
    func `a request that an earlier version wrote has its kind, and is written with the same keys`(
        members: String, kind: RunKind
    ) throws {
        let request = try ArchiveJSON.decode(RunRequest.self, from: before(members))
        #expect(request.kind == kind)
        let written = try ArchiveJSON.compactText(request)
        #expect(try ArchiveJSON.decode(RunRequest.self, from: written) == request)
        var keys = try #require(JSONSerialization.jsonObject(with: Data(written.utf8)) as? [String: any Sendable])
        keys["kind"] = nil
        let old = try #require(
            JSONSerialization.jsonObject(with: Data(before(members).utf8)) as? [String: any Sendable])
        #expect(NSDictionary(dictionary: keys) == NSDictionary(dictionary: old))
    }

    @Test func `options that are set have keys, and others have none`() throws {
        let members =
            #""isClean":true,"isForAgent":true,"isForeground":true,"machine":"mini","nonce":"by hand at 1","refusesProofs":true"#
        let request = try ArchiveJSON.decode(RunRequest.self, from: before(members))
        var options = RunOptions()
        (options.isClean, options.isForAgent, options.isForeground, options.refusesProofs) = (true, true, true, true)
        options.machine = "mini"
        #expect(request.options == options)
        #expect(try ArchiveJSON.compactText(request).contains(#""isClean":true"#))
        let plain = try ArchiveJSON.decode(RunRequest.self, from: before(#""nonce":"""#))
        #expect(plain.options == RunOptions())
        #expect(try !ArchiveJSON.compactText(plain).contains("isClean"))
    }

    @Test(arguments: [RunKind.triggered, .manual])
    func `a kind without a payload is written by its name`(kind: RunKind) throws {
        var request = try ArchiveJSON.decode(RunRequest.self, from: before(#""nonce":"""#))
        request.kind = kind
        #expect(try ArchiveJSON.decode(RunRequest.self, from: ArchiveJSON.compactText(request)).kind == kind)
    }

    @Test func `a run by hand and one that repeats another do not end the fixes of an older commit`() throws {
        var request = try ArchiveJSON.decode(RunRequest.self, from: before(#""nonce":"""#))
        request.change = Change(
            name: "1", head: "a0", target: "main", targetCommit: "d0", title: "", author: "")
        #expect(request.startsAnew)
        for kind in [RunKind.manual, .rerun(RunKind.Rerun(of: 1)), .bisect] {
            request.kind = kind
            #expect(!request.startsAnew)
        }
    }
}
