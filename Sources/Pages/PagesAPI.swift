import Control
import Foundation
import Reports
import Results
import Store
import TaskText
import TerminalText

/// The same as JSON, below `/api/v1`: `/api/v1/openapi.json` describes it.
struct PagesAPI: Sendable {
    let host: PagesHost

    static func response(_ problem: PageProblem) -> PageResponse {
        let body = ["error": problem.reason]
        let data = (try? encoder().encode(body)) ?? Data("{}".utf8)
        return PageResponse(problem.code.rawValue, type: "application/json", [UInt8](data))
    }

    private static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return encoder
    }

    private func json(_ value: some Encodable) throws -> PageResponse {
        PageResponse(type: "application/json", Array((VisibleJSON.text(try Self.encoder().encode(value)) + "\n").utf8))
    }

    /// Carries out what a POST asks for.
    func act(_ request: PageRequest, _ actions: PageActions, by person: String) async throws -> PageResponse {
        let path = try path(of: request)
        let fields = try PageActions.Fields(json: request.body, type: request.headers["content-type"])
        guard let outcome = try await actions.carryOut(path, fields, by: person) else {
            throw PageProblem(.notFound, "there is no such action of the API")
        }
        return try json(outcome)
    }

    private func path(of request: PageRequest) throws(PageProblem) -> [String] {
        guard request.path.count >= 3, request.path[1] == "v1" else {
            throw PageProblem(.notFound, "the API is below /api/v1")
        }
        return Array(request.path.dropFirst(2))
    }

    func answer(_ request: PageRequest) async throws -> PageResponse {
        let path = try path(of: request)
        switch (path[0], path.count) {
        case ("openapi.json", 1): return PageResponse(type: "application/json", Array(OpenAPI.document.utf8))
        case ("status", 1): return try json(try await host.status())
        case ("runs", 1): return try json(try await host.runs(try runsQuery(request)))
        case ("tasks", 1): return try json(try await host.tasks(try tasksFilter(request)))
        case ("tasks", 2):
            guard let id = TaskID(path[1]) else { throw PageProblem(.notFound, "there is no task \"\(path[1])\"") }
            return try json(TaskStory(try await host.task(id)))
        case ("queue", 1): return try json(try await host.mergeQueues(of: request.value("repository")))
        case ("repositories", 3) where path[2] == "changes":
            return try json(try await host.index.newestChanges(of: path[1], limit: try limit(request) ?? 200))
        case ("releases", 1):
            let before = try self.before(request)
            return try json(
                try await host.index.releases(
                    of: request.value("repository"), before: before, limit: try limit(request) ?? 20))
        case ("releases", 3):
            let views = PageViews(host: host)
            guard path[2] != ReleaseVersion.newest else { return try json(try await views.latest(of: path[1])) }
            return try json(try await host.detail(try await views.known(path[2], of: path[1])).release)
        case ("tests", 2): return try await tests(path[1], request)
        case ("runs", 2), ("runs", 3): return try await run(path, request)
        default: throw PageProblem(.notFound, "there is no such part of the API")
        }
    }

    private func limit(_ request: PageRequest) throws -> Int? {
        guard let text = request.value("limit") else { return nil }
        guard let limit = Int(text), (1...1_000).contains(limit) else {
            throw PageProblem(.badRequest, "limit is a number from 1 to 1000")
        }
        return limit
    }

    private func before(_ request: PageRequest) throws -> RunID? {
        guard let text = request.value("before") else { return nil }
        guard let before = Int64(text) else { throw PageProblem(.badRequest, "before is the number of a run") }
        return before
    }

    private func tasksFilter(_ request: PageRequest) throws -> TaskFilter {
        var filter = TaskFilter(repository: request.value("repository"))
        if let limit = try limit(request) { filter.limit = limit }
        filter.before = try before(request)
        if let text = request.value("state") {
            guard let state = TaskState.all.first(where: { $0.rawValue == text }) else {
                throw PageProblem(
                    .badRequest, "state is one of \(TaskState.all.map(\.rawValue).joined(separator: ", "))")
            }
            filter.states = [state]
        }
        return filter
    }

    private func runsQuery(_ request: PageRequest) throws -> RunsQuery {
        var query = RunsQuery(
            repository: request.value("repository"), workflow: request.value("workflow"),
            change: request.value("change"),
            branch: request.value("branch"), commit: request.value("commit"))
        if let limit = try limit(request) { query.limit = limit }
        query.before = try before(request)
        if let text = request.value("verdict") {
            guard let verdict = Verdict(rawValue: text) else {
                throw PageProblem(
                    .badRequest, "verdict is one of \(Verdict.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            query.verdicts = [verdict]
        }
        if let text = request.value("state") {
            guard let state = RunState(rawValue: text) else {
                throw PageProblem(.badRequest, "state is queued, running or ended")
            }
            query.states = [state]
        }
        return query
    }

    private func run(_ path: [String], _ request: PageRequest) async throws -> PageResponse {
        guard let id = Int64(path[1]) else { throw PageProblem(.notFound, "there is no run \"\(path[1])\"") }
        guard path.count == 3 else { return try json(try await host.run(id)) }
        switch path[2] {
        case "report":
            let text = try await document(id).render(.json)
            return PageResponse(type: "application/json", Array(text.utf8))
        case "junit":
            return PageResponse(type: "application/xml", Array(try await document(id).render(.junit).utf8))
        case "bundle":
            let format = request.value("format").flatMap(BundleFormat.init) ?? .json
            let text = try await host.ask(.bundle(BundleRequest(run: id, bytes: 64 << 10, format: format))) {
                if case .bundle(let text) = $0 { text } else { nil }
            }
            return PageResponse(
                type: format == .json ? "application/json" : "text/plain; charset=utf-8", Array(text.utf8))
        default: throw PageProblem(.notFound, "a run has a report, junit and a bundle")
        }
    }

    private func document(_ id: RunID) async throws -> ReportDocument {
        let summary = try await host.run(id).summary
        guard summary.state == .ended else { throw PageProblem(.refused, "run \(id) has not ended yet") }
        return try await host.document(id)
    }

    private func tests(_ name: String, _ request: PageRequest) async throws -> PageResponse {
        var filter = TestFilter()
        filter.repository = request.value("repository")
        filter.workflow = request.value("workflow")
        switch name {
        case "flaky":
            return try json(
                try await host.ask(.flakyTests(filter)) { if case .flaky(let tests) = $0 { tests } else { nil } })
        case "slowest":
            return try json(
                try await host.ask(.slowestTests(filter, 50)) {
                    if case .slowest(let tests) = $0 { tests } else { nil }
                })
        case "history":
            guard let test = request.value("name") else {
                throw PageProblem(.badRequest, "name is missing: the test's name or a part of it")
            }
            // With its suite, the name is whole.
            let wanted = request.value("suite").map { "\($0)/\(test)" } ?? test
            return try json(
                try await host.ask(.testHistory(wanted, filter)) {
                    if case .appearances(let found) = $0 { found } else { nil }
                })
        default: throw PageProblem(.notFound, "there are flaky, slowest and history")
        }
    }
}
