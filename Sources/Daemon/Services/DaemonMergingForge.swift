import Forges
import Landing
import Pipeline

/// Has the connected forges merge what the merge queues have tested.
struct DaemonMergingForge: MergingForge {
    let merger: ForgeMerger

    func merge(_ order: MergeOrder) async throws -> MergeAnswer {
        try await answer { .merged(try await merger.merge(wanted(order), in: order.repository).commit) }
    }

    func outcome(of order: MergeOrder) async throws -> MergeAnswer {
        try await answer {
            try await merger.merged(wanted(order), in: order.repository).map { .merged($0.commit) } ?? .open
        }
    }

    func isConnected(_ repository: String) async -> Bool { await merger.isConnected(repository) }

    private func wanted(_ order: MergeOrder) -> ForgeMerge {
        let method: ForgeMerge.Method =
            switch order.method {
            case .squash: .squash
            case .merge: .merge
            case .rebase: .rebase
            }
        var wanted = ForgeMerge(change: order.number, head: order.head, method: method)
        let lines = order.message.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        if let title = lines.first, !title.isEmpty, method != .rebase {
            wanted.title = String(title)
            wanted.message = lines.dropFirst().first.map { $0.drop { $0 == "\n" } }.map(String.init) ?? ""
        }
        return wanted
    }

    private func answer(_ body: () async throws -> MergeAnswer) async throws -> MergeAnswer {
        do {
            return try await body()
        } catch let error as ForgeMergeError {
            return Self.answer(to: error)
        }
    }

    static func answer(to error: ForgeMergeError) -> MergeAnswer {
        switch error.code {
        case .headMoved: .headMoved
        case .notMergeable: .notMergeable(error.description)
        case .notAllowed, .notConnected: .notAllowed(error.description)
        default: .later(error.description, until: error.retryAt)
        }
    }
}
