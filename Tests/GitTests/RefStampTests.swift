import GitFixture
import TestBasics
import Foundation
import Testing

@testable import Git

/// A stamp may report a move that did not happen, but must never miss one.
@Suite(.timeLimit(.minutes(2))) struct RefStampTests {
    private let fixture: Fixture
    private let gitDirectory: String

    init() throws {
        fixture = try Fixture()
        gitDirectory = try fixture.repository() + "/.git"
        try fixture.git("update-ref", "refs/pull/1/head", "HEAD")
        try fixture.git("tag", "one")
    }

    private func stamp() throws -> RefStamp { try #require(RefStamp(gitDirectory: gitDirectory)) }

    @Test func `a stamp stays equal while nothing moves`() throws {
        #expect(try stamp() == stamp())
    }

    @Test(arguments: [
        ["update-ref", "refs/pull/1/head", "HEAD^{tree}"], ["update-ref", "refs/pull/2/head", "HEAD"],
        ["update-ref", "-d", "refs/pull/1/head"], ["tag", "two"], ["tag", "-d", "one"], ["checkout", "-q", "--detach"],
        ["checkout", "-q", "-b", "other"], ["pack-refs", "--all"],
    ]) func differsOnceARefMoved(command: [String]) throws {
        let before = try stamp()
        try fixture.git(command, in: fixture["work"])
        #expect(try stamp() != before)
    }

    @Test func `a recently written packed-refs is not trusted`() throws {
        try fixture.git("pack-refs", "--all")
        #expect(try stamp() != stamp(), "it could be replaced again within its time's resolution")
    }

    @Test func `a move of a packed ref is seen later`() async throws {
        try fixture.git("pack-refs", "--all")
        try await eventually("trust in packed-refs") { try stamp() == stamp() }
        let before = try stamp()
        try fixture.git("update-ref", "-d", "refs/pull/1/head")
        #expect(try stamp() != before)
    }
}
