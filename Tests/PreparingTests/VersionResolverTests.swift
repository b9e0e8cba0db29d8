import Foundation
import Git
import Pipeline
import Results
import TestBasics
import Testing

@testable import Preparing

/// The version of a commit, by each rule.
struct VersionResolverTests {
    @Test(arguments: [
        ("Package.swift", "let package = 1\n// let version = \"9\"\nlet version = \"1.2.0\"\n", "1.2.0"),
        ("Sources/V.swift", "    public static let version: String = \"0.3\"\n", "0.3"),
        ("V.swift", "enum Key: String {\n    case version = \"v\"\n}\nlet version: StaticString = \"0.3\"\n", "0.3"),
        ("Cargo.toml", "[package]\nname = \"x\"\nversion = \"4.5.6\"\n", "4.5.6"),
        (
            "Cargo.toml",
            "[workspace.dependencies]\nserde = { version = \"1.0.200\" }\n[workspace.package] # all\nversion = '0.3.0'\n",
            "0.3.0"
        ),
        (
            "Cargo.toml",
            "[workspace.package]\nversion = \"9\"\n[package]\nrust-version = \"1.75\"\nversion = \"0.4.0\" # x\n",
            "0.4.0"
        ),
        ("Cargo.toml", "[dependencies.serde]\r\nversion = \"1\"\r\n[ package ]\r\n\"version\" = \"2.0\"\r\n", "2.0"),
        ("Cargo.toml", "[workspace]\npackage.version = \"0.5\"\n[[bin]]\nversion = \"1\"\n", "0.5"),
        (
            "pyproject.toml",
            "[tool.ruff]\ntarget-version = \"py311\"\n[project]\ndescription = \"\"\"\nversion = \"8\"\n\"\"\"\nversion = \"1.1\"\n",
            "1.1"
        ),
        ("pyproject.toml", "[tool.black]\nversion = \"2\"\n[tool.poetry]\nversion = \"1.2\"\n", "1.2"),
        ("Cargo.toml", "a\(String(repeating: " ", count: 20_000))b\n[package]\nversion = \"4.5.6\"\n", "4.5.6"),
        ("gleam.toml", "name = \"x\"\nversion = \"1.3.0\"\n[dependencies]\nx = \"1\"\n", "1.3.0"),
        ("package.json", "{\"name\": \"x\", \"version\": \"7.0.1\"}", "7.0.1"),
        (
            "Info.plist",
            "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict><key>CFBundleShortVersionString</key><string>2.1</string></dict></plist>",
            "2.1"
        ),
        ("VERSION", "  3.1 \nmore\n", "3.1"),
        (
            "a.xcodeproj/project.pbxproj",
            "// !$*UTF8*$!\n\t\t\t\tMARKETING_VERSION = 1.4;\n\t\t\t\t\"MARKETING_VERSION[sdk=macosx*]\" = \"1.4\";\n",
            "1.4"
        ),
        ("Base.xcconfig", "MARKETING_VERSION = 1.4.2 // of all targets\r\nCURRENT_PROJECT_VERSION = 7\r\n", "1.4.2"),
    ])
    func `a file's version is found`(name: String, text: String, version: String) throws {
        #expect(try VersionFile.version(in: Array(text.utf8), named: name) == version)
    }

    @Test(arguments: [
        ("Package.swift", "let platformVersion = \"1\"\n"), ("package.json", "{\"version\": 3}"), ("Info.plist", "x"),
        ("a.xcconfig", "// MARKETING_VERSION = 1.0\nMY_MARKETING_VERSION = 1.0\nMARKETING_VERSION =\n"),
        ("VERSION", ""), ("V.swift", "case version = \"v\"\n"), ("Cargo.toml", "[package]\nversion.workspace = true\n"),
        ("Cargo.toml", "[package]\nrust-version = \"1.75\"\n[dependencies]\nserde = { version = \"1\" }\n"),
        ("Cargo.toml", "[[package]]\nversion = \"1\"\n[dependencies.serde]\nversion = \"1.0\"\n"),
        ("pyproject.toml", "[project]\ndynamic = [\"version\"]\n[tool.mypy]\npython_version = \"3.11\"\n"),
    ])
    func `a file without a version has none`(name: String, text: String) throws {
        #expect(try VersionFile.version(in: Array(text.utf8), named: name) == nil)
    }

    @Test(arguments: [
        (
            "Info.plist",
            "<plist version=\"1.0\"><dict><key>CFBundleShortVersionString</key><string>$(MARKETING_VERSION)</string></dict></plist>"
        ),
        ("a.xcodeproj/project.pbxproj", "\t\t\t\tMARKETING_VERSION = 1.4;\n\t\t\t\tMARKETING_VERSION = 1.0;\n"),
        ("a.xcconfig", "MARKETING_VERSION = $(BASE).2\n"),
    ])
    func `a file that leaves the version open is a problem`(name: String, text: String) {
        #expect(throws: VersionProblem.self) { try VersionFile.version(in: Array(text.utf8), named: name) }
    }

    @Test func `the build number counts the first parents, and rules that give no version are refused`() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/repo"
            try await runCommand(
                "sh", "-ec",
                """
                git init -q -b main "$0"; cd "$0"
                git config user.name Ada; git config user.email ada@example.com
                echo ../../x > BAD; ln -s 1.0 LINK; echo v1.2 > VERSION; echo latest > LATEST; echo vim > NAME; git add .
                git commit -qm one
                git checkout -qb side; git commit -q --allow-empty -m a; git commit -q --allow-empty -m b
                git checkout -q main; git commit -q --allow-empty -m two; git merge -q --no-ff -m three side
                """, path)
            let repository = try Repository(opening: path)
            let head = try repository.resolve("main")
            let untagged = VersionResolver(repository: repository, commit: head, tag: nil)
            let counted = try untagged.version(by: .counted("1.4"))
            #expect(counted == ReleaseVersion(version: "1.4.3", marketing: "1.4", buildNumber: 3, tag: "v1.4.3"))
            let tagged = VersionResolver(repository: repository, commit: head, tag: "v2.0")
            #expect(try tagged.version(by: .tag()).version == "2.0")
            #expect(try tagged.version(by: .tag()).tag == "v2.0")
            #expect(throws: VersionProblem.self) { try untagged.version(by: .tag()) }
            #expect(throws: VersionProblem.self) { try tagged.version(by: .tag(prefix: "release-")) }
            #expect(try tagged.version(by: .tag(prefix: "")).version == "v2.0")
            for (tag, prefix) in [("vfoo", "v"), ("vendor-1", "v"), ("v", "v"), ("release-1", ""), ("v.1", "v")] {
                let stray = VersionResolver(repository: repository, commit: head, tag: tag)
                #expect(throws: VersionProblem.self) { try stray.version(by: .tag(prefix: prefix)) }
            }
            let read = try untagged.version(by: .file("VERSION"))
            #expect(read == ReleaseVersion(version: "1.2", buildNumber: 3, tag: "v1.2"))
            #expect(try untagged.version(by: .file("NAME")).version == "vim")
            #expect(throws: VersionProblem.self) { try untagged.version(by: .file("LATEST")) }
            #expect(throws: VersionProblem.self) { try untagged.version(by: .file("BAD")) }
            #expect(throws: VersionProblem.self) { try untagged.version(by: .file("missing")) }
            #expect(throws: VersionProblem.self) { try untagged.version(by: .file("LINK")) }
            // Its tag may be at this commit or nowhere.
            try VersionResolver.check(counted, of: head, in: repository)
            try await runCommand("git", "-C", path, "tag", "-a", "-m", "x", "v1.4.3", "main")
            try VersionResolver.check(counted, of: head, in: repository)
            let other = try repository.resolve("side")
            #expect(throws: VersionProblem.self) { try VersionResolver.check(counted, of: other, in: repository) }
        }
    }

    @Test(arguments: ["1.0", "1.0.0-rc.1+5", "2026-11-26", "v1~rc"])
    func `plain names are versions`(text: String) { #expect(ReleaseVersion.isUsable(text)) }

    @Test(arguments: ["", "-1", ".1", "1/2", "1..2", "1 2", "1\n", "ä", String(repeating: "1", count: 101)])
    func `what could be a path or an option is no version`(text: String) { #expect(!ReleaseVersion.isUsable(text)) }
}
