public import Control
public import Reports
public import Results
public import Store

/// The output of a step while it is written.
public protocol LogOutput: Sendable {
    /// How many bytes there are, and whether there will be no more.
    var extent: (bytes: Int, isOver: Bool) { get }
    /// Returns when there are more than `bytes` bytes, when there will be no more, or when the task is cancelled.
    func wait(beyond bytes: Int) async
    /// At most `count` bytes, and the offset of the first of them: higher than `offset` where the log no longer has those
    /// bytes.
    func read(from offset: Int, atMost count: Int) async throws -> (start: Int, bytes: [UInt8])
}

/// What the pages show. They ask what commands ask, so both show the same.
public struct PagesHost: Sendable {
    /// The first reply to a request; a refused request is ``DaemonReply/refused(code:message:origin:)``.
    public var answer: @Sendable (DaemonRequest) async throws -> DaemonReply
    /// A run that has ended, with its tests and the logs of failed steps.
    public var document: @Sendable (RunID) async throws -> ReportDocument
    /// The report of a run that has ended, without its tests and logs.
    public var report: @Sendable (RunID) async throws -> Report
    /// One log of a run that has ended, by the name in its ``LogRecord``.
    public var log: @Sendable (RunID, _ file: String) async throws -> ReportLog
    /// The log that is being written to a file; nil where nobody writes it (any more).
    public var output: @Sendable (_ path: String) -> (any LogOutput)?
    /// Makes a listener for news of runs. Its call returns when something has happened since its last return, or since
    /// it was made, and when the task is cancelled.
    public var news: @Sendable () -> @Sendable () async -> Void
    /// The releases of a repository that contain a commit, oldest first.
    public var releases: @Sendable (_ commit: String, _ repository: String) async throws -> [ReleaseRecord] = { _, _ in
        []
    }
    /// A release with what it waits for, and where its files are.
    public var detail: @Sendable (ReleaseRecord) async throws -> ReleaseDetail = {
        ReleaseDetail(release: $0, folder: "")
    }
    /// The highest version of a repository that is published, neither withdrawn nor a candidate; nil: there is none.
    public var latest: @Sendable (_ repository: String) async throws -> ReleaseRecord? = { _ in nil }
    /// The path of an artifact's content by its SHA-256 in hex; nil where it is not stored (any more).
    public var artifact: @Sendable (_ sha256: String) -> String? = { _ in nil }
    /// What is read beside.
    public var index: Store.Index

    public init(
        answer: @escaping @Sendable (DaemonRequest) async throws -> DaemonReply,
        document: @escaping @Sendable (RunID) async throws -> ReportDocument,
        report: @escaping @Sendable (RunID) async throws -> Report,
        log: @escaping @Sendable (RunID, _ file: String) async throws -> ReportLog,
        output: @escaping @Sendable (_ path: String) -> (any LogOutput)? = { _ in nil },
        news: @escaping @Sendable () -> @Sendable () async -> Void, index: Store.Index
    ) {
        (self.answer, self.document, self.report) = (answer, document, report)
        (self.log, self.output, self.news, self.index) = (log, output, news, index)
    }
}

extension PagesHost {
    /// The part of the reply that `pick` chooses.
    ///
    /// - Throws: ``PageProblem`` where the request is refused or answered with something else.
    func ask<Value>(_ request: DaemonRequest, _ pick: (DaemonReply) -> Value?) async throws -> Value {
        let reply = try await answer(request)
        if let value = pick(reply) { return value }
        if let refusal = reply.refusal { throw PageProblem(refusing: refusal) }
        throw PageProblem(.broken, "the daemon gave another answer than was asked for")
    }

    func runs(_ query: RunsQuery) async throws -> [RunSummary] {
        try await ask(.runs(query)) { if case .runs(let runs) = $0 { runs } else { nil } }
    }

    func status() async throws -> DaemonStatus {
        try await ask(.status) { if case .status(let status) = $0 { status } else { nil } }
    }

    func run(_ id: RunID) async throws -> RunDetail {
        try await ask(.run(id)) { if case .run(let detail) = $0 { detail } else { nil } }
    }

    func mergeQueues(of repository: String? = nil) async throws -> [MergeQueueStatus] {
        try await ask(.mergeQueues(repository)) { if case .mergeQueues(let queues) = $0 { queues } else { nil } }
    }
}

/// Why a page can't be shown.
struct PageProblem: Error {
    enum Code: Int {
        case badRequest = 400
        case unauthorized = 401
        case forbidden = 403
        case notFound = 404
        case wrongMethod = 405
        case refused = 409
        case tooLarge = 413
        case tooMany = 429
        case broken = 500
    }

    var code: Code
    /// One sentence; it may quote foreign text.
    var reason: String

    init(_ code: Code, _ reason: String) { (self.code, self.reason) = (code, reason) }

    /// The problem of a request that the daemon refused.
    init(refusing error: RequestError) {
        let unknown: [RequestError.Code] = [.unknownRun, .unknownChange, .unknownRepository, .unknownTask]
        self.init(unknown.contains(error.code) ? .notFound : .refused, error.description)
    }
}
