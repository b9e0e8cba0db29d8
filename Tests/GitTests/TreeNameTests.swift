import Git
import Testing

/// Names that `git fsck` refuses, in the spellings that file systems treat as equal.
struct TreeNameTests {
    @Test(arguments: [
        "", ".", "..", ".git", ".GIT", ".Git", ".git ", ".git.", ".git . .", "git~1", "GIT~1", ".git:x",
        ".git::$INDEX_ALLOCATION",
        ".g\u{200c}it", "\u{feff}.git", ".git\u{200d}", "a/b", "a\\b", "a\nb", "a\u{1b}b", "a\u{7f}b", "a\u{9b}b",
    ])
    func refuses(_ name: String) { #expect(TreeName.problem(Array(name.utf8)) != nil) }

    @Test(arguments: [
        "a", ".gitignore", ".gitattributes", ".github", "git", "git~2", "x.git", ".gitx", "ä", "日本", "a b", "a.", ":",
        "-n",
    ])
    func takes(_ name: String) { #expect(TreeName.problem(Array(name.utf8)) == nil) }

    @Test func `names that are not UTF-8 are kept as bytes`() { #expect(TreeName.problem([0x61, 0xff]) != nil) }

    @Test(arguments: [".gitmodules", ".GitModules", ".gitmodules ", "gitmod~1", "GI7EBA~1", ".gitmodules:x"])
    func modules(_ name: String) { #expect(TreeName.isModules(name)) }
}
