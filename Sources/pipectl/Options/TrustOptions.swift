import ArgumentParser
import BuildBox
import Pipeline

/// Which code the box trusts, and what it asks a person about.
struct TrustOptions: ParsableArguments {
    @Option(
        name: .customLong("protected"),
        help: ArgumentHelp(
            "Branches whose commits count as merged, besides the default branch; may be repeated.", valueName: "glob"))
    var protected: [String] = []
    @Option(
        name: .customLong("allow-authors"),
        help: ArgumentHelp(
            "Changes whose head has another author need approval: name or e-mail, like '*@example.com'; may be repeated.",
            valueName: "glob"))
    var allowedAuthors: [String] = []
    @Option(
        name: .customLong("protect-paths"),
        help: ArgumentHelp("Changes that touch such a path need approval; may be repeated.", valueName: "glob"))
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
