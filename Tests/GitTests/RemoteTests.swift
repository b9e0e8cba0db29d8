import Foundation
import GitFixture
import Synchronization
import Testing

@testable import Git

@Suite(.timeLimit(.minutes(2))) struct RemoteTests {
    let fixture: Fixture
    let path: String
    let mirror: Repository
    init() throws {
        fixture = try Fixture()
        path = try fixture.repository()
        mirror = try Repository.create(bareAt: fixture["mirror.git"])
    }
    private let refspecs = ["+refs/heads/*:refs/remotes/origin/*", "+refs/pull/*/head:refs/remotes/origin/pr/*"]

    @Test(arguments: ["", "file://"])
    func fetchesPrunesAndKeepsOwnRefs(scheme: String) throws {
        let head = try fixture.id("HEAD")
        try fixture.git("branch", "gone")
        try fixture.git("tag", "v1")
        try fixture.git("update-ref", "refs/pull/7/head", head.hex)
        let seen = Mutex(0)
        try mirror.fetch(url: scheme + path, refspecs: refspecs, prune: true) { progress in
            seen.withLock { $0 = max($0, progress.receivedObjects) }
        }
        try mirror.setRef("refs/pipectl/run/1", to: head, message: "m")
        try mirror.setRef("refs/heads/own", to: head, message: "m")
        #expect(
            Set(try mirror.snapshot().refs.keys) == [
                "refs/remotes/origin/main", "refs/remotes/origin/gone", "refs/remotes/origin/pr/7",
                "refs/pipectl/run/1", "refs/heads/own",
            ])
        try fixture.git("branch", "-D", "gone")
        try fixture.git("update-ref", "-d", "refs/pull/7/head")
        try mirror.fetch(url: scheme + path, refspecs: refspecs, prune: false)
        #expect(try mirror.ref("refs/remotes/origin/gone") == head)
        try mirror.fetch(url: scheme + path, refspecs: refspecs, prune: true)
        #expect(
            Set(try mirror.snapshot().refs.keys) == [
                "refs/remotes/origin/main", "refs/pipectl/run/1", "refs/heads/own",
            ])
    }

    @Test(arguments: ["+refs/*:refs/*", "+refs/heads/*:refs/pipectl/x/*", "+refs/heads/*:refs/pipe*"])
    func refusesToPruneOwnRefs(_ refspec: String) {
        #expect(code { try mirror.fetch(url: path, refspecs: [refspec], prune: true) } == .invalidName)
    }

    @Test func fetchFailsWithTheURL() {
        let error = #expect(throws: GitError.self) {
            try mirror.fetch(url: fixture["missing"], refspecs: refspecs)
        }
        #expect(error?.description.contains("missing") == true)
        #expect(mirror.remoteURL("origin") == nil)
    }

    @Test func pushesAndReportsRefusal() throws {
        let bare = try Repository.create(bareAt: fixture["bare.git"])
        let work = try Repository(opening: path)
        try work.push(url: fixture["bare.git"], refspecs: ["refs/heads/main:refs/heads/main"])
        #expect(try bare.ref("refs/heads/main") == fixture.id("HEAD"))
        try fixture.git("commit", "-q", "--amend", "-m", "Other")
        #expect(
            code { try work.push(url: fixture["bare.git"], refspecs: ["refs/heads/main:refs/heads/main"]) }
                == .nonFastForward)
        try work.push(url: fixture["bare.git"], refspecs: ["+refs/heads/main:refs/heads/main"])
        #expect(try bare.ref("refs/heads/main") == fixture.id("HEAD"))
        try fixture.git("remote", "add", "origin", "https://example.com/x.git")
        #expect(try Repository(opening: path).remoteURL("origin") == "https://example.com/x.git")
    }

    @Test func `tokens are sent only to their host`() throws {
        try """
        machine git.example.com login ada password fromnetrc
        machine other.example.com login x password no
        """.write(toFile: fixture[".netrc"], atomically: true, encoding: .utf8)
        try "https://bob:p%40ss@git.example.com\nhttps://x:no@other.example.com\n"
            .write(toFile: fixture[".git-credentials"], atomically: true, encoding: .utf8)
        let source = TokenSource(environment: ["GITHUB_TOKEN": "gh"], home: fixture.root)
        #expect(
            source.credentials(host: "git.example.com", user: nil) == [
                .password(user: "ada", secret: "fromnetrc"), .password(user: "bob", secret: "p@ss"),
            ])
        #expect(source.credentials(host: "github.com", user: nil) == [.password(user: "oauth2", secret: "gh")])
        #expect(source.credentials(host: "nowhere.example.com", user: nil) == [])
    }

    @Test func `credentials are offered once, and never to another host`() {
        let https: UInt32 = 1
        let environment = ["PIPECTL_GIT_TOKEN": "t"]
        var offers = CredentialOffers(url: "https://a.example.com/x", environment: environment, home: fixture.root)
        #expect(offers.next(url: "https://b.example.com/x", user: nil, allowed: https) == nil)
        #expect(offers.next(url: "https://a.example.com/x", user: nil, allowed: https) != nil)
        #expect(offers.next(url: "https://a.example.com/x", user: nil, allowed: https) == nil)
        var plain = CredentialOffers(url: "http://a.example.com/x", environment: environment, home: fixture.root)
        #expect(plain.next(url: "http://a.example.com/x", user: nil, allowed: https) == nil)
        #expect(CredentialOffers.host(of: "git@host.example:a/b") == "host.example")
        #expect(RemoteSession.withoutSecrets("https://u:p@h/x") == "https://h/x")
    }
}
