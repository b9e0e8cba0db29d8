import CrashReports
import Foundation
import Git

/// The code of a crash's calls at one commit, and what changed there last.
struct CrashCode: Sendable {
    struct Place: Sendable, Equatable {
        /// Below the root of the repository.
        var file: String
        var line: Int?
        /// Whether only the function's name led to it.
        var isGuessed = false
    }

    /// Some lines of a file around a call.
    struct Passage: Sendable, Equatable {
        var place: Place
        var function: String?
        /// The number of the first line.
        var first: Int
        var lines: [String]
        /// The commit that last changed these lines.
        var lastChange: String?
    }

    /// A commit that changed a file.
    struct Change: Sendable, Equatable {
        var commit: String
        var at: Date
        var author: String
        var summary: String
    }

    var commit: String
    /// Whether the commit is that of the release rather than the target's newest.
    var isOfRelease: Bool
    private let frames: [CrashReport.Frame]
    /// For each frame.
    var places: [Place?]
    var passages: [Passage] = []
    /// By file, in the order of the passages; the newest change first.
    var changes: [(file: String, changes: [Change])] = []
    var outdated: LookedUpCrash.Outdated?

    init(commit: String, isOfRelease: Bool, _ report: CrashReport) {
        self.commit = commit
        self.isOfRelease = isOfRelease
        frames = report.frames
        places = frames.map { _ in nil }
    }

    private enum Limit {
        static let passages = 8
        static let around = 12
        static let file = 2 << 20
        static let line = 400
    }

    /// Finds the places, their code and its changes. It blocks.
    mutating func find(in repository: Repository, at commit: OID) throws {
        let entries = try repository.entries(ofTree: repository.commit(commit).tree, recursive: true)
        let files = entries.filter { $0.kind == .blob || $0.kind == .executable }.map(\.path)
        let paths = SourcePaths(files)
        for (index, frame) in frames.enumerated() where frame.isOwn {
            if let file = frame.file {
                places[index] = paths.path(of: file).map { Place(file: $0, line: frame.line) }
            } else if let function = frame.function {
                places[index] = try guess(function, frame.image, paths, repository, commit)
            }
        }
        var contents: [String: [String]] = [:]
        for (frame, place) in zip(frames, places) {
            guard let place, let line = place.line, passages.count < Limit.passages else { continue }
            let isShown = passages.contains { passage in
                passage.place.file == place.file
                    && (passage.first..<(passage.first + passage.lines.count)).contains(line)
            }
            if isShown { continue }
            let lines = try contents[place.file] ?? Self.lines(of: place.file, repository, commit)
            contents[place.file] = lines
            guard let passage = Self.passage(lines, around: line, place, frame.function) else { continue }
            passages.append(passage)
        }
        try findChanges(repository, commit, contents)
    }

    private static func lines(of file: String, _ repository: Repository, _ commit: OID) throws -> [String] {
        guard let bytes = try repository.smallFile(file, at: commit, atMost: Limit.file),
            !bytes.prefix(8_000).contains(0)
        else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline
        )
        .map(String.init)
    }

    private static func passage(_ lines: [String], around line: Int, _ place: Place, _ function: String?) -> Passage? {
        guard (1...max(1, lines.count)).contains(line), !lines.isEmpty else { return nil }
        let first = max(1, line - Limit.around)
        let last = min(lines.count, line + Limit.around)
        return Passage(
            place: place, function: function, first: first,
            lines: lines[(first - 1)..<last].map { String($0.prefix(Limit.line)) })
    }

    /// The file that has the name of the function's type, and the line that declares the function.
    ///
    /// Reports without symbols name functions only: `Cart.total(at:)` is likely in `Cart.swift`.
    private func guess(
        _ function: String, _ image: String?, _ paths: SourcePaths, _ repository: Repository, _ commit: OID
    ) throws -> Place? {
        guard let (type, member) = Self.names(in: function) else { return nil }
        let endings = function.hasPrefix("-[") || function.hasPrefix("+[") ? ["m", "mm"] : ["swift"]
        for ending in endings {
            guard let file = paths.path(of: "\(type).\(ending)") else { continue }
            let lines = try Self.lines(of: file, repository, commit)
            let declaration = lines.firstIndex { Self.declares(member, $0) }
            return Place(file: file, line: declaration.map { $0 + 1 }, isGuessed: true)
        }
        return nil
    }

    /// `static Cart.total(at:)` as `Cart` and `total`, `-[Cart totalAt:]` as `Cart` and `totalAt`.
    static func names(in function: String) -> (type: String, member: String)? {
        let isMethod = function.hasPrefix("-[") || function.hasPrefix("+[")
        var words = isMethod ? String(function.dropFirst(2)) : function
        if !isMethod {
            // Closures and prefixes come before the name.
            words = words.components(separatedBy: " in ").last ?? words
            words = words.split(separator: "(", maxSplits: 1).first.map(String.init) ?? words
            words = words.split(separator: " ").last.map(String.init) ?? words
        }
        let parts = words.split(whereSeparator: { isMethod ? " ]".contains($0) : $0 == "." }).map(String.init)
        guard parts.count >= 2 else { return nil }
        var (type, member) = (parts[parts.count - 2], parts[parts.count - 1])
        if ["getter", "setter", "modify", "read"].contains(member), parts.count >= 3 {
            (type, member) = (parts[parts.count - 3], parts[parts.count - 2])
        }
        if isMethod { (type, member) = (parts[0], String(parts[1].prefix { $0 != ":" })) }
        func isName(_ text: String) -> Bool {
            text.utf8.count <= 100 && !text.isEmpty && text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
        }
        type = String(type.prefix { $0 != "<" && $0 != "(" })
        member = String(member.prefix { $0 != "<" && $0 != "(" })
        return isName(type) && isName(member) ? (type, member) : nil
    }

    private static func declares(_ member: String, _ line: String) -> Bool {
        if member == "init" || member == "__allocating_init" {
            return line.contains("init(") && !line.contains(".init(")
        }
        return ["func \(member)(", "func \(member)<", "var \(member)", "let \(member)", ")\(member)", ") \(member)"]
            .contains { line.contains($0) }
    }
}
