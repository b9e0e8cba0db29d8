import Watching
import Control
import Results
import Store

/// Finds the run that a reference means.
struct RunLookup: Sendable {
    /// The number of runs that are searched, newest first. Older runs of a subject are not its newest.
    private static let limit = 200

    let index: Store.Index
    /// The name of the repository in the caller's folder; nil if it is unknown.
    let repository: String?

    /// - Throws: ``RequestError`` if the reference means no run, or several.
    func find(_ reference: RunReference) async throws -> RunID {
        if case .number(let id) = reference {
            guard try await index.run(id) != nil else { throw RequestError.unknownRun(id) }
            return id
        }
        // If the caller's own repository has no such run, search the others.
        for name in [repository, nil] {
            let runs = try await candidates(for: reference, in: name)
            switch Self.choose(among: runs, reference) {
            case .run(let id): return id
            case .several(let runs): throw Self.ambiguous(reference, runs)
            case .none: if name == nil { break }
            }
        }
        throw RequestError(
            .unknownRun,
            "no run of \"\(reference.inWords)\"; `pipectl runs` lists them"
        )
    }

    private func candidates(for reference: RunReference, in repository: String?) async throws -> [RunSummary] {
        func runs(_ change: (inout RunFilter) -> Void) async throws -> [RunSummary] {
            var filter = RunFilter(repository: repository, limit: Self.limit)
            change(&filter)
            return try await index.runs(filter)
        }
        switch reference {
        case .number: return []
        case .last: return try await runs { _ in }
        case .change(let name): return try await runs { $0.change = name }
        case .name(let name):
            let short = ["refs/heads/", "refs/tags/"].first(where: name.hasPrefix).map {
                String(name.dropFirst($0.count))
            }
            var found = try await runs { $0.branch = short ?? name }.filter { $0.change == nil }
            found += try await runs { $0.change = short ?? name }
            if found.isEmpty, (4...64).contains(name.utf8.count), name.allSatisfy(\.isHexDigit) {
                found = try await runs { $0.commitPrefix = name }
            }
            if found.isEmpty {
                found = try await runs { _ in }.filter { $0.ref == "refs/tags/\(short ?? name)" || $0.ref == name }
            }
            return found.sorted { $0.id > $1.id }
        }
    }

    enum Choice: Equatable {
        case run(RunID)
        /// Several runs match: the newest run of the newest commit, of each repository and workflow.
        case several([RunSummary])
        case none
    }

    /// - Parameter runs: All runs of the subject, newest first.
    static func choose(among runs: [RunSummary], _ reference: RunReference) -> Choice {
        // Background runs are meant only if there are no others.
        let wanted = runs.filter { $0.upkeep == nil && $0.fix == nil && $0.task == nil }
        let all = wanted.isEmpty ? runs : wanted
        guard let newest = all.first else { return .none }
        if reference == .last { return .run(newest.id) }
        var seen: Set<[String]> = []
        var meant: [RunSummary] = []
        for repository in Set(all.map(\.repository)) {
            let own = all.filter { $0.repository == repository }
            meant += own.filter { run in
                run.head == own.first?.head && seen.insert([repository, run.workflow]).inserted
            }
        }
        meant.sort { $0.id > $1.id }
        return meant.count == 1 ? .run(meant[0].id) : .several(meant)
    }

    private static func ambiguous(_ reference: RunReference, _ runs: [RunSummary]) -> RequestError {
        let list = runs.prefix(10).map { run in
            "  \(run.id)  \(run.workflow)  \(run.verdict?.title ?? run.state.rawValue)  \(run.head.prefix(10))  \(run.repository)"
        }
        return RequestError(
            .ambiguous,
            "\"\(reference.inWords)\" matches \(runs.count) runs; name one by its number:\n"
                + list.joined(separator: "\n"))
    }
}
