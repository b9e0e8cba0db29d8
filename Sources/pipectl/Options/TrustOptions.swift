import ArgumentParser
import BuildBox
import Pipeline

/// Which code the box trusts, and what it asks a person about.
struct TrustOptions: ParsableArguments {
    @Option(
        name: .customLong("protected"),
        help: ArgumentHelp(
            "Further protected branches: their commits count as merged; may be repeated.", valueName: "glob"))
    var protected: [String] = []
    @Option(
        name: .customLong("allow-authors"),
        help: ArgumentHelp(
            "Changes by other authors need approval: a name or e-mail, like '*@example.com'; may be repeated.",
            valueName: "glob"))
    var allowedAuthors: [String] = []
    @Option(
        name: .customLong("protect-paths"),
        help: ArgumentHelp("Changes to matching paths need approval; may be repeated.", valueName: "glob"))
    var protectedPaths: [String] = []

    func validate() throws { _ = try policy() }

    func policy() throws -> TrustPolicy {
        do throws(GlobProblem) {
            return try TrustPolicy(
                protected: protected, allowedAuthors: allowedAuthors, protectedPaths: protectedPaths)
        } catch {
            throw ValidationError(error.description)
        }
    }
}
