import TestBasics
import Control
import Results
import Store
import Archive
import Engine
import Foundation
import Testing

@testable import Daemon
@testable import Watching

/// What of an error reaches a client.
@Suite struct RefusalTests {
    private func sent(_ error: any Error) throws -> RequestError? {
        guard let refusal = RequestError(refusing: error) else { return nil }
        return try JSONDecoder().decode(DaemonReply.self, from: JSONEncoder().encode(DaemonReply.refused(refusal)))
            .refusal
    }

    @Test(arguments: [
        (ArchiveError.Code.damagedIndex, RequestError.Origin.daemon), (.diskFull, .daemon), (.unusableIndex, .daemon),
        (.unknownRun, .request), (.wrongState, .request), (.badArtifact, .request),
    ])
    func `an error of the store keeps its code and whose fault it is`(
        _ code: ArchiveError.Code, _ origin: RequestError.Origin
    ) throws {
        let error = try #require(try sent(ArchiveError(code, "it is so")))
        #expect(error.code.rawValue == code.rawValue)
        #expect(error.origin == origin)
        #expect(error.description == "it is so")
    }

    @Test func `an early verdict is the request's fault unless it is infrastructure`() throws {
        #expect(try sent(EarlyVerdict(verdict: .definitionError, reason: "a"))?.origin == .request)
        #expect(try sent(EarlyVerdict(verdict: .infrastructure, reason: "a"))?.origin == .daemon)
    }

    @Test func `a refusal of an older daemon counts as the request's fault`() throws {
        let old = Data(#"{"refused":{"code":"usage","message":"no"}}"#.utf8)
        let refusal = try JSONDecoder().decode(DaemonReply.self, from: old).refusal
        #expect(refusal?.code == .usage && refusal?.origin == .request)
    }

    @Test func `an unknown error is no refusal`() throws {
        struct Other: Error {}
        #expect(try sent(Other()) == nil)
    }
}
