import TestBasics
import Foundation
import TestSupport

/// Trees and commits that no correct tool makes. Each has once misled some tool.
struct HostileTrees {
    private let objects: RawObjects
    private let sentinel: String
    private let check: RawObjects.Entry
    private let text: String
    private let evil: String

    /// One change: what is wrong with it, and its head.
    struct Case {
        var name: String
        var head: String
    }

    init(_ bench: Bench, sentinel: String) async throws {
        objects = RawObjects(bench: bench)
        self.sentinel = sentinel
        check = .blob("check.sh", try await objects.blob("echo checked\n"))
        text = try await objects.blob("planted\n")
        // A .git folder that makes every git command run something.
        let configuration = """
            [core]
                fsmonitor = "touch \(sentinel)/fsmonitor"
                sshCommand = "touch \(sentinel)/ssh"
                worktree = "\(sentinel)"
            [filter "evil"]
                clean = "touch \(sentinel)/clean"
                smudge = "touch \(sentinel)/smudge"
                required = true

            """
        let hook = try await objects.blob("#!/bin/sh\ntouch \(sentinel)/hook\n")
        let hooks = try await objects.tree([
            RawObjects.Entry(mode: "100755", name: Array("post-checkout".utf8), id: hook)
        ])
        evil = try await objects.tree([
            .blob("HEAD", try await objects.blob("ref: refs/heads/main\n")),
            .blob("config", try await objects.blob(configuration)), .tree("hooks", hooks),
        ])
    }

    /// All cases. `isLong` gives the large ones their full size.
    func all(isLong: Bool) async throws -> [Case] {
        var cases: [Case] = []
        func add(_ name: String, _ entries: [RawObjects.Entry]) async throws {
            let head = try await objects.commit(try await objects.tree(entries))
            cases.append(Case(name: name, head: head))
        }
        for name in [".git", ".GIT", ".Git ", "git~1", ".git.", ".g\u{200C}it", ".git::$INDEX_ALLOCATION"] {
            try await add("a folder \(name)", [.tree(name, evil), check])
        }
        try await add("a file .git", [.blob(".git", try await objects.blob("gitdir: \(sentinel)\n")), check])
        let planted = try await objects.tree([.blob("planted", text)])
        try await add("a folder ..", [.tree("..", try await objects.tree([.tree("sentinel", planted)])), check])
        try await add("a folder .", [.tree(".", planted), check])
        try await add("slashes in a name", [.blob("../../../sentinel/planted", text), check])
        try await add("an absolute name", [.blob("\(sentinel)/planted", text), check])
        try await add("an empty name", [.blob("", text), check])
        try await add("a name of 4,096 bytes", [.blob(String(repeating: "n", count: 4_096), text), check])
        try await add(
            "links in a circle",
            [.link("a", try await objects.blob("b")), .link("b", try await objects.blob("a")), check])
        let toSentinel = try await objects.blob(sentinel)
        try await add("a link and a folder of one name", [check, .link("dir", toSentinel), .tree("dir", planted)])
        try await add("a folder and a link of one name", [check, .tree("dir", planted), .link("dir", toSentinel)])
        try await add("a link in another case of a folder", [.link("DIR", toSentinel), check, .tree("dir", planted)])
        try await add("an absolute link", [check, .link("out", toSentinel)])
        try await add("the script is a link", [.link("check.sh", try await objects.blob("/etc/passwd"))])
        try await add("two files of one name", [check, .blob("x", text), .blob("x", toSentinel)])
        try await add(
            "names that differ by case", [.blob("FILE", text), check, .blob("File", text), .blob("file", text)])
        try await addModules(&cases)
        try await addAttributes(&cases)
        try await addNames(&cases)
        try await addSizes(&cases, isLong)
        try await addBroken(&cases)
        try await addCommits(&cases)
        return cases
    }

    private func addModules(_ cases: inout [Case]) async throws {
        let commit = String(repeating: "1", count: 40)
        for (name, path, url) in [
            ("a submodule above", "../../sentinel", "./x"),
            ("a submodule whose URL is an option", "sub", "--upload-pack=touch \(sentinel)/url"),
            ("a submodule that is a link's target", "dir/sub", "file://\(sentinel)"),
            ("a submodule with ext::", "sub", "ext::sh -c touch% \(sentinel)/ext"),
        ] {
            let modules =
                "[submodule \"../../x\"]\n\tpath = \(path)\n\turl = \(url)\n\tupdate = !touch \(sentinel)/update\n"
            let tree = try await objects.tree([
                .blob(".gitmodules", try await objects.blob(modules)), check, .gitlink("sub", commit),
            ])
            cases.append(Case(name: name, head: try await objects.commit(tree)))
        }
    }

    private func addAttributes(_ cases: inout [Case]) async throws {
        let attributes = "* filter=evil diff=evil merge=evil working-tree-encoding=UTF-16 ident eol=crlf\n[attr]x x\n"
        let tree = try await objects.tree([
            .blob(".gitattributes", try await objects.blob(attributes)),
            .blob(".gitconfig", try await objects.blob("[core]\n\tfsmonitor = touch \(sentinel)/config\n")), check,
        ])
        cases.append(Case(name: "attributes with drivers", head: try await objects.commit(tree)))
        let long = String(repeating: "a/**/", count: 20_000) + "* text\n"
        let huge = try await objects.tree([.blob(".gitattributes", try await objects.blob(long)), check])
        cases.append(Case(name: "an attribute pattern of 100 kB", head: try await objects.commit(huge)))
    }

    private func addNames(_ cases: inout [Case]) async throws {
        let names: [[UInt8]] = [
            [0xFF, 0xFE, 0x80], Array("new\nline\u{1B}[2J\u{1B}]0;x\u{07}".utf8), Array("-rf".utf8),
            Array("$(touch x)`y`;z".utf8),
            Array("tab\there".utf8), Array("\u{202E}txt.exe".utf8), Array("back\\slash".utf8), Array(" ".utf8),
            Array("con".utf8),
        ]
        let entries = names.map { RawObjects.Entry(mode: "100644", name: $0, id: text) }
        let sorted = (entries + [check]).sorted { $0.name.lexicographicallyPrecedes($1.name) }
        cases.append(Case(name: "names of odd bytes", head: try await objects.commit(try await objects.tree(sorted))))
    }

    private func addSizes(_ cases: inout [Case], _ isLong: Bool) async throws {
        let count = isLong ? 100_000 : 10_000
        let many = try await objects.tree((0..<count).map { .blob("f\(String($0 + 1_000_000))", text) })
        cases.append(
            Case(
                name: "\(count) files in a folder",
                head: try await objects.commit(try await objects.tree([check, .tree("many", many)]))))
        // Each level is one object; the path exceeds the kernel's limit.
        var tree = planted(text)
        var inner = try await objects.tree([tree])
        for _ in 0..<(isLong ? 4_000 : 600) {
            tree = .tree("ddddddddd", inner)
            inner = try await objects.tree([tree])
        }
        cases.append(
            Case(
                name: "deep folders",
                head: try await objects.commit(try await objects.tree([check, .tree("deep", inner)]))))
        let size = isLong ? 1 << 30 : 64 << 20
        let blob = "\(objects.bench.root)/huge"
        try await objects.bench.command(["truncate", "-s", "\(size)", blob]).succeeded()
        let huge = try await objects.bench.git(["hash-object", "-w", blob])
        cases.append(
            Case(
                name: "a file of \(size) bytes",
                head: try await objects.commit(try await objects.tree([check, .blob("huge", huge)]))))
    }

    private func planted(_ id: String) -> RawObjects.Entry { .blob("planted", id) }

    private func addBroken(_ cases: inout [Case]) async throws {
        let missing = String(repeating: "2", count: 40)
        for (name, entries) in [
            ("a file that is missing", [check, RawObjects.Entry.blob("gone", missing)]),
            ("a folder that is missing", [check, .tree("gone", missing)]),
            ("a folder that is a file", [check, .tree("file", text)]),
            ("a file that is a folder", [.blob("a", evil), check]),
            ("modes that do not exist", [check, RawObjects.Entry(mode: "177777", name: Array("odd".utf8), id: text)]),
            ("a mode with a sign", [check, RawObjects.Entry(mode: "-1", name: Array("odd".utf8), id: text)]),
        ] {
            cases.append(Case(name: name, head: try await objects.commit(try await objects.tree(entries))))
        }
        cases.append(Case(name: "a commit whose tree is missing", head: try await objects.commit(missing)))
        let torn = try await objects.write("tree", Array("100644 check.sh".utf8))
        cases.append(Case(name: "half a tree", head: try await objects.commit(torn)))
        cases.append(Case(name: "a head that is a file", head: text))
        cases.append(Case(name: "an empty tree", head: try await objects.commit(try await objects.tree([]))))
    }

    private func addCommits(_ cases: inout [Case]) async throws {
        let tree = try await objects.tree([check])
        let ada = "author A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n"
        for (name, people, message) in [
            ("no author at all", "", "x\n"),
            ("an empty author", "author  <> 0 +0000\ncommitter  <> 0 +0000\n", "x\n"),
            ("a date before 1970", "author A <a@b> -99999999999 +9999\ncommitter A <a@b> -1 -9999\n", "x\n"),
            (
                "a date after the end of time",
                "author A <a@b> 99999999999999999999 +0000\ncommitter A <a@b> 1 +0000\n", "x\n"
            ),
            (
                "an author with escapes", "author \u{1B}[31mA\u{07} <$(touch x)> 1 +0000\ncommitter A <a@b> 1 +0000\n",
                "x\n"
            ),
            ("an encoding that does not exist", ada + "encoding ../../etc/passwd\n", "x\n"),
            ("no message", ada, ""),
            ("a message of a megabyte", ada, "\u{1B}]0;x\u{07}" + String(repeating: "long ", count: 200_000)),
            ("a title with a line's end of another kind", ada, "one\rtwo\u{85}three\u{2028}four\n"),
        ] {
            cases.append(Case(name: name, head: try await objects.commit(tree, people: people, message: message)))
        }
    }
}
