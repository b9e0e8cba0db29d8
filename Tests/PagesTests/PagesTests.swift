import Control
import Foundation
import Logging
import PageMarkup
import Pipeline
import Reports
import Results
import Store
import Synchronization
import TestBasics
import TestSupport
import Testing

@testable import Pages

/// A clock that tests turn.
final class TestClock: Sendable {
    private let time = Mutex(Sample.start)

    var now: @Sendable () -> Date { { [self] in time.withLock { $0 } } }

    func turn(_ seconds: Double) { time.withLock { $0.addTimeInterval(seconds) } }
}

/// A daemon as the pages see it: one live run, one that has ended, and what a test changes.
final class Box: Sendable {
    struct State {
        var runs: [RunSummary] = []
        var live: LiveRun?
        var reason = "All is as it should be."
        var tests = Sample.tests
        var log = "one\ntwo\n"
        var parameters: [ParameterDeclaration] = []
        /// The files of `workflows/`.
        var definition: [String: String] = [:]
        /// The releases that have the commit of whatever landed.
        var releases: [ReleaseRecord] = []
        var gate: ReleaseGate?
        /// Where the files of releases and artifacts are.
        var folder = ""
        var change: (inout Report) -> Void = { _ in }
        var mostFollowers = 100
        var tasks = [Sample.taskView(.planWaits)]
    }
    let state = Mutex(State())
    let asked = Mutex<[String]>([])
    /// What was asked for by whom.
    let acted = Mutex<[String]>([])
    /// The work that was handed over.
    let drafts = Mutex<[TaskDraft]>([])
    let clock = TestClock()
    let links: OneTimeLinks
    let index: Store.Index

    init() async throws {
        index = try Store.Index.inMemory(now: clock.now)
        links = OneTimeLinks(now: clock.now)
        try await index.register("alpha", location: "/alpha")
        try await index.setChange(Sample.change("7", .open), of: "alpha")
        state.withLock { $0.runs = [Self.summary(1)] }
    }

    static func summary(_ id: RunID, _ change: (inout RunSummary) -> Void = { _ in }) -> RunSummary {
        var run = RunSummary(
            id: id, repository: "alpha", workflow: "test", event: .pullRequest, ref: "refs/pull/7/head", branch: "main",
            head: Sample.commit(1), change: "7", title: "Change 7", state: .ended, verdict: .failed,
            reason: "step \"unit\" failed", attempt: 1, createdAt: Sample.start, startedAt: Sample.start,
            endedAt: Sample.start.addingTimeInterval(9))
        run.stepCounts.failed = 1
        change(&run)
        return run
    }

    var pages: Pages { pages() }

    /// - Parameters:
    ///   - root: The address that people type; nil: the pages are open to programs of the machine.
    ///   - operators: Who of those that a proxy names may act.
    func pages(at root: String? = nil, operators: [String] = [], signIn: (any PagesSignIn)? = nil) -> Pages {
        var options = PagesOptions(root: root ?? "http://127.0.0.1:8787", isOpen: root == nil)
        options.operators = operators
        options.mostFollowers = state.withLock { $0.mostFollowers }
        let controls = PagesControls(
            options: options, links: links,
            act: { [self] request, person in
                acted.withLock { $0.append("\(person): \(request)") }
                return answer(request)
            },
            signIn: { signIn },
            definition: { [self] _ in state.withLock { $0.definition } })
        return Pages(
            host, controls, machine: "box", log: Logger(label: "test"), now: clock.now)
    }

    private var host: PagesHost {
        var host = PagesHost(
            answer: { [self] in answer($0) },
            document: { [self] id in
                let (reason, tests, log) = state.withLock { ($0.reason, $0.tests, $0.log) }
                var report = Sample.report(id, verdict: .failed, tests: tests)
                report.reason = reason
                return ReportDocument(report: report, tests: tests) { _ in ReportLog(bytes: Array(log.utf8)) }
            },
            report: { [self] id in
                let state = state.withLock { $0 }
                var report = Sample.report(id, verdict: .failed, tests: state.tests)
                report.reason = state.reason
                state.change(&report)
                return report
            },
            log: { [self] _, _ in ReportLog(bytes: Array(state.withLock { $0.log }.utf8)) },
            news: { { try? await Task.sleep(for: .seconds(60)) } }, index: index)
        host.releases = { [self] _, _ in state.withLock { $0.releases } }
        host.detail = { [self] in
            var detail = ReleaseDetail(release: $0, folder: state.withLock { $0.folder })
            detail.release.gate = state.withLock { $0.gate }
            return detail
        }
        host.latest = { [self] _ in state.withLock { $0.releases.first } }
        host.artifact = { [self] in "\(state.withLock { $0.folder })/\($0)" }
        return host
    }

    private func answer(_ request: DaemonRequest) -> DaemonReply {
        asked.withLock { $0.append("\(request)") }
        let (runs, live) = state.withLock { ($0.runs, $0.live) }
        switch request {
        case .status:
            return .status(
                DaemonStatus(
                    version: "0.1.0", processID: 7, slots: 2,
                    repositories: [
                        .init(name: "alpha", location: "/alpha", isWatched: true, changes: ["open": 1])
                    ], running: [live].compactMap { $0 }, queued: [], held: [], obstacle: nil, freeBytes: 1,
                    state: "/state", machine: nil))
        case .runs(let query):
            return .runs(
                runs.filter {
                    (query.change == nil || $0.change == query.change)
                        && (query.states.isEmpty || query.states.contains($0.state))
                })
        case .run(let id):
            guard let run = runs.first(where: { $0.id == id }) else {
                return .refused(code: RequestError.Code.unknownRun.rawValue, message: "no run \(id)", origin: .request)
            }
            return .run(RunDetail(summary: run, live: live?.id == id ? live : nil, behind: nil, held: nil))
        case .mergeQueues: return .mergeQueues([])
        case .flakyTests: return .flaky([])
        case .slowestTests: return .slowest([])
        case .testHistory: return .appearances([])
        case .proofs: return .proofs(ProofStatus(counts: [], distrusted: []))
        case .bundle: return .bundle("{}")
        case .parameters: return .parameters(state.withLock { $0.parameters })
        case .rerun, .start: return .accepted(9, isNew: true)
        case .cancel(let run, _): return .completed(.cancelled(run, .stopping))
        case .approve(let answer):
            let approval = Approval(
                why: "", head: Sample.commit(1), definition: "", binding: "", askedAt: Sample.start,
                decision: answer.isRejected ? .rejected : .approved)
            return .completed(.answered(answer.run, approval, isNew: true))
        case .land(let land): return .completed(.queuedLanding(change: land.change, branch: "main", before: 0))
        case .task(let command): return answer(command)
        case .fix: return .fix(.note("attempt 1 begins"))
        default: return .refused(code: "usage", message: "not here", origin: .request)
        }
    }
}

extension Box {
    fileprivate func answer(_ command: TaskCommand) -> DaemonReply {
        let tasks = state.withLock { $0.tasks }
        let id: TaskID
        switch command {
        case .list: return .task(.list(tasks.map(\.task)))
        case .difference: return .task(.difference("--- a/x\n+++ b/x\n@@ -1 +1 @@\n+let total = 0\n"))
        case .add(let draft, _):
            drafts.withLock { $0.append(draft) }
            return .task(.added(tasks[0].task, isNew: true))
        case .approve(let task, _, _), .remark(let task, _), .refuse(let task, _), .cancel(let task, _),
            .land(let task, _), .show(let task), .follow(let task):
            id = task
        }
        guard let view = tasks.first(where: { $0.task.id == id }) else {
            return .refused(code: RequestError.Code.unknownTask.rawValue, message: "no task \(id)", origin: .request)
        }
        return .task(.task(view))
    }
}

extension Pages {
    fileprivate func get(_ target: String, headers: [String: String] = [:]) async throws -> PageResponse {
        var all = ["host": "localhost:8787"]
        all.merge(headers) { $1 }
        return await answer(try #require(PageRequest(method: "GET", target: target, headers: all)))
    }
}

extension PageResponse {
    var text: String {
        if case .bytes(let bytes) = body { String(decoding: bytes, as: UTF8.self) } else { "" }
    }

    /// The text that is sent piece by piece.
    fileprivate var streamed: String {
        get async throws {
            guard case .stream(let stream) = body else { return "" }
            var (pieces, bytes) = (stream.pieces(), [UInt8]())
            while let piece = try await pieces.next() { bytes += piece }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}

@Suite struct PagesTests {
    static let paths = [
        "/", "/runs", "/runs?verdict=failed&repository=alpha", "/runs/1", "/runs/1/steps/1", "/repositories/alpha",
        "/repositories/alpha/changes/7", "/tests", "/tests/history?name=adds&suite=Unit", "/queue", "/machine",
        "/search?q=adds", "/search?q=1", "/search", "/releases", "/runs/1/bundle", "/runs/1/steps/1?q=one",
        "/runs/1/steps/1?from=2", "/tasks", "/tasks?repository=alpha&before=9", "/tasks/1", "/tasks/new",
    ]

    @Test(arguments: paths) func `each page has one heading, its command, and no script of its own`(path: String)
        async throws
    {
        let page = try await Box().pages.get(path)
        #expect(page.status == 200)
        #expect(page.text.components(separatedBy: "<h1>").count == 2)
        #expect(page.text.contains("<code class=\"all\">pipectl "))
        #expect(page.text.contains("<main id=\"main\">") && page.text.contains("lang=\"en\""))
        let scripts = page.text.components(separatedBy: "<script").dropFirst()
        #expect(scripts.allSatisfy { $0.hasPrefix(" src=\"/assets/") })
        #expect(!page.text.contains(" onclick") && !page.text.contains(" style=\""))
        #expect(page.text.utf8.count < 100_000)
        let policy = try #require(page.headers["content-security-policy"])
        #expect(policy.contains("default-src 'none'") && policy.contains("script-src 'self';"))
        #expect(!policy.contains("unsafe"))
    }

    @Test(arguments: [
        "/nothing", "/runs/9", "/runs/x", "/runs/-1", "/runs/99999999999999999999", "/runs/1/steps/9",
        "/runs/1/steps/x/raw",
        "/repositories/beta", "/repositories/alpha/changes/8", "/assets/../Package.swift", "/assets/x", "/live/nothing",
        "/live/live/", "/api/v1/nothing", "/api/v2/status", "/runs/1/steps/1/..%2f..%2fetc", "/feeds/x",
        "/badges/alpha/main",
    ])
    func `what is not there is not found`(path: String) async throws {
        #expect(try await Box().pages.get(path).status == 404)
    }

    @Test(arguments: ["", "runs", "/%zz", "/a%00b", "/" + String(repeating: "a", count: 5_000)])
    func `an address that can't be decoded is refused`(target: String) {
        #expect(PageRequest(method: "GET", target: target, headers: [:]) == nil)
    }

    /// Text of strangers, wherever it comes from.
    static let hostile = [
        "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onmouseover='alert(1)", "</title><script>",
        "</style><script>alert(1)</script>", "javascript:alert(1)", "\u{1B}]8;;http://evil\u{7}click\u{1B}]8;;\u{7}",
        "\u{202E}txt.exe", "&lt;script&gt;", "<svg/onload=alert(1)>", "{{7*7}}", "<!--", "]]>", "\u{0}",
        "<base href=//evil>",
    ]

    @Test(arguments: hostile) func `foreign text is text on every page`(text: String) async throws {
        let box = try await Box()
        var change = Sample.change("7", .open)
        (change.title, change.author) = (text, text)
        try await box.index.setChange(change, of: "alpha")
        box.state.withLock { state in
            state.runs = [
                Box.summary(1) { ($0.title, $0.reason, $0.workflow) = (text, text, text) },
                Box.summary(2) {
                    ($0.title, $0.state, $0.verdict, $0.ref) = (text, .running, nil, "refs/heads/\(text)")
                },
            ]
            var live = LiveRun(
                id: 2, repository: "alpha", workflow: text, subject: text, phase: .running, startedAt: Sample.start,
                logs: "/x")
            live.steps = [LiveRun.Step(record: Sample.step(text, .running)), LiveRun.Step(record: Sample.step("b"))]
            live.steps[0].lastLine = text
            (live.steps[0].attempt, live.steps[0].startedAt) = (1, Sample.start)
            live.steps[1].record.needs = [text]
            live.steps[1].waitsFor = text
            state.live = live
            state.tasks = [Sample.taskView(.ready, text)]
            (state.reason, state.log) = (text, "\(text)\n::group::\(text)\n\(text)\n::endgroup::\n")
            state.tests = [
                TestResult(suite: text, name: text, status: .failed, message: text, details: text, file: text, line: 1)
            ]
        }
        let pages = box.pages
        for path in Self.paths + [
            "/runs/2", "/feeds/runs.atom", "/search?q=\(PageAddress.part(text))",
            "/runs/1/steps/1?q=\(PageAddress.part(text))",
        ] {
            let page = try await pages.get(path).text
            for tag in page.matches(of: /<[a-zA-Z!?][^<>]*>/).map({ String($0.output) }) {
                // What is in quotes is a value: a quote in it is an entity.
                let plain = tag.replacing(/"[^"]*"/, with: "")
                #expect(!plain.contains(/\son\w+\s*=/) && !plain.contains("'"), "\(path): \(tag)")
                let isForeign = plain.contains(/^<(img|base|iframe|object|embed|svg\/)/)
                let isScript = plain.hasPrefix("<script") && !tag.hasPrefix("<script src=\"/assets/")
                #expect(!isForeign && !isScript, "\(path): \(tag)")
                #expect(!tag.contains("href=\"javascript:") && !tag.contains("href=\"//"), "\(path): \(tag)")
            }
            #expect(!page.contains("\u{1B}") && !page.contains("\u{202E}") && !page.contains("\u{0}"))
        }
    }

    // MARK: Who may

    @Test(arguments: [
        "evil.example", "evil.example:8787", "localhost.evil.example", "127.0.0.1.evil.example", "build-box:8787", "",
        "10.0.0.1:8787", "127.0.0.256", "[::2]:8787",
    ])
    func `another host sees nothing`(host: String) async throws {
        let pages = try await Box().pages
        for path in ["/", "/api/v1/status", "/runs/1", "/metrics", "/live/"] {
            #expect(try await pages.get(path, headers: ["host": host]).status == 403)
        }
    }

    @Test(arguments: ["localhost", "localhost:8787", "127.0.0.1:8787", "127.8.9.1", "[::1]:8787", "LOCALHOST"])
    func `this machine does`(host: String) async throws {
        #expect(try await Box().pages.get("/", headers: ["host": host]).status == 200)
    }

    @Test(arguments: ["forwarded", "x-forwarded-for", "x-forwarded-host", "via"])
    func `a proxy does not`(header: String) async throws {
        #expect(try await Box().pages.get("/", headers: [header: "for=10.0.0.1"]).status == 403)
    }

    @Test(arguments: ["PUT", "DELETE", "PATCH", "TRACE", "CONNECT"]) func `other methods are refused`(
        method: String
    )
        async throws
    {
        let request = try #require(PageRequest(method: method, target: "/runs/1", headers: ["host": "localhost"]))
        #expect(try await Box().pages.answer(request).status == 405)
    }

    @Test(.timeLimit(.minutes(1))) func `who follows one page too many is told to come back`() async throws {
        let box = try await Box()
        box.state.withLock { $0.mostFollowers = 1 }
        let pages = box.pages
        guard case .stream(let first) = try await pages.get("/live/").body else {
            Issue.record("there is no stream")
            return
        }
        var held: (any PagePieces)? = first.pieces()
        _ = try await held?.next()
        guard case .stream(let second) = try await pages.get("/live/").body else {
            Issue.record("there is no stream")
            return
        }
        var pieces = second.pieces()
        #expect(String(decoding: try await pieces.next() ?? [], as: UTF8.self).hasPrefix("retry: 15000\n"))
        #expect(try await pieces.next() == nil)
        // Requests have their answers meanwhile.
        #expect(try await pages.get("/").status == 200)
        held = nil
        guard case .stream(let third) = try await pages.get("/live/").body else {
            Issue.record("there is no stream")
            return
        }
        var again = third.pieces()
        #expect(String(decoding: try await again.next() ?? [], as: UTF8.self).hasPrefix("retry: 1000\n"))
    }

    // MARK: Changes

    @Test func `a landed change shows the releases that have it, and where they are`() async throws {
        let box = try await Box()
        var change = Sample.change("7", .landed)
        change.landedCommit = Sample.commit(5)
        try await box.index.setChange(change, of: "alpha")
        #expect(try await box.pages.get("/repositories/alpha/changes/7").text.contains("No release has it yet."))
        var release = ReleaseRecord(
            repository: "alpha", version: ReleaseVersion(version: "1.2.0", buildNumber: 7, tag: "v1.2.0"),
            commit: Sample.commit(6), tree: "", committedAt: Sample.start, workflow: "release", run: 3,
            madeAt: Sample.start, state: .published, notes: "", files: [])
        var publication = PublicationRecord(
            step: "store", destination: "<b>TestFlight</b>", state: .testing, updatedAt: Sample.start)
        publication.address = "https://example.com/app"
        publication.reason = "Apple <waits> for you"
        release.publications = [publication]
        box.state.withLock { [release] in $0.releases = [release] }
        let page = try await box.pages.get("/repositories/alpha/changes/7").text
        #expect(page.contains("href=\"/releases/alpha/1.2.0\"") && page.contains("href=\"https://example.com/app\""))
        #expect(page.contains("testing") && page.contains("&lt;b>TestFlight") || page.contains("&lt;b&gt;TestFlight"))
        #expect(!page.contains("<b>TestFlight") && !page.contains("<waits>") && page.contains("for you</p>"))
    }

    @Test(arguments: [
        ("https://apps.example.com/<i>/install.html", true), ("apt install hello", false),
        ("javascript:alert(1)", false),
    ])
    func `an app is installed on this device by its link, and on another by its QR code`(
        install: String, isLink: Bool
    ) throws {
        var release = ReleaseRecord(
            repository: "alpha", version: ReleaseVersion(version: "1.2.0", buildNumber: 7, tag: "v1.2.0"),
            commit: Sample.commit(6), tree: "", committedAt: Sample.start, workflow: "release", run: 3,
            madeAt: Sample.start, state: .published, notes: "", files: [])
        release.publications = [
            PublicationRecord(
                step: "store", destination: "in a folder", state: .released, install: install, updatedAt: Sample.start)
        ]
        let text = PageViews.publications(release).text
        #expect(text.contains("<a href=") == isLink)
        #expect(text.contains("<svg") == isLink)
        #expect(!text.contains("<i>"))
    }

    /// A release with a file, and where it is installed.
    private static func release(_ state: ReleaseRecord.State) -> ReleaseRecord {
        var release = ReleaseRecord(
            repository: "alpha", version: ReleaseVersion(version: "1.2.0", buildNumber: 7, tag: "v1.2.0"),
            commit: Sample.commit(6), tree: "", committedAt: Sample.start, workflow: "release", run: 1,
            madeAt: Sample.start, state: state, notes: "", files: [.init(name: "app.html", bytes: 3, sha256: "aa")])
        release.publications = ["apt install hello", "https://apps.example.com/install.html"].enumerated().map {
            PublicationRecord(
                step: "store \($0)", destination: "in a folder", state: .released, address: "https://example.com/\($0)",
                install: $1, updatedAt: Sample.start)
        }
        return release
    }

    @Test(arguments: [ReleaseRecord.State.published, .yanked])
    func `a version that was withdrawn says why, and is not offered`(state: ReleaseRecord.State) async throws {
        let box = try await Box()
        _ = try await box.index.addRelease(Self.release(.published))
        for publication in Self.release(state).publications {
            try await box.index.record(publication, of: "1.2.0", in: "alpha")
        }
        if state == .yanked {
            #expect(
                try await box.index.move(
                    "1.2.0", of: "alpha", from: [.published], to: .yanked, reason: "it <loses> data (ada)"))
        }
        let page = try await box.pages.get("/releases/alpha/1.2.0").text
        let isOffered = state == .published
        for text in ["apt install hello", "<svg", "<a href=\"https://", "/files/app.html\""] {
            #expect(page.contains(text) == isOffered, "\(text)")
        }
        let reason = page.range(of: "it &lt;loses")?.lowerBound
        #expect((reason == nil) == isOffered)
        if let reason { #expect(try reason < #require(page.range(of: "build 7")).lowerBound) }
        #expect(try await box.pages.get("/releases/alpha/1.2.0/files/app.html").status == (isOffered ? 404 : 409))
    }

    @Test func `a release that waits for a person names the command`() async throws {
        let box = try await Box()
        _ = try await box.index.addRelease(Self.release(.draft))
        box.state.withLock {
            $0.gate = ReleaseGate(
                run: 12, step: "ship it", isRejected: false, inWords: "<b>waits: pipectl approve 12 --step 'ship it'")
        }
        let page = try await box.pages.get("/releases/alpha/1.2.0").text
        #expect(
            page.contains("pipectl approve 12 --step ") && page.contains("href=\"/runs/12\"")
                && !page.contains("<b>waits"))
        #expect(try await box.pages.get("/releases").text.contains("<td>draft, waits for approval</td>"))
    }

    @Test func `files of releases and artifacts are saved as they are, and never shown`() async throws {
        let folder = try TemporaryFolder()
        let box = try await Box()
        try folder.write("app.html", "<script>one</script>".utf8)
        try folder.write("bb", "two".utf8)
        _ = try await box.index.addRelease(Self.release(.published))
        box.state.withLock {
            $0.folder = folder.path
            $0.change = {
                $0.artifacts = [ArtifactRecord(step: "pack", path: "dist/ä \".txt", bytes: 3, sha256: "bb")]
            }
        }
        let pages = box.pages
        let file = try await pages.get("/releases/alpha/1.2.0/files/app.html")
        #expect(try await file.streamed == "<script>one</script>")
        #expect(
            file.headers["content-disposition"] == "attachment; filename=\"app.html\"; filename*=UTF-8''app.html")
        let artifact = try await pages.get("/runs/1/artifacts/bb/%C3%A4%20%22.txt")
        #expect(try await artifact.streamed == "two")
        #expect(
            artifact.headers["content-disposition"]
                == "attachment; filename=\"___.txt\"; filename*=UTF-8''%C3%A4%20%22.txt")
        for response in [file, artifact] {
            #expect(response.headers["content-type"] == "application/octet-stream")
            #expect(response.headers["x-content-type-options"] == "nosniff")
            #expect(response.headers["content-security-policy"]?.contains("default-src 'none'") == true)
        }
        for path in [
            "/releases/alpha/1.2.0/files/other", "/releases/alpha/1.2.0/files/..%2fbb",
            "/releases/alpha/9/files/app.html",
            "/runs/1/artifacts/bb/other", "/runs/1/artifacts/..%2fbb/x", "/runs/9/artifacts/bb/x",
        ] { #expect(try await pages.get(path).status == 404, "\(path)") }
    }

    @Test func `the latest release has an address of its own`() async throws {
        let box = try await Box()
        #expect(try await box.pages.get("/releases/alpha/latest").status == 404)
        box.state.withLock { $0.releases = [Self.release(.published)] }
        let answer = try await box.pages.get("/releases/alpha/latest")
        #expect(answer.status == 303 && answer.headers["location"] == "/releases/alpha/1.2.0")
        #expect(try await box.pages.get("/api/v1/releases/alpha/latest").text.contains("\"version\":\"1.2.0\""))
    }

    @Test func `a push shows what its runs found that the target has not`() async throws {
        let box = try await Box()
        box.state.withLock {
            $0.runs[0].isArchived = true
            $0.change = { report in
                report.comparison = Comparison(against: 4, commit: Sample.commit(2), newlyFailing: ["Unit/<adds>"])
                report.findings = [
                    Finding(
                        rule: "swift-warning", severity: .warning, message: "never <read>", file: "A.swift", line: 3)
                ]
                report.steps[0].review = ReviewRecord(
                    head: Sample.commit(1), since: nil,
                    findings: [
                        ReviewFinding(
                            fingerprint: "00", severity: .warning, rule: "r", message: "a <race>", file: "B.swift",
                            line: 9, head: Sample.commit(1))
                    ])
            }
        }
        let page = try await box.pages.get("/repositories/alpha/changes/7").text
        #expect(page.contains("1 test newly failing") && page.contains("href=\"/runs/4\""))
        #expect(page.contains("A.swift:3") && page.contains("B.swift:9"))
        for text in ["<adds>", "<read>", "<race>"] { #expect(!page.contains(text)) }
    }

    @Test func `the machine's page says what runs did not have to do`() async throws {
        let box = try await Box()
        box.state.withLock {
            $0.runs[0].isArchived = true
            $0.change = { report in
                report.base = Report.Base(run: 1, commit: Sample.commit(1), changedFiles: 2)
                report.steps = ["a", "b", "c", "d"].map {
                    StepRecord(name: $0, command: "true", attempts: [AttemptRecord(number: 1, startedAt: Sample.start)])
                }
                report.steps[0].attempts = []
                report.steps[0].provedBy = ProofCitation(run: 1, attempt: 1, step: "a")
            }
        }
        let page = try await box.pages.get("/machine").text
        #expect(page.contains("25 % of 4 steps") && page.contains("1 of the last 1 run"))
    }

    // MARK: Interfaces

    @Test(arguments: [
        "/api/v1/status", "/api/v1/runs", "/api/v1/runs?limit=5&verdict=failed", "/api/v1/runs/1",
        "/api/v1/runs/1/report",
        "/api/v1/queue", "/api/v1/repositories/alpha/changes", "/api/v1/tests/flaky", "/api/v1/tests/slowest",
        "/api/v1/tests/history?name=adds", "/api/v1/runs/1/bundle", "/api/v1/releases", "/api/v1/releases?limit=5",
        "/api/v1/tasks", "/api/v1/tasks?state=ready&limit=5", "/api/v1/tasks/1",
    ])
    func `answers are as the description says`(path: String) async throws {
        let answer = try await Box().pages.get(path)
        #expect(answer.status == 200 && answer.headers["content-type"] == "application/json")
        let value = try JSONSerialization.jsonObject(with: Data(answer.text.utf8))
        let description = try #require(
            JSONSerialization.jsonObject(with: Data(OpenAPI.document.utf8)) as? [String: Any])
        let problems = try Schema(description).problems(of: value, at: path)
        #expect(problems.isEmpty, "\(problems)")
    }

    @Test func `a test is asked for by its name, and by its suite`() async throws {
        let box = try await Box()
        _ = try await box.pages.get("/api/v1/tests/history?name=adds&suite=Unit")
        _ = try await box.pages.get("/api/v1/tests/history?name=adds")
        let asked = box.asked.withLock { $0.filter { $0.hasPrefix("testHistory") } }
        #expect(asked.count == 2)
        #expect(asked.first?.contains("\"Unit/adds\"") == true && asked.last?.contains("\"adds\"") == true)
    }

    @Test(arguments: [
        "/api/v1/runs?limit=0", "/api/v1/runs?limit=x", "/api/v1/runs?verdict=good", "/api/v1/runs?state=gone",
        "/api/v1/runs?before=x", "/api/v1/releases?limit=x", "/api/v1/tasks?state=gone", "/api/v1/tests/history",
    ])
    func `a wrong parameter is an error in JSON`(path: String) async throws {
        let answer = try await Box().pages.get(path)
        #expect(answer.status == 400 && answer.headers["content-type"] == "application/json")
        let body = try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: String]
        #expect(body?["error"] != nil)
    }

    @Test func `a raw log is text that no browser runs`() async throws {
        let box = try await Box()
        box.state.withLock { $0.log = "<html><script>alert(1)</script>" }
        let log = try await box.pages.get("/runs/1/steps/1/raw")
        #expect(log.headers["content-type"] == "text/plain; charset=utf-8")
        #expect(log.headers["x-content-type-options"] == "nosniff")
    }

    @Test func `badges, feeds, figures and health`() async throws {
        let box = try await Box()
        box.state.withLock { $0.runs[0].change = nil }
        let pages = box.pages
        let badge = try await pages.get("/badges/alpha/main.svg")
        #expect(badge.headers["content-type"] == "image/svg+xml" && badge.text.contains(">failed</text>"))
        #expect(try await pages.get("/feeds/runs.atom").text.contains("<id>http://localhost:8787/runs/1</id>"))
        for (name, state) in [("1.0+5", ReleaseRecord.State.published), ("1.1", .draft)] {
            let version = ReleaseVersion(version: name, buildNumber: 5, tag: "v\(name)")
            _ = try await box.index.addRelease(
                ReleaseRecord(
                    repository: "alpha", version: version, commit: Sample.commit(1), tree: "",
                    committedAt: Sample.start, workflow: "release", run: 1, madeAt: Sample.start, state: state,
                    notes: "<b>\n  two", files: []))
        }
        let releases = try await pages.get("/feeds/releases.atom").text
        #expect(releases.contains("<link href=\"http://localhost:8787/releases/alpha/1.0%2B5\"/>"))
        #expect(
            releases.contains("&lt;b&gt;\n  two<") && !releases.contains("/runs/") && !releases.contains("alpha/1.1"))
        #expect(try await pages.get("/releases/alpha/1.0%2B5").status == 200)
        #expect(try await pages.get("/metrics").text.contains("\npipectl_slots 2\n"))
        #expect(try await pages.get("/healthz").status == 200)
        #expect(try await pages.get("/readyz").status == 200)
    }
}

/// Checks a value against the part of JSON Schema that the description uses.
private struct Schema {
    let description: [String: Any]

    init(_ description: [String: Any]) { self.description = description }

    func problems(of value: Any, at path: String) throws -> [String] {
        let plain = "/" + path.split(separator: "?")[0].split(separator: "/").dropFirst(2).joined(separator: "/")
        let paths = try #require(description["paths"] as? [String: Any])
        let template = try #require(
            paths.keys.first { key in
                let (wanted, given) = (key.split(separator: "/"), plain.split(separator: "/"))
                return wanted.count == given.count && zip(wanted, given).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
            })
        var part: Any? = paths[template]
        for key in ["get", "responses", "200", "content", "application/json", "schema"] {
            part = (part as? [String: Any])?[key]
        }
        return problems(of: value, against: try #require(part as? [String: Any]), "$")
    }

    private func problems(of value: Any, against schema: [String: Any], _ place: String) -> [String] {
        if let reference = schema["$ref"] as? String {
            var part: Any? = description
            for key in reference.split(separator: "/").dropFirst() { part = (part as? [String: Any])?[String(key)] }
            return problems(of: value, against: part as? [String: Any] ?? [:], place)
        }
        var problems: [String] = []
        if let all = schema["enum"] as? [String], !all.contains(value as? String ?? "") {
            problems.append("\(place): \(value)")
        }
        switch schema["type"] as? String {
        case "array":
            guard let items = value as? [Any] else { return ["\(place) is no array"] }
            for item in items {
                problems += self.problems(of: item, against: schema["items"] as? [String: Any] ?? [:], "\(place)[]")
            }
        case "object":
            guard let object = value as? [String: Any] else { return ["\(place) is no object"] }
            for key in schema["required"] as? [String] ?? [] where object[key] == nil {
                problems.append("\(place).\(key) is missing")
            }
            for (key, part) in schema["properties"] as? [String: [String: Any]] ?? [:] {
                if let inner = object[key] { problems += self.problems(of: inner, against: part, "\(place).\(key)") }
            }
        case "string" where !(value is String): problems.append("\(place) is no text")
        case "integer" where !(value is Int): problems.append("\(place) is no integer")
        default: break
        }
        return problems
    }
}
