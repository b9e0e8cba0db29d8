import ProofKeys
import TestBasics
import TestSupport
import Foundation
import Git
import Testing

import Engine
@testable import Preparing

/// The inputs of steps in real trees.
struct TreeInputsTests {
    /// Two commits: the second one changes `Sources/a.swift`, makes `run.sh` executable and adds `docs/new.md`.
    private func withTrees(_ body: @Sendable @escaping (Repository, OID, OID) throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await runCommand(
                "sh", "-ec",
                """
                git init -q -b main "$0"; cd "$0"
                git config user.name Ada; git config user.email ada@example.com
                mkdir -p Sources/deep docs; echo a > Sources/a.swift; echo b > Sources/deep/b.swift; echo c > Sources/c.txt
                echo d > docs/d.md; echo r > run.sh; ln -s Sources link; git add .; git commit -qm one; git tag one
                echo a2 > Sources/a.swift; chmod +x run.sh; echo n > docs/new.md; git add .; git commit -qm two
                """, folder + "/repo")
            try await withRepository(at: folder + "/repo") { git in
                let (old, new) = (try git.commit(git.resolve("one")).tree, try git.commit(git.resolve("main")).tree)
                try body(git, old, new)
            }
        }
    }

    @Test func `a whole folder is one line`() async throws {
        try await withTrees { (git, old, _) throws in
            let reader = TreeInputs(repository: git, tree: old)
            func paths(_ patterns: String...) throws -> [String] {
                try reader.lines(patterns).map { String($0.split(separator: " ", maxSplits: 2)[2]) }
            }
            #expect(try paths("Sources/**") == ["Sources"])
            #expect(try paths("Sources") == ["Sources"], "a folder that is named stands for all in it")
            #expect(try paths("**/*.swift") == ["Sources/a.swift", "Sources/deep/b.swift"])
            #expect(try paths("Sources/*") == ["Sources/a.swift", "Sources/c.txt", "Sources/deep"])
            #expect(try paths("run.sh", "link") == ["link", "run.sh", "Sources"], "what the link leads to is read")
            #expect(try paths("Sources", "link") == ["Sources", "link"], "once")
            #expect(try paths("none/**").isEmpty)
            #expect(try reader.read(["none/**"]).isEmpty)
            #expect(try reader.read([]).digest == "tree \(old.hex)")
            #expect(try reader.lines(["link"])[0].hasPrefix("link "))
        }
    }

    @Test(arguments: [
        (["Sources/**"], true), (["**/*.swift"], true), (["Sources/deep/**"], false), (["docs/d.md"], false),
        (["docs"], true), (["run.sh"], true), ([], true), (["link"], true), (["Sources/c.txt", "docs/d.md"], false),
    ])
    func onlyWhatIsDeclaredChangesTheDigest(patterns: [String], isChanged: Bool) async throws {
        try await withTrees { (git, old, new) throws in
            let before = try TreeInputs(repository: git, tree: old).read(patterns)
            let after = try TreeInputs(repository: git, tree: new).read(patterns)
            #expect((before.digest != after.digest) == isChanged)
            let paths = try TreeInputs(repository: git, tree: new).differences(from: old, patterns, limit: 10)
            #expect(paths.isEmpty == !isChanged)
        }
    }

    @Test func `attributes above an input belong to it`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/repo.git"
            _ = try Repository.create(bareAt: path)
            try await withRepository(at: path) { git throws in
                func reader(_ attributes: [String: String]) throws -> TreeInputs {
                    var files = ["src/deep/a": "a", "docs/b": "b"]
                    for (folder, text) in attributes { files[folder + ".gitattributes"] = text }
                    return TreeInputs(
                        repository: git,
                        tree: try git.createTree(
                            files.mapValues { .blob(try git.createBlob(Array($0.utf8))) }))
                }
                func digest(_ attributes: [String: String], _ pattern: String) throws -> String {
                    try reader(attributes).read([pattern]).digest
                }
                for place in ["", "src/", "src/deep/"] {
                    let (one, two) = ([place: "* text"], [place: "* -text"])
                    #expect(try digest(one, "src/deep/**") != digest(two, "src/deep/**"), "\(place)")
                    #expect(
                        try reader(two).differences(from: reader(one).tree, ["src/deep/**"], limit: 9)
                            == [place + ".gitattributes"])
                }
                #expect(try digest(["docs/": "* text"], "src/deep/**") == digest(["docs/": "* -text"], "src/deep/**"))
                #expect(try reader(["": "* text"]).read(["none/**"]).isEmpty, "nothing that is declared is there")
            }
        }
    }

    @Test func `links count as their targets in the tree`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/repo.git"
            _ = try Repository.create(bareAt: path)
            try await withRepository(at: path) { git throws in
                /// A tree in which `data/deep/x` is `data`.
                func reader(_ data: String, links: [String: String]) throws -> TreeInputs {
                    let files = [("100644", "data/deep/x", data), ("100644", "data/y", "y"), ("100644", "src/a", "a")]
                    var lines = ["commit refs/heads/main", "committer a <a@b> 0 +0000", "data 0", "deleteall"]
                    for (mode, path, text) in files + links.map({ ("120000", $0.key, $0.value) }) {
                        lines += ["M \(mode) inline \(path)", "data \(text.utf8.count)", text]
                    }
                    let imported = try CommandRunner(in: path).waitForEnd(
                        of: ["git", "fast-import", "--quiet", "--force"], input: lines.joined(separator: "\n"))
                    try #require(imported.code == 0, "\(imported.errors)")
                    return TreeInputs(repository: git, tree: try git.commit(git.resolve("main")).tree)
                }
                func paths(_ reader: TreeInputs, _ patterns: String...) throws -> [String] {
                    try reader.lines(patterns).map {
                        String($0.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)[2])
                    }
                }
                /// What `src` leads to besides itself.
                func reached(_ links: [String: String]) throws -> [String] {
                    let (one, two) = (try reader("1", links: links), try reader("2", links: links))
                    let found = try paths(one, "src/**").dropFirst()
                    let isSeen = found.contains { $0.isEmpty || $0.hasPrefix("data") && $0 != "data/y" }
                    #expect((try one.read(["src/**"]).digest != two.read(["src/**"]).digest) == isSeen, "\(links)")
                    #expect(
                        try two.differences(from: one.tree, ["src/**"], limit: 9) == (isSeen ? ["data/deep/x"] : []),
                        "\(links)")
                    return Array(found)
                }
                #expect(try reached(["src/l": "../data"]) == ["data"])
                #expect(try reached(["src/l": "../data/deep/x"]) == ["data/deep/x"])
                #expect(try reached(["src/l": "../data/y"]) == ["data/y"])
                #expect(try reached(["src/deep/er/l": "../../../data/deep"]) == ["data/deep"], "below a folder")
                #expect(
                    try reached(["src/l": "../other", "other": "./data//deep/"]) == ["other", "data/deep"],
                    "through another")
                #expect(try reached(["src/l": "m/x", "src/m": "../data/deep"]) == ["data/deep/x", "data/deep"])
                #expect(try reached(["src/l": "../more", "more/m": "../data/deep/x"]) == ["more", "data/deep/x"])
                #expect(try reached(["src/l": "a"]) == [], "what is read anyway")
                #expect(try reached(["src/l": "/data"]) == [], "out of the tree")
                #expect(try reached(["src/l": "../../data"]) == [], "out of the tree")
                #expect(try reached(["src/l": "../none"]) == [], "to nothing")
                #expect(try reached(["src/l": "../data/y/z"]) == [], "a file is no folder")
                #expect(try reached(["src/l": "m", "src/m": "l"]) == [], "in a circle")
                #expect(try reached(["src/l": ".."]) == [""], "the whole tree")
                #expect(try reached(["src/l": "/workspace/data/deep"]) == ["data/deep"], "as the sandbox shows it")
                for text in ["//workspace/data/deep", "/workspace/../workspace/data/deep", "../../workspace/data/deep"]
                {
                    #expect(try reached(["src/l": text]) == ["data/deep"], "\(text)")
                }
                #expect(try reached(["src/l": "../m/deep/x", "m": "/workspace/data"]) == ["m", "data/deep/x"])
                #expect(try reached(["src/l": "/workspaces/data"]) == [])
                let attributes = ["src/l": "../data/deep/x", "data/.gitattributes": "* text"]
                #expect(try reached(attributes) == ["data/deep/x", "data/.gitattributes"])
                // A link on the way counts also where it leads nowhere.
                let lost = try [("none", "a"), ("more", "a"), ("/none", "a")].map { text, _ in
                    try reader("1", links: ["src/l": "../cur/x", "cur": text]).read(["src"]).digest
                }
                #expect(Set(lost).count == 3)
                // Whoever names a file below a link reads what is there.
                let named = ["conf": "data/deep", "src/l": "a"]
                #expect(try paths(reader("1", links: named), "conf/x") == ["conf", "data/deep"])
                #expect(try paths(reader("1", links: named), "conf/**") == ["conf", "data/deep"])
                #expect(try paths(reader("1", links: named), "conf/x/**") == ["conf", "data/deep"])
                #expect(try paths(reader("1", links: named), "{none,conf/x,src/**}").contains("data/deep"))
                #expect(try paths(reader("1", links: named), "src/**/*.none") == [])
                #expect(try paths(reader("1", links: named), "**/*.none") == [])
                #expect(
                    try reader("2", links: named).differences(
                        from: reader("1", links: named).tree, ["conf/x"], limit: 9) == ["data/deep/x"])
                let many = Dictionary(uniqueKeysWithValues: (0..<10_001).map { ("src/\($0)", "../data") })
                #expect(throws: TooManyLinks.self) { try reader("1", links: many).read(["src/**"]) }
                #expect(try paths(reader("1", links: ["data/l": "../src"]), "data") == ["data", "src"])
                let tracked = try reader("1", links: ["data/l": "../src"])
                #expect(
                    try tracked.tracked(["data/**"]) != reader("2", links: ["data/l": "../src"]).tracked(["data/**"]))
                #expect(try tracked.tracked(["none/**"]).files.isEmpty)
                #expect(try tracked.tracked(["data/**"]).files == ["data/deep/x", "data/l", "data/y"])
                #expect(try tracked.tracked(["data/*"]).files == ["data/l", "data/y"])
            }
        }
    }

    /// Folders that hold each other ten times, eight deep: a hundred million paths in ten objects.
    @Test(arguments: ["100644", "120000"]) func `trees that contain each other many times are not walked`(mode: String)
        async throws
    {
        try await withTemporaryFolder { folder in
            try await runCommand(
                "sh", "-ec",
                """
                git init -q --bare "$0"; cd "$0"
                blob=$(printf ../x | git hash-object -w --stdin)
                tree=$(printf '%s blob %s\tl\n' "$1" "$blob" | git mktree)
                for level in 1 2 3 4 5 6 7 8; do
                    tree=$(for name in 0 1 2 3 4 5 6 7 8 9; do printf '040000 tree %s\t%s\n' "$tree" $name; done | git mktree)
                done
                root=$(printf '040000 tree %s\ta\n' "$tree" | git mktree)
                git update-ref refs/heads/main $(git -c user.name=a -c user.email=a commit-tree -m m $root)
                """, folder + "/repo.git", mode)
            try await withRepository(at: folder + "/repo.git") { git throws in
                let reader = TreeInputs(repository: git, tree: try git.commit(git.resolve("main")).tree)
                if mode == "120000" {
                    #expect(throws: TooManyLinks.self) { try reader.read(["a"]) }
                } else {
                    #expect(try reader.lines(["a"]).count == 1)
                    #expect(throws: TreeTooLarge.self) { try reader.lines(["**/none"]) }
                    // A folder's name matches none of the files in it.
                    #expect(throws: TreeTooLarge.self) { try reader.tracked(["a"]) }
                    #expect(throws: TreeTooLarge.self) { try reader.tracked(["a/**"]) }
                }
            }
        }
    }

    @Test func `paths that Git distinguishes are two inputs`() async throws {
        try await withTemporaryFolder { folder in
            // Two forms of é, two bytes that are no UTF-8, and a submodule.
            try await runCommand(
                "bash", "-ec",
                """
                git init -q --bare "$0"; cd "$0"
                commit() {
                    one=$(echo "$1" | git hash-object -w --stdin); two=$(echo two | git hash-object -w --stdin)
                    link=$(printf $'../uni/e\\xcc\\x81' | git hash-object -w --stdin)
                    uni=$(printf $'100644 blob %s\\te\\xcc\\x81\\n100644 blob %s\\t\\xc3\\xa9\\n' $one $two | git mktree)
                    odd=$(printf "100644 blob %s\\t$2\\n" $two | git mktree)
                    src=$(printf '120000 blob %s\\tl\\n' $link | git mktree)
                    sub=$(printf '160000 commit %s\\tlib\\n' $3 | git mktree --missing)
                    root=$(printf '040000 tree %s\\todd\\n040000 tree %s\\tsrc\\n040000 tree %s\\tsub\\n040000 tree %s\\tuni\\n' \
                        $odd $src $sub $uni | git mktree)
                    git update-ref refs/heads/$4 $(git -c user.name=a -c user.email=a commit-tree -m m $root)
                }
                ones=1111111111111111111111111111111111111111
                commit a '\\376' $ones old; commit b '\\376' $ones uni; commit a '\\377' $ones odd
                commit a '\\376' 2222222222222222222222222222222222222222 sub
                """, folder + "/repo.git")
            try await withRepository(at: folder + "/repo.git") { git throws in
                func reader(_ branch: String) throws -> TreeInputs {
                    TreeInputs(repository: git, tree: try git.commit(git.resolve("refs/heads/\(branch)")).tree)
                }
                let old = try reader("old")
                for (branch, patterns, changed) in [
                    ("uni", ["src/**", "uni/\u{E9}"], ["uni/e\u{301}"]), ("odd", ["odd/*"], ["odd"]),
                    ("odd", ["**/\u{FFFD}"], ["odd"]), ("sub", ["sub/lib/src/**"], ["sub/lib"]),
                    ("sub", ["{src/l,sub/lib/a}"], ["sub/lib"]),
                ] {
                    let new = try reader(branch)
                    #expect(try new.read(patterns) != old.read(patterns), "\(branch) \(patterns)")
                    let paths = try new.differences(from: old.tree, patterns, limit: 9)
                    #expect(Set(paths.map { Array($0.utf8) }) == Set(changed.map { Array($0.utf8) }), "\(paths)")
                    #expect(try new.read(["none/**"]) == old.read(["none/**"]))
                }
            }
        }
    }

    @Test func `links with very long targets are refused`() async throws {
        try await withTemporaryFolder { folder in
            try await runCommand(
                "sh", "-ec",
                """
                git init -q -b main "$0"; cd "$0"; mkdir src; echo a > src/a
                text=$(printf './%.0s' $(seq 1500)); for i in $(seq 800); do ln -s "$text/../src/$i" src/$i; done
                git add .; git -c user.name=a -c user.email=a commit -qm m
                """, folder + "/repo")
            try await withRepository(at: folder + "/repo") { git throws in
                let reader = TreeInputs(repository: git, tree: try git.commit(git.resolve("main")).tree)
                #expect(throws: TooManyLinks.self) { try reader.read(["src"]) }
            }
        }
    }

    @Test func `differences are named and limited`() async throws {
        try await withTrees { (git, old, new) throws in
            let reader = TreeInputs(repository: git, tree: new)
            #expect(try reader.differences(from: old, [], limit: 10) == ["Sources/a.swift", "docs/new.md", "run.sh"])
            #expect(try reader.differences(from: old, ["docs", "*.sh"], limit: 10) == ["docs/new.md", "run.sh"])
            #expect(try reader.differences(from: old, [], limit: 1) == ["Sources/a.swift"])
            #expect(try reader.differences(from: new, [], limit: 10).isEmpty)
        }
    }

    @Test func `a tree that is too deep is refused`() async throws {
        try await withTemporaryFolder { folder in
            let path = folder + "/deep.git"
            _ = try Repository.create(bareAt: path)
            try await withRepository(at: path) { git throws in
                let deep = String(repeating: "a/", count: 300) + "f"
                let tree = try git.createTree([deep: .blob(git.createBlob([65]))])
                let reader = TreeInputs(repository: git, tree: tree)
                #expect(throws: TreeTooDeep.self) { try reader.lines(["**/f"]) }
            }
        }
    }

    @Test func `the image of a machine is its name and version`() {
        let text = "PRETTY_NAME=\"Debian GNU/Linux 12\"\nVERSION_ID=\"12\"\nID=debian\nID_LIKE=x\n"
        #expect(MachineClass.image(text) == ["ID=debian", "VERSION_ID=12"])
        #expect(MachineClass.machine.count >= 2)
    }
}
