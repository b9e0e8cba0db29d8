/// Why `init` wrote nothing.
package struct SeedError: Error, Sendable, Equatable, CustomStringConvertible {
    package struct Code: Sendable, Hashable {
        let rawValue: String

        static let exists = Code(rawValue: "exists")
        static let notRepository = Code(rawValue: "not-a-repository")
        static let untestable = Code(rawValue: "nothing-to-test")
    }

    /// The kind of error, to switch on.
    package let code: Code
    /// What is wrong and what to do next.
    package let description: String

    private init(_ code: Code, _ description: String) { (self.code, self.description) = (code, description) }

    /// - Parameter paths: Relative to the top of the repository.
    static func exists(_ paths: [String]) -> SeedError {
        SeedError(
            .exists,
            "\(paths.joined(separator: ", ")) \(paths.count == 1 ? "exists" : "exist") already; nothing was written. "
                + "`pipectl validate` checks what is there.")
    }

    /// - Parameter top: The top folder of the repository that contains `folder`; nil if none does.
    package static func notRepository(_ folder: String, top: String?) -> SeedError {
        if let top {
            return SeedError(
                .notRepository, "\(folder) is not the top folder of its repository; run `pipectl init \(top)`")
        }
        return SeedError(
            .notRepository, "\(folder) is not a Git repository; run `git init` there first, or name another folder")
    }

    static func untestable(_ doubts: [SeedRecipe.Doubt]) -> SeedError {
        let found =
            doubts.isEmpty
            ? "no project was recognised here (Swift package, Xcode, CMake, Meson, Autotools, Make with a target that "
                + "tests, Cargo, Go, npm, Python, Gradle, Maven)"
            : doubts.map { "\n  \($0)" }.joined()
        return SeedError(
            .untestable,
            "pipectl found no way to test this repository, so nothing was written: \(found)\n"
                + "Give the command: `pipectl init --test 'COMMAND'`. Or write a step that fails until you fill it in: "
                + "`pipectl init --placeholder`.")
    }
}
