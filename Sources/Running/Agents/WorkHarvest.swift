import Preparing
import Evaluating
import Masking
import Results
import Sandbox
import TerminalText
import Engine
import Foundation
import Git
import TestIntegrity
import Pipeline

/// Makes a tree from the files that a fixer or another agent left. It reads only names, stamps and contents of regular
/// files of the workspace, and nothing of its `.git`.
struct WorkHarvest: Sendable {
    /// The largest file, in bytes.
    static let mostFileBytes = 16 << 20
    /// The largest tracked file whose content is compared where its stamp differs, in bytes.
    static let mostComparedBytes = 256 << 20

    /// The commit of the workspace, and the commit on top of which the work is put.
    let tested: OID
    let head: OID
    /// The commit with which the tests are compared.
    let before: OID
    /// The rules that the work must not break, in addition to the standard ones.
    let rules: [IntegrityRule]
    /// A folder of the run that steps can't reach.
    let scratch: String
    let words: WorkWords
    /// Finds the secrets of the run in files; nil if it has none.
    var masker: Masker?

    struct Result: Sendable {
        var outcome: FixOutcome
        /// For people; it contains names that the agent chose.
        var reason: String
        var tree: OID?
        var leftOut = 0
        var breaches: [Breach] = []
    }

    /// Scans the workspace as Git would: without folders that the tested tree ignores.
    func scan(_ view: String, store: Repository) throws -> WorkspaceScan {
        let before = try Beginning(store.commit(tested).tree, in: store)
        let ignored = try IgnoreRules(
            ofTree: before.tree, in: store, at: "\(scratch)/ignore-\(UInt32.random(in: 0 ... .max))")
        return try WorkspaceScan(view) { path in
            if before.submodules.contains(path) { return false }
            return before.folders.contains(path) || !ignored.ignores(path, isFolder: true)
        }
    }

    /// The content of the tested tree.
    private struct Beginning {
        let tree: OID
        var files: [[UInt8]: TreeEntry] = [:]
        /// Folders that contain a tracked file.
        var folders: Set<[UInt8]> = []
        var submodules: Set<[UInt8]> = []

        init(_ tree: OID, in store: Repository) throws {
            self.tree = tree
            for entry in try store.entries(ofTree: tree, recursive: true) {
                let path = Array(entry.path.utf8)
                switch entry.kind {
                case .tree: folders.insert(path)
                case .submodule: submodules.insert(path)
                default: files[path] = entry
                }
            }
        }

        /// The topmost folder above a path that contains no tracked file.
        func newFolder(above path: [UInt8]) -> [UInt8]? {
            for (place, byte) in path.enumerated() where byte == UInt8(ascii: "/") {
                let folder = Array(path[..<place])
                if !folders.contains(folder) { return folder }
            }
            return nil
        }
    }

    /// What was changed and a commit takes.
    private struct Harvest {
        var files: [(path: String, file: TreeFile?)] = []
        /// How many changed files are not taken.
        var leftOut = 0
        /// The bytes of the new files.
        var bytes = 0
    }

    /// A path, or an amount, that the work may not have.
    private struct Refusal: Error {
        var reason: String

        init(_ reason: String) { self.reason = reason }

        init(_ path: [UInt8], _ why: String) {
            self.init("\"\(TerminalText.name(String(decoding: path, as: UTF8.self), limit: 200))\": \(why)")
        }
    }

    /// Makes a tree of everything that changed since `before`, on top of the change's head.
    func take(since before: WorkspaceScan, from view: String, into store: Repository) throws -> Result {
        let after = try scan(view, store: store)
        let beginning = try Beginning(store.commit(tested).tree, in: store)
        let harvest: Harvest
        do {
            try Self.checkNames(before, after, beginning)
            harvest = try self.harvest(before, after, beginning, from: view, into: store)
        } catch let refusal as Refusal {
            return Result(outcome: .refused, reason: "the \(words.work) was refused: \(refusal.reason)")
        }
        guard !harvest.files.isEmpty else {
            let aside = harvest.leftOut > 0 ? " (except \(harvest.leftOut) untracked files)" : ""
            return Result(
                outcome: .noChange, reason: "the \(words.worker) changed nothing\(aside)", leftOut: harvest.leftOut)
        }
        let fixed = try store.tree(beginning.tree, changing: harvest.files)
        return try onTopOfHead(fixed, beginning.tree, harvest.leftOut, store)
    }

    /// Whether an untracked path was there before: left by a step.
    private static func isLeft(_ path: [UInt8], _ before: WorkspaceScan, _ beginning: Beginning) -> Bool {
        before.entries[path] != nil
            || beginning.newFolder(above: path).map { before.folders.contains($0) } ?? false
    }

    /// Refuses new names that mean `.git`: Git ignores a file with such a name, and treats its folder as a repository
    /// of its own.
    private static func checkNames(
        _ before: WorkspaceScan, _ after: WorkspaceScan, _ beginning: Beginning
    ) throws(Refusal) {
        for path in after.folders.subtracting(before.folders).union(after.entries.keys)
        where !isLeft(path, before, beginning) {
            let name = String(decoding: path.split(separator: UInt8(ascii: "/")).last ?? [], as: UTF8.self)
            if TreeName.isGit(name) { throw Refusal(path, "some systems treat it as .git") }
        }
    }

    /// Reads the changed files into `store`.
    private func harvest(
        _ before: WorkspaceScan, _ after: WorkspaceScan, _ beginning: Beginning, from view: String,
        into store: Repository
    ) throws -> Harvest {
        let ignored = try IgnoreRules(
            ofTree: beginning.tree, in: store, at: "\(scratch)/ignore-\(UInt32.random(in: 0 ... .max))")
        let changed = Set(after.entries.keys).union(before.entries.keys).filter {
            after.entries[$0] != before.entries[$0]
        }
        var harvest = Harvest()
        for path in changed.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let (old, new) = (beginning.files[path], after.entries[path])
            // Not included: untracked files from earlier steps, files that Git ignores, and types that no tree can
            // contain.
            if old == nil,
                Self.isLeft(path, before, beginning) || new == nil || new?.kind == .other
                    || ignored.ignores(path, isFolder: false)
            {
                harvest.leftOut += 1
                continue
            }
            if try isUnchanged(path, old, before.entries[path], new, in: view, store) { continue }
            let name = String(decoding: path, as: UTF8.self)
            if let problem = FixPaths.problem(path, of: words.work) ?? words.problem(name) {
                throw Refusal(path, problem)
            }
            if old?.kind == .symlink, new?.kind != nil { throw Refusal(path, "a \(words.work) may not change links") }
            if let secret = masker?.secret(in: name) { throw Refusal("a name contains secret \(secret)") }
            guard let new else {
                harvest.files.append((name, nil))
                continue
            }
            guard new.kind == .file else { throw Refusal(path, "it is not a regular file") }
            harvest.bytes += new.bytes
            guard new.bytes <= Self.mostFileBytes, harvest.bytes <= FixLimits.bytes else {
                throw Refusal(
                    path,
                    "a \(words.work) may have at most \(Self.mostFileBytes >> 20) MiB in a file and \(FixLimits.bytes >> 20) MiB in total"
                )
            }
            let blob = try blob(of: path, from: view, into: store)
            if let old, old.id == blob, (old.kind == .executable) == new.isExecutable { continue }
            harvest.files.append((name, .blob(blob, executable: new.isExecutable)))
            guard harvest.files.count <= FixLimits.files else {
                throw Refusal("it changes more than \(FixLimits.files) files")
            }
        }
        guard harvest.files.count <= FixLimits.files else {
            throw Refusal("it removes more than \(FixLimits.files) files")
        }
        return harvest
    }

    /// Whether a tracked file has its content still. Its stamp may differ all the same: a fresh workspace is given to
    /// the step's user after the first scan.
    private func isUnchanged(
        _ path: [UInt8], _ old: TreeEntry?, _ before: WorkspaceScan.Entry?, _ new: WorkspaceScan.Entry?,
        in view: String, _ store: Repository
    ) throws -> Bool {
        guard let old, let before, let new, new.kind == .file, before.kind == .file, new.bytes == before.bytes,
            before.bytes <= Self.mostComparedBytes,
            (old.kind == .executable) == new.isExecutable
        else { return false }
        let copy = "\(scratch)/same-\(UInt32.random(in: 0 ... .max))"
        defer { unlink(copy) }
        // No larger than the tracked file, whose size is the repository's own.
        try WorkspaceScan.copy(String(decoding: path, as: UTF8.self), of: view, to: copy, atMost: before.bytes)
        return try store.createBlob(fromFile: copy) == old.id
    }

    /// The file's content in `store`. It is copied first, because the file may change while it is read.
    private func blob(of path: [UInt8], from view: String, into store: Repository) throws -> OID {
        let copy = "\(scratch)/fixed-\(UInt32.random(in: 0 ... .max))"
        defer { unlink(copy) }
        do {
            try WorkspaceScan.copy(
                String(decoding: path, as: UTF8.self), of: view, to: copy, atMost: Self.mostFileBytes)
            if let secret = try secret(inFile: copy) { throw Refusal(path, "it contains secret \(secret)") }
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            throw Refusal(path, "\(error)")
        }
        return try store.createBlob(fromFile: copy)
    }

    /// The name of a secret that is in a file of ours.
    private func secret(inFile path: String) throws -> String? {
        guard let masker else { return nil }
        var masking = MaskingStream(masker)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes.withUnsafeBytes { masking.feed($0) { _ in } }
        masking.flush { _ in }
        return masking.found
    }

    /// The tested tree is the change merged with its target; a commit of the change must contain only the change's
    /// part.
    private func onTopOfHead(_ fixed: OID, _ beginning: OID, _ leftOut: Int, _ store: Repository) throws -> Result {
        let own = try store.commit(head).tree
        if own == beginning { return Result(outcome: .made, reason: "", tree: fixed, leftOut: leftOut) }
        switch try store.merge(tree: fixed, into: own, ancestor: beginning) {
        case .merged(let tree) where tree == own:
            return Result(outcome: .noChange, reason: "the change already has what the \(words.worker) changed")
        case .merged(let tree): return Result(outcome: .made, reason: "", tree: tree, leftOut: leftOut)
        case .conflicts(let conflicts):
            let files = conflicts.prefix(3).map { TerminalText.name($0.path, limit: 200) }.joined(separator: ", ")
            return Result(
                outcome: .conflict,
                reason:
                    "the \(words.work) changes lines that come from the target (\(files)); merge the target into the change"
            )
        }
    }

    /// The ways in which it weakens tests of the change.
    func breaches(of commit: OID, in repository: String, _ reader: any SwiftSourceReader) async throws -> [Breach] {
        let paths = rules.filter { if case .untouched = $0 { true } else { false } }
        return try await ChangeSources(in: repository, from: before, to: commit, reader: reader)
            .outcome(of: [.standard] + paths).breaches
    }
}

/// How the work of an agent is called, and what else it may not change.
struct WorkWords: Sendable {
    /// `fix`.
    var work: String
    /// `fixer`.
    var worker: String
    /// Why a path can't be part of it, as the predicate of a sentence; nil if it can.
    var problem: @Sendable (_ path: String) -> String?

    static let fix = WorkWords(work: "fix", worker: "fixer") { _ in nil }
}
