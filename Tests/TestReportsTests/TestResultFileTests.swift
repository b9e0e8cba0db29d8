import TestBasics
@testable import Results
import TestReports
import Foundation
import Testing

@Suite struct TestResultFileTests {
    private let room: TemporaryFolder
    private var folder: URL { URL(fileURLWithPath: room.path) }

    init() throws {
        room = try TemporaryFolder()
    }

    private func code(_ path: String) -> TestResultFileError.Code? {
        do {
            _ = try TestResultReader().read(file: path, named: "t.xml")
            return nil
        } catch { return (error as? TestResultFileError)?.code }
    }

    @Test(.timeLimit(.minutes(1))) func `only regular files are read`() throws {
        let file = folder.appending(path: "a.xml").path
        try Data("<testcase name='a'/>".utf8).write(to: URL(filePath: file))
        #expect(try TestResultReader().read(file: file, named: "t.xml").tests.count == 1)
        let link = folder.appending(path: "link.xml").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
        #expect(code(link) == .notRegular)
        #expect(code(folder.path) == .notRegular)
        #expect(code("/dev/zero") == .notRegular)
        #expect(code(folder.appending(path: "none").path) == .missing)
        // A pipe without a writer would wait for ever.
        let pipe = folder.appending(path: "pipe").path
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(code(pipe) == .notRegular)
    }

    @Test func `a file gives the same results as its bytes`() throws {
        for name in try Fixture.names {
            let path = Fixture.folder.appending(path: name).path
            #expect(try TestResultReader().read(file: path, named: name) == Fixture.results(name))
        }
    }

    @Test func `chunks may end anywhere`() throws {
        // Several pieces of 256 KiB, with a multi-byte character, a tag and a CDATA end across their borders.
        var text = "<testsuite name='S'>"
        for number in 0..<9000 {
            text +=
                "<testcase name='größe→\(number)'><failure message='m'><![CDATA[\(String(repeating: "]", count: number % 7)) €]]></failure></testcase>"
        }
        text += "</testsuite>"
        for encoding in [String.Encoding.utf8, .utf16LittleEndian] {
            let path = folder.appending(path: "big-\(encoding.rawValue).xml").path
            let data = try #require(text.data(using: encoding))
            try data.write(to: URL(filePath: path))
            let results = try TestResultReader().read(file: path, named: "big.xml")
            #expect(results.tests.count == 9000 && results.findings.isEmpty)
            #expect(results.tests.allSatisfy { $0.name.hasPrefix("größe→") && $0.details?.hasSuffix("€") == true })
        }
    }
}
