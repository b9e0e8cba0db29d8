import Foundation
import Git
import TestBasics
import TestSupport

/// A repository whose two branches edit, add, remove, move and retype the same few files, and merge each other.
struct RandomHistory {
    let path: String
    /// Pairs of commits that are to be merged.
    private(set) var pairs: [MergePair] = []

    private var random: SplitMix64
    private let repository: Repository
    private var time = 1_700_000_000.0

    private struct Tip {
        var commit: OID
        var files: [String: File]
    }

    private struct File {
        var lines: [String]
        var isExecutable = false
    }

    init(at path: String, seed: Int, rounds: Int) throws {
        self.path = path
        random = SplitMix64(seed: seed)
        repository = try Repository.create(bareAt: path)
        var files: [String: File] = [:]
        for number in 0..<8 {
            let name = random.once(in: 2) ? "dir\(number % 3)/f\(number)" : "f\(number)"
            files[name] = File(lines: (0..<random.below(60)).map { "\(random.below(5)) line \($0 % 13)" })
        }
        let start = try commit(files, [])
        var tips = [start, start]
        for _ in 0..<rounds {
            for side in tips.indices {
                for _ in 0..<(1 + random.below(3)) { edit(&tips[side].files) }
                tips[side] = try commit(tips[side].files, [tips[side].commit])
            }
            pairs.append(MergePair(tips[0].commit, into: tips[1].commit))
            // Each takes the other's commit in, with what its own files are by then: their bases are two from now on.
            if random.once(in: 3) {
                let both = tips.map(\.commit)
                tips[0] = try commit(tips[0].files, [both[0], both[1]])
                tips[1] = try commit(random.once(in: 2) ? tips[0].files : tips[1].files, [both[1], both[0]])
            }
        }
    }

    private mutating func edit(_ files: inout [String: File]) {
        let names = files.keys.sorted()
        guard let name = names.isEmpty ? nil : random.pick(names), var file = files[name] else {
            files["new"] = File(lines: ["new"])
            return
        }
        switch random.below(12) {
        case 0:
            files[name] = nil
        case 1, 2:
            files[name] = nil
            if random.once(in: 2), !file.lines.isEmpty { file.lines[random.below(file.lines.count)] = "moved" }
            files[free(random.pick(["dir0/", "dir1/", "other/", ""]) + "m\(random.below(4))", files)] = file
        case 3:
            // A whole folder under another name.
            for (path, file) in files where path.hasPrefix("dir1/") {
                files[path] = nil
                files["moved/" + path.dropFirst(5)] = file
            }
        case 4: files[free("dir1/n\(random.below(3))", files)] = File(lines: ["\(random.below(3))"])
        case 5:
            file.isExecutable.toggle()
            files[name] = file
        default:
            let place = random.below(file.lines.count + 1)
            switch random.below(3) {
            case 0: file.lines.insert("\(random.below(5)) line \(random.below(13))", at: place)
            case 1: if place < file.lines.count { file.lines.remove(at: place) }
            default: if place < file.lines.count { file.lines[place] = "changed \(random.below(3))" }
            }
            files[name] = file
        }
    }

    /// A name that neither is a file nor lies below one.
    private func free(_ name: String, _ files: [String: File]) -> String {
        let folder = name.split(separator: "/").dropLast().joined(separator: "/")
        return files[folder] == nil ? name : "x" + name.replacingOccurrences(of: "/", with: "-")
    }

    private mutating func commit(_ files: [String: File], _ parents: [OID]) throws -> Tip {
        time += 1
        var entries: [String: TreeFile] = [:]
        for (path, file) in files {
            let text = file.lines.map { $0 + "\n" }.joined()
            entries[path] = TreeFile(
                blob: try repository.createBlob(Array(text.utf8)), isExecutable: file.isExecutable)
        }
        let ada = Signature(name: "Ada", email: "ada@example.com", time: Date(timeIntervalSince1970: time))
        let id = try repository.createCommit(
            tree: repository.createTree(entries), parents: parents, author: ada, committer: ada, message: "x\n")
        return Tip(commit: id, files: files)
    }
}
