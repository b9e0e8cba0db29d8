import Foundation
import Git
import Pipeline
import Results
import Store
import Testing

@testable import Preparing
@testable import Watching

/// Whom a connected forge names counts, and not whom a commit names.
@Suite struct ContributorTests {
    @Test func `allowed authors are logins where a forge is connected, and a commit's author counts for nothing`()
        throws
    {
        let policy = try TrustPolicy(allowedAuthors: ["ada"])
        let signature = Signature(name: "ada", email: "ada@example.org", time: .distantPast)
        func ruling(_ contributor: Contributor?) -> TrustDecision.Ruling {
            TrustDecision.make(
                TrustFacts(subject: "change 7", author: signature, contributor: contributor), policy
            ).ruling
        }
        #expect(ruling(nil) == .allowed)
        #expect(ruling(Contributor(login: "grace", standing: .writer)) == .allowed)
        #expect(ruling(Contributor(login: "ada", standing: .newcomer)) == .allowed)
        // Whoever writes an allowed author's name into a commit is still who the forge says.
        for standing in [Contributor.Standing.contributor, .newcomer, .unknown] {
            guard case .needsApproval = ruling(Contributor(login: "eve", standing: standing)) else {
                Issue.record("\(standing) was allowed")
                continue
            }
        }
    }
}
