import Foundation
import GitFixture
import Git
import TestBasics
import Testing

/// A checkout over another one must give the same files as a checkout into an empty folder, byte for byte.
@Suite(.timeLimit(.minutes(2))) struct LayerTests {
    let fixture: Fixture
    let repository: Repository

    init() throws {
        fixture = try Fixture()
        repository = try fixture.store()
    }

    /// The possible entries of a tree at a path, as lines of git-fast-import(1), with `%` for the path.
    private static let kinds = [
        "", "M 100644 inline %\ndata 4\none\n\n", "M 100644 inline %\ndata 4\ntwo\n\n",
        "M 100755 inline %\ndata 4\none\n\n", "M 120000 inline %\ndata 3\none\n", "M 120000 inline %\ndata 4\n/etc\n",
        "M 160000 1111111111111111111111111111111111111111 %\n",
        "M 160000 2222222222222222222222222222222222222222 %\n",
        "M 100644 inline %/in\ndata 4\none\n\nM 100644 inline %/deep/er\ndata 4\none\n\n",
        "M 100644 inline %/in\ndata 4\ntwo\n\nM 100755 inline %/other\ndata 4\none\n\n",
    ]

    private static let names = [
        "plain", "a b", "a:b", "a,b", "-x", "*", "[a]", "!x", "#x", "back\\\\slash", "quo\\\"te", "new\\nline",
        "\\377\\376",
        "ümläut", "folder/inner", "folder-inner", "folder.inner", "a/b/c/d/e/f",
        Array(repeating: "d", count: 90).joined(separator: "/"),
    ]

    /// Commits `content` as `name` and returns the commit.
    private func commit(_ name: String, _ content: String) throws -> OID {
        let script =
            "commit refs/heads/\(name)\ncommitter A <a@example.com> 1700000000 +0000\ndata 1\nx\ndeleteall\n\(content)\n"
        try fixture.git(["fast-import", "--quiet", "--force"], in: fixture["store"], input: script)
        return try fixture.id("refs/heads/\(name)", in: "store")
    }

    /// Checks `new` out over `old` and on its own, and compares the results.
    private func compare(_ old: OID, _ new: OID, _ comment: Comment) throws -> LayeredCheckout {
        let place = UUID().uuidString
        let (base, layer, whole) = ("\(place)/base", "\(place)/layer", "\(place)/whole")
        for folder in [base, layer, "\(place)/base.git", "\(place)/layer.git"] {
            try FileManager.default.createDirectory(atPath: fixture[folder], withIntermediateDirectories: true)
        }
        let first = try repository.checkoutLayer(
            old, files: fixture[base], gitDirectory: fixture["\(place)/base.git"])
        let made = try repository.checkoutLayer(
            new, files: fixture[layer], gitDirectory: fixture["\(place)/layer.git"],
            over: CheckedOut(tree: first.tree, index: fixture["\(place)/base.git/index"]))
        // The files that an overlay shows of both: without the removed ones, with the layer's files in their place.
        let gone = (made.difference?.removed.map(\.path) ?? []) + (made.difference?.emptied ?? [])
        let removed = gone.reduce(into: [UInt8]()) { $0 += $1 + [0] }
        try Data(removed).write(to: URL(fileURLWithPath: fixture["\(place)/removed"]))
        try shell("xargs -0 -r rm -rf -- < ../removed", in: fixture[base])
        if made.difference == nil { try FileManager.default.removeItem(atPath: fixture[base]) }
        try shell(
            """
            mkdir -p base; cd layer
            find . -mindepth 1 -print0 | LC_ALL=C sort -z | while IFS= read -r -d '' path; do
                there="../base/$path"
                if [ -d "$path" ] && [ ! -L "$path" ]; then
                    if [ -L "$there" ] || [ ! -d "$there" ]; then rm -f -- "$there"; fi
                    mkdir -p -- "$there"
                else
                    rm -rf -- "$there"; cp -a -- "$path" "$there"
                fi
            done
            mv ../layer.git ../base/.git
            """, in: fixture[place])
        try repository.checkout(new, into: fixture[whole])
        #expect(try listing(fixture[base]) == listing(fixture[whole]), comment)
        // Equal by sizes and times alone, and by contents, too.
        #expect(try fixture.git(["diff-files"], in: fixture[base]) == "", comment)
        #expect(try fixture.git(["status", "--porcelain", "--ignored"], in: fixture[base]) == "", comment)
        #expect(
            try fixture.git(["ls-files", "--stage"], in: fixture[base])
                == fixture.git(["ls-files", "--stage"], in: fixture[whole]), comment)
        // Unlike git, libgit2 compares an index with its checksum.
        #expect(try Repository(opening: fixture[base]).isClean(), comment)
        return made
    }

    private func shell(_ script: String, in folder: String) throws {
        let ended = try CommandRunner(in: folder).waitForEnd(of: ["bash", "-ec", script])
        try #require(ended.code == 0, "\(ended.errors)")
    }

    /// Kind, mode, path, content and target of all files but `.git`.
    private func listing(_ folder: String) throws -> String {
        let output = folder + ".listing"
        try shell(
            """
            find . -mindepth 1 -path ./.git -prune -o -printf '%y %m %P -> %l\\n' | LC_ALL=C sort > "\(output)"
            find . -path ./.git -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 -r sha1sum >> "\(output)"
            """, in: folder)
        return String(decoding: try Data(contentsOf: URL(fileURLWithPath: output)), as: UTF8.self)
    }

    @Test func `every kind of entry can replace every other`() throws {
        for kind in LayerTests.kinds.indices {
            var (old, new) = ("M 100644 inline stays\ndata 2\nx\n\n", "M 100644 inline stays\ndata 2\nx\n\n")
            // One commit pair for each kind before, in which there is one path for each kind after.
            for (number, other) in LayerTests.kinds.enumerated() {
                old += LayerTests.kinds[kind].replacingOccurrences(of: "%", with: "at/path\(number)")
                new += other.replacingOccurrences(of: "%", with: "at/path\(number)")
            }
            let made = try compare(
                commit("old", old), commit("new", new), "from \(LayerTests.kinds[kind].prefix(40))")
            #expect(made.difference != nil)
        }
    }

    @Test func `files with any name can be added and removed`() throws {
        let names = LayerTests.names.map { "\"\($0)\"" }
        func content(_ kind: Int, _ names: some Sequence<String>) -> String {
            names.map { LayerTests.kinds[kind].replacingOccurrences(of: "%", with: $0) }.joined()
        }
        let (none, all) = (try commit("none", "M 100644 inline x\ndata 0\n\n"), try commit("all", content(1, names)))
        let other = try commit("other", content(2, names))
        let half = try commit("half", content(2, names.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)))
        for (old, new) in [(none, all), (all, none), (all, other), (all, half), (half, all), (half, other)] {
            let made = try compare(old, new, "\(old.short) to \(new.short)")
            #expect(made.difference?.isEmpty == false)
        }
        #expect(try compare(all, all, "the same").difference?.isEmpty == true)
    }

    @Test func `attributes are those of the new tree`() throws {
        func file(_ path: String, _ text: String) -> String {
            "M 100644 inline \(path)\ndata \(text.utf8.count)\n\(text)\n"
        }
        let attributes =
            file(".gitattributes", "[attr]dos eol=crlf\n*.txt dos\nid ident\n")
            + file("sub/.gitattributes", "other.txt -dos eol=lf\nown eol=crlf\n")
        let old = attributes + file("a.txt", "a\nb\n") + file("id", "$Id$\n")
        let new =
            attributes + file("a.txt", "a\nc\n") + file("id", "$Id$ more\n") + file("sub/other.txt", "x\n")
            + file("sub/own", "x\n") + file("sub/deep/x.txt", "x\n")
        let made = try compare(commit("old", old), commit("new", new), "attributes stay")
        #expect(made.difference != nil)
        let more = file("sub/deep/.gitattributes", "x.txt -text\n")
        let all = try compare(commit("old", new), commit("new", new + more), "attributes change")
        #expect(all.difference == nil, "any file may come out otherwise now")
    }

    /// libgit2 converts a file by the attributes in its folder, so only by those that are already written.
    @Test func `attributes apply to names that sort before them`() throws {
        func file(_ path: String, _ text: String) -> String {
            "M 100644 inline \(path)\ndata \(text.utf8.count)\n\(text)\n"
        }
        let attributes =
            file(".gitattributes", "* text eol=crlf\n") + file("sub/.gitattributes", "* eol=lf\n-own eol=crlf\n")
            + file("#deep/er/.gitattributes", "*.bin -text\n")
        let names = [
            ".clang", "-first", "zlast", "sub/-own", "sub/-other", "#deep/er/!a.bin", "#deep/er/!a", "#deep/!a",
            // What a pattern, or a name that begins another, could take for an attribute file.
            ".gitattributes2", "[.]gitattributes/x", "sub/.gitattribute",
        ]
        func files(_ text: String) -> String { names.map { file($0, text) }.joined() }
        let (old, new) = (try commit("old", attributes + files("a\n")), try commit("new", attributes + files("b\n")))
        #expect(try compare(old, new, "attributes stay").difference?.written.count == names.count)
        let some = try commit("some", attributes + files("a\n") + file("-first", "c\n") + file("sub/-own", "c\n"))
        #expect(try compare(old, some, "some files").difference?.written.count == 2)
        try repository.checkout(new, into: fixture["ours"])
        try fixture.git(
            ["worktree", "add", "--quiet", "--detach", fixture["theirs"], new.hex], in: fixture["store"])
        #expect(try text("ours/-first") == "b\r\n")
        for name in names + [".gitattributes", "sub/.gitattributes", "#deep/er/.gitattributes"] {
            #expect(try text("ours/\(name)") == text("theirs/\(name)"), "\(name)")
        }
    }

    /// Git does not follow a link there either.
    @Test func `attributes are read from files only`() throws {
        func file(_ path: String, _ text: String) -> String {
            "M 100644 inline \(path)\ndata \(text.utf8.count)\n\(text)\n"
        }
        let kinds =
            file("attributes", "* text eol=crlf\n")
            + "M 120000 inline link/.gitattributes\ndata 13\n../attributes\n"
            + file("folder/.gitattributes/x", "* text eol=crlf\n")
            + file("program/.gitattributes", "* text eol=crlf\n").replacing("100644", with: "100755")
        let names = ["link", "folder", "program"].flatMap { ["\($0)/-first", "\($0)/last"] }
        func files(_ text: String) -> String { names.map { file($0, text) }.joined() }
        let (old, new) = (try commit("old", kinds + files("a\n")), try commit("new", kinds + files("b\n")))
        #expect(try compare(old, new, "kinds stay").difference?.written.count == names.count)
        try repository.checkout(new, into: fixture["ours"])
        try fixture.git(
            ["worktree", "add", "--quiet", "--detach", fixture["theirs"], new.hex], in: fixture["store"])
        #expect(try text("ours/program/-first") == "b\r\n")
        for name in names { #expect(try text("ours/\(name)") == text("theirs/\(name)"), "\(name)") }
    }

    /// Folders, names and rules of which any may sort before any other. Intended differences of libgit2 are left out:
    /// see docs/workspaces.md.
    @Test(arguments: 1...6) func `a random tree is checked out as Git does it`(_ seed: Int) throws {
        var random = SplitMix64(seed: seed)
        let folders = ["", "sub/", "-d/", "-d/e/", ".f/", "#g/h/", "sub/.k/", "z/"]
        let names = ["-a", ".a", ".gitattributes2", "#b", "a", "b.bin", ".gitattribute", "z z", "[x]", "!n", "A"]
        // No ends of lines that Git would not commit: it calls those changed, wherever it writes them.
        let texts = ["x\n", "x\ny\n", "$Id$\n", "\u{1}\n"]
        let rules = [
            "* text eol=crlf", "* text=auto eol=crlf", "*.bin -text", "-a eol=lf", "*.bin binary", "a -text", "* ident",
            "/a text eol=crlf", "sub/* -text", "**/a eol=crlf text", "[attr]crl text eol=crlf", "A crl",
            ".gitattributes -text", ".* text eol=crlf",
        ]
        func file(_ path: String, _ text: String) -> String {
            "M \(random.once(in: 6) ? 100755 : 100644) inline \"\(path)\"\ndata \(text.utf8.count)\n\(text)\n"
        }
        var attributes: [String: String] = [:]
        func tree(keepingAttributes keeps: Bool) -> (content: String, paths: [String]) {
            var (content, paths): (String, [String]) = ("", [])
            for folder in folders {
                for name in names.shuffled(using: &random).prefix(5) {
                    paths.append(folder + name)
                    content += file(folder + name, random.pick(texts))
                }
                if !keeps {
                    let some = rules.shuffled(using: &random).prefix(1 + random.below(4)).sorted { one, _ in
                        one.hasPrefix("[attr]")
                    }
                    attributes[folder] = random.once(in: 2) ? some.joined(separator: "\n") + "\n" : nil
                }
                if let text = attributes[folder] {
                    paths.append(folder + ".gitattributes")
                    content += file(folder + ".gitattributes", text)
                }
            }
            return (content, paths)
        }
        var old: OID?
        for (round, keeps) in [false, true, true, false].enumerated() {
            let (content, paths) = tree(keepingAttributes: keeps)
            let new = try commit("new", content)
            if let old { _ = try compare(old, new, "round \(round)") }
            try repository.checkout(new, into: fixture["ours\(round)"])
            try fixture.git(
                ["worktree", "add", "--quiet", "--detach", fixture["theirs\(round)"], new.hex], in: fixture["store"])
            for path in paths {
                #expect(
                    try text("ours\(round)/\(path)") == text("theirs\(round)/\(path)"),
                    "\(round): \(path) by \(attributes)")
            }
            old = new
        }
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: fixture[path], encoding: .utf8) }

    /// Git itself makes no such tree. A clone of one has no folder there.
    @Test func `a folder without files is not written`() throws {
        let store = fixture["store"]
        func tree(_ lines: [String]) throws -> String {
            try fixture.git(["mktree"], in: store, input: lines.map { $0 + "\n" }.joined())
                .trimmingCharacters(in: .newlines)
        }
        let blob = try fixture.git(["hash-object", "-w", "--stdin"], in: store, input: "x\n")
            .trimmingCharacters(in: .newlines)
        func commit(_ lines: [String]) throws -> OID {
            try #require(
                OID(
                    hex: fixture.git(["commit-tree", "-m", "m", tree(lines)], in: store)
                        .trimmingCharacters(in: .newlines)))
        }
        let file = "100644 blob \(blob)\t"
        let void = "040000 tree \(try tree([]))\t"
        let deep = "040000 tree \(try tree([void + "x", void + "y"]))\t"
        let folder = "040000 tree \(try tree([file + "x"]))\t"
        let old = try commit([file + "a", file + "b", folder + "c", folder + "d", void + "e", file + "f"])
        let new = try commit([void + "a", deep + "b", void + "c", deep + "d", folder + "e", file + "f"])
        for (from, to) in [(old, new), (new, old)] {
            let made = try compare(from, to, "\(from.short) to \(to.short)")
            #expect(made.difference != nil)
        }
    }

    /// Folders that contain each other ten times, eight deep: a hundred million paths in ten objects.
    @Test func `a tree of too many paths is refused`() throws {
        let store = fixture["store"]
        func make(_ arguments: [String], _ input: String) throws -> String {
            try fixture.git(arguments, in: store, input: input).trimmingCharacters(in: .newlines)
        }
        var tree = try make(["mktree"], "100644 blob \(try make(["hash-object", "-w", "--stdin"], "x"))\tx\n")
        for _ in 0..<8 { tree = try make(["mktree"], (0..<10).map { "040000 tree \(tree)\t\($0)\n" }.joined()) }
        let bomb = try #require(OID(hex: make(["commit-tree", "-m", "m", tree], "")))
        let small = try commit("small", LayerTests.kinds[1].replacingOccurrences(of: "%", with: "a"))
        let trees = try [small, bomb].map { try repository.commit($0).tree }
        #expect(code { try repository.difference(fromTree: trees[0], to: trees[1]) } == .tooLarge)
        #expect(code { try repository.checkout(bomb, into: fixture["whole"]) } == .tooLarge)
    }

    @Test func `a damaged index is an error`() throws {
        let (old, new) = (
            try commit("old", LayerTests.kinds[1].replacingOccurrences(of: "%", with: "a")),
            try commit("new", LayerTests.kinds[2].replacingOccurrences(of: "%", with: "a"))
        )
        for folder in ["base", "base.git"] {
            try FileManager.default.createDirectory(atPath: fixture[folder], withIntermediateDirectories: true)
        }
        let first = try repository.checkoutLayer(old, files: fixture["base"], gitDirectory: fixture["base.git"])
        let good = try Data(contentsOf: URL(fileURLWithPath: fixture["base.git/index"]))
        var damaged = [good.prefix(0), good.prefix(11), good.prefix(12), good.prefix(60), good.prefix(good.count - 21)]
        damaged += [Data("DIRD".utf8) + good.dropFirst(4), good.prefix(7) + [4] + good.dropFirst(8)]
        damaged += [good.prefix(8) + [255, 255, 255, 255] + good.dropFirst(12)]
        for (number, bytes) in damaged.enumerated() {
            try Data(bytes).write(to: URL(fileURLWithPath: fixture["damaged"]))
            for folder in ["l\(number)", "g\(number)"] {
                try FileManager.default.createDirectory(atPath: fixture[folder], withIntermediateDirectories: true)
            }
            #expect(
                code {
                    try repository.checkoutLayer(
                        new, files: fixture["l\(number)"], gitDirectory: fixture["g\(number)"],
                        over: CheckedOut(tree: first.tree, index: fixture["damaged"]))
                } == .invalid, "damage \(number)")
        }
    }
}
