import Control
import Foundation
import Testing
@testable import Watching

@Suite struct RepositoryDirectoryTests {
    @Test(arguments: [
        [
            "https://host.example/team/app", "https://host.example/team/app.git", "https://host.example/team/app/",
            "https://user:token@HOST.example:443/team/app.git", "ssh://git@host.example/team/app.git",
            "ssh://git@host.example:22/team/app", "git@host.example:team/app.git", "host.example:/team/app",
            "git://host.example:9418/team/app.git", "https://host.example/team/%61pp",
        ],
        [
            "/srv/none/app.git", "/srv/none/app", "/srv/none/app/", "file:///srv/none/app.git",
            "/srv/none/x/../app/.git",
        ],
    ])
    func `all ways to write a place are one`(places: [String]) {
        #expect(Set(places.map(RepositoryPlace.key)).count == 1, "\(places.map(RepositoryPlace.key))")
    }

    @Test(arguments: [
        ("https://host.example/team/app", "https://host.example/team/app2"),
        ("https://host.example/team/app", "https://other.example/team/app"),
        ("https://host.example:8443/team/app", "https://host.example/team/app"),
        ("https://host.example/team/App", "https://host.example/team/app"),
        ("/team/app", "https://host.example/team/app"), ("/host.example/app", "https://host.example/app"),
        ("alice@host.example:app.git", "bob@host.example:app.git"), ("host.example:app", "host.example:/app"),
        ("alice@host.example:app", "https://host.example/app"), ("alice@host.example:app", "git@host.example:app"),
        ("ssh:///srv/app.git", "/srv/app.git"), ("https://ada@/srv/app.git", "/srv/app.git"),
    ])
    func `other places stay others`(one: String, other: String) {
        #expect(RepositoryPlace.key(one) != RepositoryPlace.key(other))
    }

    private let directory = RepositoryDirectory(entries: [
        .init(name: "app", location: "/home/ada/app", gitDirectory: nil, isWatched: false),
        .init(
            name: "app-2", location: "git@host.example:team/app.git", gitDirectory: "/state/mirrors/app-2.git",
            isWatched: true),
        .init(name: "lib", location: "/srv/lib.git", gitDirectory: "/srv/lib.git", isWatched: true),
    ])

    private func clone(_ remotes: String...) -> LocalClone {
        LocalClone(directories: ["/home/ada/app/.git"], remotes: remotes)
    }

    @Test func `a clone is the repository that is watched, whichever remote says so`() {
        #expect(directory.identify("/home/ada/app", clone("https://host.example/team/app"))?.name == "app-2")
        #expect(
            directory.identify("/home/ada/app", clone("https://host.example/ada/fork", "file:///srv/lib.git"))?.name
                == "lib")
        #expect(directory.identify("/home/ada/app", clone("https://host.example/else"))?.name == "app")
        #expect(directory.identify("/home/ada/new", nil) == nil)
    }

    @Test func `a linked work tree is the repository that it is of`() {
        let tree = LocalClone(directories: ["/srv/lib.git/worktrees/x", "/srv/lib.git"], remotes: [])
        #expect(directory.identify("/home/ada/x", tree)?.name == "lib")
    }

    @Test func `a name or a place that is not known lists those that are`() throws {
        #expect(try directory.find("lib", nil).name == "lib")
        #expect(try directory.find("https://host.example/team/app", nil).name == "app-2")
        let error = #expect(throws: RequestError.self) { try directory.find("nosuch", nil) }
        #expect(error?.code == .unknownRepository)
        #expect(error?.description.contains("app-2, lib, app") == true)
    }
}
