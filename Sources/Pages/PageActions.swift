import Control
import Foundation
import Results

/// What people can do at the pages and by the API. Each is the request that a command makes.
struct PageActions: Sendable {
    /// What an action is given, by a form or as JSON.
    struct Fields: Sendable, Decodable {
        /// Only the steps that did not pass.
        var failed: Bool?
        /// The step that is approved; nil: the run.
        var step: String?
        /// Why, in the person's words.
        var reason: String?
        /// The commit that is to land.
        var head: String?
        var workflow: String?
        /// A branch, tag or commit.
        var revision: String?
        var change: String?
        var parameters: [String: String]?
        /// What is to be done, or a remark.
        var text: String?
        var title: String?
        var repository: String?
        /// Makes a second request for the same work find the first.
        var key: String?
        /// A crash report, and the version that crashed where it does not say.
        var crash: Data?
        var version: String?
        var files: [TaskDraft.File]?
        var issue: Int?
        /// The version of the plan that is approved.
        var plan: Int?
        /// The commit of a task that is to land.
        var commit: String?

        init(_ form: PageForm) {
            failed = form["failed"] == "1"
            (step, reason, head) = (form["step"], form["reason"], form["head"])
            (workflow, revision, change) = (form["workflow"], form["revision"], form["change"])
            parameters = form.parameters
            (text, title, repository, commit) = (form["text"], form["title"], form["repository"], form["commit"])
            plan = form["plan"].flatMap(Int.init)
            crash = form.handed("crash").first?.content
            files = form.handed("files")
        }

        /// - Throws: ``PageProblem`` for a body that is no such object; an empty one has no fields.
        init(json body: [UInt8], type: String?) throws(PageProblem) {
            guard !body.isEmpty else {
                self.init(PageForm())
                return
            }
            let name = type?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
            guard name == "application/json" else { throw PageProblem(.badRequest, "send application/json") }
            do { self = try JSONDecoder().decode(Fields.self, from: Data(body)) } catch {
                throw PageProblem(.badRequest, "the body is no JSON object as /api/v1/openapi.json describes it")
            }
        }
    }

    /// What became of an action.
    struct Outcome: Sendable, Encodable {
        /// As a sentence without its full stop.
        var done: String
        /// The run that the action started.
        var run: RunID?
        /// The task that it is about.
        var task: TaskID?
        /// The page that shows it.
        var page: String
    }

    let act: @Sendable (DaemonRequest, _ person: String) async throws -> DaemonReply

    /// Carries out the action that a path names.
    ///
    /// - Returns: Nil where the path is no action.
    func carryOut(_ path: [String], _ fields: Fields, by person: String) async throws -> Outcome? {
        guard let request = try Self.request(path, fields, by: person) else { return nil }
        let reply = try await act(request, person)
        if let refusal = reply.refusal { throw PageProblem(refusing: refusal) }
        switch (request, reply) {
        case (_, .accepted(let run, let isNew)):
            return Outcome(
                done: isNew ? "run \(run) is queued" : "run \(run) is the same", run: run, page: Self.page(of: run))
        case (.land, .completed(let action)): return Outcome(done: action.inWords, page: "/queue")
        case (.cancel(let run, _), .completed(let action)):
            return Outcome(done: action.inWords, page: Self.page(of: run))
        case (.approve(let answer), .completed(let action)):
            return Outcome(done: action.inWords, page: Self.page(of: answer.run))
        case (.task, .task(let reply)):
            guard let outcome = Self.outcome(reply) else { throw Self.otherAnswer }
            return outcome
        case (.fix(let run), .fix(.note(let text))): return Outcome(done: text, page: Self.page(of: run))
        default: throw Self.otherAnswer
        }
    }

    private static let otherAnswer = PageProblem(.broken, "the daemon gave another answer than was asked for")

    private static func page(of run: RunID) -> String { PageRequest.target(["runs", "\(run)"]) }

    /// The request that a path and its fields mean; nil where the path is no action.
    private static func request(
        _ path: [String], _ fields: Fields, by person: String
    ) throws(PageProblem) -> DaemonRequest? {
        if let command = try task(path, fields) { return .task(command) }
        if path.count == 3, path[0] == "runs", let run = Int64(path[1]), run > 0 {
            return request(about: run, path[2], fields, by: person)
        }
        guard path.count >= 3, path[0] == "repositories" else { return nil }
        if path.count == 5, path[2] == "changes", path[4] == "land" {
            // Without it, a push between the look and the click would land unseen.
            guard let head = fields.head, [40, 64].contains(head.utf8.count) else {
                throw PageProblem(.badRequest, "head is missing: the whole id of the commit that is to land")
            }
            return .land(LandRequest(repository: path[1], change: path[3], head: head))
        }
        guard path.count == 3, path[2] == "runs" else { return nil }
        return .start(try start(in: path[1], fields))
    }

    private static func request(
        about run: RunID, _ name: String, _ fields: Fields, by person: String
    ) -> DaemonRequest? {
        switch name {
        case "rerun":
            var rerun = RerunRequest(run: run)
            rerun.failedOnly = fields.failed ?? false
            return .rerun(rerun)
        case "cancel": return .cancel(run, reason: "cancelled by \(person)")
        case "approve", "reject":
            return .approve(
                ApproveRequest(run: run, step: fields.step, isRejected: name == "reject", comment: fields.reason))
        case "fix": return .fix(run)
        default: return nil
        }
    }

    /// The run of a workflow that fields describe.
    static func start(in repository: String, _ fields: Fields) throws(PageProblem) -> StartRequest {
        guard let workflow = fields.workflow else { throw PageProblem(.badRequest, "the workflow's name is missing") }
        let subject: StartRequest.Subject
        switch (fields.change, fields.revision) {
        case (let change?, nil): subject = .change(change)
        case (nil, let revision?): subject = .revision(revision)
        default:
            throw PageProblem(.badRequest, "name what the workflow runs on: a change, or a branch, tag or commit")
        }
        var start = StartRequest(location: repository, workflow: workflow, subject: subject)
        start.repository = repository
        start.parameters = fields.parameters ?? [:]
        return start
    }
}
