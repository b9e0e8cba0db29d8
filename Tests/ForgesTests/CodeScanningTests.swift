@testable import ForgeConnection
import TestForge
import AsyncHTTPClient
import Diagnostics
import Foundation
import Logging
import Pipeline
import Results
import Store
import Testing

@testable import Forges

@Suite struct CodeScanningTests {
    @Test func `only the files of a step's last attempt are sent`() {
        let names = [
            "001-1-1-code-scanning.sarif", "001-2-2-code-scanning.sarif", "001-2-1-code-scanning.sarif",
            "002-1-1-findings.sarif", "010-1-1-code-scanning.sarif", "x-1-1-code-scanning.sarif", "code-scanning.sarif",
            "1-1-code-scanning.sarif", "", "-code-scanning.sarif",
        ]
        #expect(
            CodeScanningFile.latest(names).map(\.name) == [
                "001-2-1-code-scanning.sarif", "001-2-2-code-scanning.sarif", "010-1-1-code-scanning.sarif",
            ])
    }

    @Test(arguments: [0, 1, 100_000, 3 << 20])
    func `compressed bytes are gzip`(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 / 64) }
        let compressed = try Gzip.compress(bytes)
        // RFC 1952: magic, method 8; at the end the length, the lowest byte first.
        #expect(compressed.prefix(3) == [0x1F, 0x8B, 8])
        let length = compressed.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        #expect(length == count)
        if count >= 100_000 { #expect(compressed.count < count / 10) }
    }

    private func scans(_ change: String?, _ ref: String) -> [String] {
        var summary = RunSummary(
            id: 3, repository: "r", workflow: "test", event: .push, ref: ref, branch: "main",
            head: String(repeating: "1", count: 40), state: .ended, verdict: .passed, createdAt: Date())
        summary.change = change
        var facts = ForgeRunFacts(summary: summary)
        facts.resultFiles = ["001-1-1-code-scanning.sarif"]
        return ScanRenderer.scans(facts).map(\.ref)
    }

    @Test func `results are about the change or the branch`() {
        #expect(scans("7", "refs/pull/7/head") == ["refs/pull/7/head"])
        #expect(scans(nil, "refs/heads/main") == ["refs/heads/main"])
        #expect(scans("feature", "refs/heads/feature") == [])
        #expect(scans(nil, "refs/notes/x") == [])
    }

    /// Delivers one file to GitHub, which answers the upload with `upload` and describes it as `processed`.
    private func delivery(_ kind: ForgeKind, upload: ForgeDouble.Answer, processed: String, content: [UInt8]?)
        async throws -> (refusal: String?, requests: [ForgeDouble.Asked])
    {
        let double = try await ForgeDouble { $0.method == "POST" ? upload : .json(200, processed) }
        let index = try Store.Index.inMemory()
        let address = try ForgeAddress("\(double.url)/octo/hello", kind: kind, api: kind == .github ? double.url : nil)
        try await index.connectForge("hello", address: address.json(), location: "/hello")
        let wanted = ForgeWanted.scan(
            ScanState(
                workflow: "test", run: 3, step: 1, number: 1, file: "f", commit: String(repeating: "1", count: 40),
                ref: "refs/heads/main"))
        try await index.wantForgeItems([(thing: wanted.thing, wanted: wanted.json())], of: "hello", run: nil, in: nil)
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: ForgeClient.configuration)
        var log = Logger(label: "test")
        log.logLevel = .critical
        do {
            let courier = ForgeCourier(
                repository: "hello", index: index,
                service: try ForgeSession(address, .token("token-123"), http: http).service, log: log,
                resultFile: { run, file in run == 3 && file == "f" ? content : nil })
            _ = try await courier.deliver()
        } catch {
            try? await http.shutdown()
            throw error
        }
        try await http.shutdown()
        try await double.close()
        return (try await index.refusedForgeItems(of: "hello").first?.refusal, double.requests)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a file is sent once, and what code scanning makes of it is told`() async throws {
        let taken = ForgeDouble.Answer.json(202, #"{"id": "u"}"#)
        let good = try await delivery(
            .github, upload: taken, processed: #"{"processing_status": "complete"}"#, content: [1])
        #expect(good.refusal == nil && good.requests.map(\.method) == ["POST", "GET"])
        #expect(good.requests.first?.json["ref"] == "refs/heads/main")
        let bad = try await delivery(
            .github, upload: taken, processed: #"{"processing_status": "failed", "errors": ["no runs"]}"#, content: [1])
        #expect(bad.refusal?.contains("no runs") == true)
        let gone = try await delivery(.github, upload: taken, processed: "{}", content: nil)
        #expect(gone.refusal != nil && gone.requests.isEmpty)
    }

    @Test(.timeLimit(.minutes(1)), arguments: [ForgeKind.gitlab, .gitea, .forgejo])
    func `a forge without code scanning is asked nothing`(kind: ForgeKind) async throws {
        let result = try await delivery(kind, upload: .json(500, "{}"), processed: "{}", content: [1])
        #expect(result.refusal == nil && result.requests.isEmpty)
    }
}
