import Results
import Foundation
import Git
import Pipeline
import TestBasics
import TestSupport
@testable import Watching

extension FuzzTarget {
    /// Ref names, which any pusher chooses: their meaning, the requests of their runs, and Git's view.
    static let refs = FuzzTarget(
        name: "refs",
        corpus: {
            Corpus.texts(
                "refs/heads/main", "refs/heads/agent/fix-7", "refs/tags/v1.2.0", "refs/pull/7/head",
                "refs/merge-requests/12/head", "refs/pull-requests/3/from", "refs/pull/7/merge", "refs/notes/commits",
                "refs/heads/\u{301}x", "refs/heads/a\u{200D}b", "refs/heads/e\u{301}/é")
        },
        words: ["refs/", "heads/", "/head", "/from", "tags/", "//", ".lock", "@{", "\u{301}", "~", "^", ":", "?", "*"],
        limit: 16 << 10
    ) { loop in
        try await withFuzzFolder { folder in
            let repository = try Repository.create(bareAt: folder + "/r.git")
            let author = Signature(name: "a", email: "a@x", time: Date(timeIntervalSince1970: 1_790_000_000))
            let commit = try repository.createCommit(
                tree: repository.createTree([:]), parents: [], author: author, committer: author, message: "m")
            try await loop { input, random in
                let name = String(decoding: input.bytes, as: UTF8.self)
                try classify(name, &random)
                try decide(name, commit)
                try store(name, commit, repository)
            }
        }
    }

    /// No ref is taken for something else because of its name.
    private static func classify(_ ref: String, _ random: inout SplitMix64) throws {
        let pattern = random.pick(["agent/*", "**", "*", "[!a]*", "x"])
        let kind = try ChangeRefs(branchPatterns: [pattern]).kind(of: ref)
        let bytes = Array(ref.utf8)
        func rest(of prefix: String) -> [UInt8]? {
            bytes.starts(with: prefix.utf8) ? Array(bytes.dropFirst(prefix.utf8.count)) : nil
        }
        if let branch = rest(of: "refs/heads/") {
            switch kind {
            case .branch(let name):
                try demand(Array(name.utf8) == branch, "the branch of \(ref) is called \(name)")
            case .change(let name):
                // `heads/` tells a branch from a forge's change of the same name.
                let isItself = Array(name.utf8) == branch || Array(name.utf8) == Array("heads/".utf8) + branch
                try demand(isItself, "the change of \(ref) is called \(name)")
            default: throw FuzzViolation("\(ref.debugDescription) is a branch, not \(kind)")
            }
        } else if let tag = rest(of: "refs/tags/") {
            guard case .tag(let name) = kind else { throw FuzzViolation("\(ref) is a tag, not \(kind)") }
            try demand(Array(name.utf8) == tag, "the tag of \(ref) is called \(name)")
        } else if case .change(let name) = kind {
            try demand(!name.isEmpty && !name.utf8.contains(UInt8(ascii: "/")), "\(ref) is the change \(name)")
        } else if case .other = kind {
        } else {
            throw FuzzViolation("\(ref) is taken for \(kind)")
        }
    }

    /// The request of a run carries every name unchanged to the archive and back.
    private static func decide(_ name: String, _ commit: OID) throws {
        var observation = RefObservation()
        observation.changes = [
            .init(
                name: name, ref: name, head: commit, target: name, targetCommit: commit, title: name, author: name,
                isLanded: false)
        ]
        observation.branches = [.init(name: name, ref: name, old: commit, new: commit, landings: [])]
        observation.tags = [.init(name: name, ref: name, commit: commit)]
        observation.closed = [name]
        let declaration = WorkflowDeclaration(
            name: "test",
            triggers: [.pullRequest(into: "**"), .push(to: "**"), .tag(matching: "**")])
        let decision = Decision.make(
            repository: "r", observation: observation, known: [], definition: { _ in .workflows([declaration]) },
            commits: .unknown)
        for request in decision.requests {
            let copy = try JSONDecoder().decode(RunRequest.self, from: JSONEncoder().encode(request))
            try demand(
                copy == request && Array(copy.ref.utf8) == Array(name.utf8),
                "the request for \(name) is another as JSON")
        }
        // A repository and a change are matched by globs of any depth, so a name starts the right workflows.
        let parts = name.unicodeScalars.split(separator: "/")
        if !parts.isEmpty { try demand(decision.requests.count >= 2, "\(name.debugDescription) starts nothing") }
    }

    /// Git reads `a//b` as `a/b`, so no other name has two slashes.
    private static func withSingleSlashes(_ name: String) -> [UInt8] {
        let parts = Array(name.utf8).split(separator: UInt8(ascii: "/"))
        return Array(parts.joined(separator: [UInt8(ascii: "/")]))
    }

    /// Git accepts the name unchanged, or refuses it; it never becomes another ref or a file elsewhere.
    private static func store(_ name: String, _ commit: OID, _ repository: Repository) throws {
        guard name.utf8.starts(with: "refs/".utf8) else { return }
        do throws(GitError) { try repository.setRef(name, to: commit, message: "fuzz") } catch { return }
        let refs = try repository.snapshot().refs
        // In C a NUL ends a name, so Git can't have meant the rest.
        try demand(
            refs.keys.contains { Array($0.utf8) == withSingleSlashes(name) },
            "\(name.debugDescription) became \(refs.keys.sorted().map(\.debugDescription))")
        for ref in refs.keys { try repository.deleteRef(ref) }
    }
}
