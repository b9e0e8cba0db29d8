import Client
import Testing

/// Whether a secret is for a repository that exists.
@Suite struct SecretScopeTests {
    @Test(arguments: [("alpha", false), ("nope", true), ("Alpha", true)])
    func `a repository that nobody knows is pointed out`(name: String, warns: Bool) {
        #expect((SecretScopeText.warning(name, known: ["beta", "alpha"]) != nil) == warns)
        #expect(SecretScopeText.warning(name, known: []) != nil)
    }
}
