import Control
import Results

/// What forms of the pages ask for. Each is the request that a command makes.
struct PageActions: Sendable {
    let host: PagesHost

    /// Carries out the action of a form.
    ///
    /// - Returns: The path that shows what became of it; nil where the path is no action.
    func act(_ request: PageRequest) async throws -> [String]? {
        let path = request.path
        if path.count == 3, path[0] == "runs", let run = Int64(path[1]) {
            switch path[2] {
            case "rerun":
                var wanted = RerunRequest(run: run)
                wanted.failedOnly = request.form["failed"] == "1"
                let new = try await host.ask(.rerun(wanted)) { if case .accepted(let id, _) = $0 { id } else { nil } }
                return ["runs", "\(new)"]
            case "cancel":
                try await done(.cancel(run, reason: "cancelled in a browser"))
                return ["runs", path[1]]
            case "approve", "reject":
                var answer = ApproveRequest(run: run)
                answer.isRejected = path[2] == "reject"
                answer.comment = "in a browser"
                try await done(.approve(answer))
                return ["runs", path[1]]
            default: return nil
            }
        }
        if path.count == 5, path[0] == "repositories", path[2] == "changes", path[4] == "land" {
            guard let head = request.form["head"], !head.isEmpty else {
                throw PageProblem(.badRequest, "the form does not say which commit is to land")
            }
            try await done(.land(LandRequest(repository: path[1], change: path[3], head: head)))
            return ["queue"]
        }
        return nil
    }

    private func done(_ request: DaemonRequest) async throws {
        _ = try await host.ask(request) { if case .completed(let action) = $0 { action } else { nil } }
    }
}
