import Foundation
import TestBasics
import Testing

@testable import Delivery

struct HomebrewTests {
    private static func formula(_ version: String, _ note: String = "") -> [UInt8] {
        Array("class Hello < Formula\n  url \"https://example.org/hello-\(version).tar.gz\"\n  # \(note)\nend\n".utf8)
    }

    private static func tap(_ folder: TemporaryFolder) async throws -> String {
        let tap = folder["homebrew-tap.git"]
        try await runCommand(
            "sh", "-c",
            "git init -q --bare -b main '\(tap)' && git clone -q '\(tap)' '\(folder["w"])' 2>/dev/null; cd '\(folder["w"])' && git checkout -q -B main && echo hi > README && git add . && git -c user.name=a -c user.email=a@b commit -qm first && git push -q origin main"
        )
        return tap
    }

    private static func publisher(_ tap: String, _ folder: TemporaryFolder) -> HomebrewPublisher {
        HomebrewPublisher(
            tap: tap, formula: "dist/hello.rb", token: nil, work: folder["work"], patience: impatient)
    }

    private static func commits(_ tap: String) async throws -> [String] {
        try await runCommand("git", "--git-dir", tap, "log", "--format=%s", "main").split(separator: "\n").map(
            String.init)
    }

    @Test(
        arguments: [
            ("https://github.com/acme/homebrew-tap", "brew install acme/tap/hello"),
            ("git@github.com:acme/homebrew-tap.git", "brew install acme/tap/hello"),
            ("ssh://git@github.com/acme/homebrew-tap", "brew install acme/tap/hello"),
            (
                "https://github.com/acme/formulas",
                "brew tap acme/formulas https://github.com/acme/formulas && brew install acme/formulas/hello"
            ),
            (
                "https://gitlab.com/group/sub/homebrew-tap.git/",
                "brew tap sub/tap https://gitlab.com/group/sub/homebrew-tap.git/ && brew install sub/tap/hello"
            ),
            (
                "git@git.example.org:acme/homebrew-x",
                "brew tap acme/x git@git.example.org:acme/homebrew-x && brew install acme/x/hello"
            ),
            ("https://example.org/tap", nil), ("https://example.org/a/tap;ls", nil), ("file:///srv/a/tap", nil),
            ("/srv/a/tap", nil),
        ] as [(String, String?)])
    func `its users are told how to install it`(tap: String, line: String?) {
        #expect(HomebrewPublisher.install("hello", tap) == line)
    }

    @Test(.timeLimit(.minutes(1)))
    func `each version is one commit, also when its step is repeated after the next one`() async throws {
        let folder = try TemporaryFolder()
        let tap = try await Self.tap(folder)
        let publisher = Self.publisher(tap, folder)
        let first = try await release("1.0.0", in: folder, ["hello.rb": Self.formula("1.0.0")])
        let second = try await release("1.1.0", in: folder, ["hello.rb": Self.formula("1.1.0")])
        for release in [first, first, second, first, second] { try await publisher.bring(release) }
        #expect(try await Self.commits(tap) == ["hello 1.1.0", "hello 1.0.0", "first"])
        let shown = try await runCommand("git", "--git-dir", tap, "show", "main:Formula/hello.rb")
        #expect(shown.contains("hello-1.1.0"))
        #expect(try await runCommand("git", "--git-dir", tap, "show", "main:README") == "hi")
    }

    @Test(.timeLimit(.minutes(1)))
    func `the same version with other bytes and an older version are conflicts`() async throws {
        let folder = try TemporaryFolder()
        let tap = try await Self.tap(folder)
        let publisher = Self.publisher(tap, folder)
        try await publisher.bring(try await release("1.10.0", in: folder, ["hello.rb": Self.formula("1.10.0")]))
        let changed = try await release("1.10.0", in: folder, ["hello.rb": Self.formula("1.10.0", "changed")])
        #expect(try await publisher.failure(changed) == .conflict)
        let older = try await release("1.9.0", in: folder, ["hello.rb": Self.formula("1.9.0")])
        #expect(try await publisher.failure(older) == .conflict)
        #expect(try await Self.commits(tap).count == 2)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a version follows its candidates, and none of them comes back`() async throws {
        let folder = try TemporaryFolder()
        let tap = try await Self.tap(folder)
        let publisher = Self.publisher(tap, folder)
        for version in ["1.2.0-beta.2", "1.2.0-rc.1", "1.2.0"] {
            try await publisher.bring(try await release(version, in: folder, ["hello.rb": Self.formula(version)]))
        }
        let late = try await release("1.2.0-rc.3", in: folder, ["hello.rb": Self.formula("1.2.0-rc.3")])
        #expect(try await publisher.failure(late) == .conflict)
        #expect(try await Self.commits(tap).count == 4)
    }

    @Test(
        arguments: [
            (
                // A lost race, with commits whose ids have such digits.
                """
                To https://github.com/octo/homebrew-tap
                !\t4403401f0c6a8b1e403d401e9c2b7a1f:refs/heads/main\t[rejected] (stale info)
                Done
                error: failed to push some refs to 'https://github.com/octo/homebrew-tap'
                """, .unreachable
            ),
            ("fatal: unable to access 'https://h/t/': Could not resolve host: h403.example.org", .unreachable),
            ("fatal: unable to access 'https://h/t/': The requested URL returned error: 403", .refused),
            ("fatal: unable to access 'https://h/t/': The requested URL returned error: 401", .refused),
            (
                "remote: no pushes today\n!\t44:refs/heads/main\t[remote rejected] (pre-receive hook declined)\nDone",
                .refused
            ),
            (
                "!\t44:refs/heads/main\t[remote rejected] (cannot lock ref 'refs/heads/main': is at 55 but expected 44)",
                .unreachable
            ),
            ("fatal: Authentication failed for 'https://h/t/'", .refused),
            ("fatal: repository 'https://h/t/' not found", .invalid),
        ] as [(String, DeliveryProblem.Code)])
    func `what git says is understood`(text: String, code: DeliveryProblem.Code) {
        let problem = TapAttempt.problem("https://h/t", text, "pushing to the tap")
        #expect(problem.code == code)
        #expect(!text.contains("no pushes today") || problem.description.contains("no pushes today"))
    }

    @Test(.timeLimit(.minutes(1)))
    func `a release that is withdrawn on its way is not pushed`() async throws {
        let folder = try TemporaryFolder()
        let tap = try await Self.tap(folder)
        let release = try await release("1.0.0", in: folder, ["hello.rb": Self.formula("1.0.0")])
        #expect(try await Self.publisher(tap, folder).failure(release, Withdrawn()) == .conflict)
        #expect(try await Self.commits(tap) == ["first"])
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["ext::sh -c id", "--upload-pack=id", "https://h/ x"])
    func `what is no address of a tap starts nothing`(tap: String) async throws {
        let folder = try TemporaryFolder()
        let release = try await release(in: folder, ["hello.rb": Self.formula("1.0.0")])
        #expect(try await Self.publisher(tap, folder).failure(release) == .invalid)
    }
}
