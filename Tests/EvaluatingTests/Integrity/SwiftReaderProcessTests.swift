import TestBasics
import WorkflowPrograms
import Engine
import Foundation
import TestIntegrity
import TestSupport
import Testing
@testable import Evaluating

/// Whatever becomes of the reader, each file has an answer, and none is "nothing is weaker".
@Suite(.timeLimit(.minutes(2))) struct SwiftReaderProcessTests {
    private static let good = SwiftSource(.tests, Array("import Testing\n@Test func a() { #expect(x == 1) }\n".utf8))

    @Test func `files are answered in their order`() async throws {
        let sources = [Self.good, SwiftSource(.tests, Array("let a = \"".utf8)), Self.good]
        let results = await SwiftReaderProcess(beside: nil, .none).read(sources, before: .now + .seconds(60))
        #expect(results.map { (try? $0.get())?.tests.map(\.name) } == [["a"], nil, ["a"]])
    }

    @Test func `the file that ends the reader is unreadable and those behind it are read`() async throws {
        let answer = String(decoding: SwiftReaderProtocol.line(.success(SwiftFileFacts())), as: UTF8.self)
        let results = try await results(of: 9, "cat >/dev/null; printf '%s' '\(answer)'; kill -SEGV $$")
        #expect(results.map { (try? $0.get()) != nil } == [true, false, true, false, true, false, true, false, false])
    }

    @Test(arguments: ["cat >/dev/null; echo garbage", "exit 0", "cat >/dev/null; echo '{\"facts\":{}}'"])
    func `an answer that can't be read is none`(_ script: String) async throws {
        #expect(try await results(of: 2, script).allSatisfy { (try? $0.get()) == nil })
    }

    @Test func `a reader that does not end is ended`() async throws {
        let start = ContinuousClock.now
        let results = try await results(of: 2, "sleep 1000", within: .milliseconds(500))
        #expect(results.count == 2 && results.allSatisfy { (try? $0.get()) == nil })
        #expect(ContinuousClock.now - start < .seconds(30))
    }

    @Test func `without the program nothing is read`() async {
        let results = await SwiftReaderProcess(beside: "/nowhere/bin/pipectl", .none).read(
            [Self.good], before: .now + .seconds(60))
        #expect(results.count == 1 && results.allSatisfy { (try? $0.get()) == nil })
    }

    /// What comes of files with a script in the reader's place.
    private func results(
        of count: Int, _ script: String, within time: Duration = .seconds(60)
    ) async throws -> [Result<SwiftFileFacts, UnreadableSource>] {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/swift-reader"
            try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
            return await SwiftReaderProcess(beside: "\(folder)/pipectl", .none).read(
                Array(repeating: Self.good, count: count), before: .now + time)
        }
    }
}
