import Testing

@testable import Results
@testable import TestReports

/// What readers keep in memory while the end of a test has not come.
@Suite struct ReadingLimitsTests {
    private func read(_ lines: [String], as format: String, _ limits: TestResultLimits) -> TestResults {
        TestResultReader(limits: limits).read(
            Array(lines.joined(separator: "\n").utf8), named: "t", format: ResultFormat(rawValue: format))
    }

    @Test func `TAP keeps the first deep points and reports the limit once`() {
        let deep = (1...20).map { "    ok \($0) - t\($0)" }
        let results = read(deep + ["ok 1 - outer", "1..1"], as: "tap", TestResultLimits(tests: 5))
        #expect(results.tests.map(\.id) == (1...5).map { "outer/t\($0)" })
        #expect(results.findings.map(\.rule) == ["result-file"])
    }

    @Test func `TAP names and parents stay within the limit`() {
        let long = String(repeating: "n", count: 500)
        let lines = ["        ok 1 - \(long)a", "        ok 2 - \(long)b", "    ok 1 - \(long)", "ok 1 - \(long)"]
        let results = read(lines, as: "tap", TestResultLimits(nameBytes: 60))
        #expect(Set(results.tests.map(\.name)).count == 2)
        #expect(results.tests.allSatisfy { $0.name.utf8.count <= 60 && $0.suite.utf8.count <= 60 })
    }

    @Test func `Go tests of a failed package end and others continue`() {
        let lines = [
            #"{"Action":"run","Package":"p","Test":"A"}"#, #"{"Action":"run","Package":"q","Test":"B"}"#,
            #"{"Action":"run","Package":"p","Test":"C"}"#, #"{"Action":"fail","Package":"p"}"#,
            #"{"Action":"pass","Package":"q","Test":"B"}"#,
        ]
        let results = read(lines, as: "goTest", TestResultLimits())
        #expect(results.tests.map(\.id) == ["p/A", "p/C", "q/B"])
        #expect(results.tests.map(\.status) == [.errored, .errored, .passed])
    }

    /// A text that does not fit into a field takes no space from other tests.
    @Test func `Go failures keep their messages beside a test with much output`() {
        let text = String(repeating: "x", count: 199)
        let output = #"{"Action":"output","Package":"p","Test":"A","Output":"\#(text)\n"}"#
        let lines =
            Array(repeating: output, count: 50) + [
                #"{"Action":"output","Package":"p","Test":"B","Output":"    b_test.go:3: wrong\n"}"#,
                #"{"Action":"fail","Package":"p","Test":"B"}"#, #"{"Action":"pass","Package":"p","Test":"A"}"#,
            ]
        let results = read(lines, as: "goTest", TestResultLimits(fieldBytes: 300, totalBytes: 4_000))
        #expect(results["B"]?.message?.contains("wrong") == true)
    }

    @Test func `Dart failures keep their messages beside tests with much output`() {
        let text = String(repeating: "x", count: 200)
        func start(_ id: Int) -> String { #"{"type":"testStart","time":1,"test":{"id":\#(id),"name":"t\#(id)"}}"# }
        func end(_ id: Int, _ result: String) -> String {
            #"{"type":"testDone","testID":\#(id),"result":"\#(result)","time":2}"#
        }
        var lines: [String] = []
        for id in 1...5 {
            lines.append(start(id))
            lines += Array(repeating: #"{"type":"error","testID":\#(id),"error":"\#(text)"}"#, count: 10)
            lines.append(end(id, "success"))
        }
        lines += [start(6), start(7)]
        lines += Array(repeating: #"{"type":"print","testID":6,"message":"\#(text)","time":1}"#, count: 50)
        lines += [#"{"type":"error","testID":7,"error":"wrong","isFailure":true}"#, end(7, "failure")]
        let results = read(lines, as: "dart", TestResultLimits(fieldBytes: 300, totalBytes: 8_000))
        #expect(results["t7"]?.message?.contains("wrong") == true)
    }

    @Test func `Jest keeps the text of one file within the limit`() {
        let text = String(repeating: "m", count: 250)
        let test = #"{"title":"a","ancestorTitles":["S"],"status":"failed","failureMessages":["\#(text)"]}"#
        let tests = Array(repeating: test, count: 50).joined(separator: ",")
        let report = #"{"numTotalTests":50,"testResults":[{"assertionResults":[\#(tests)],"name":"/a.js"}]}"#
        let results = read([report], as: "jest", TestResultLimits(fieldBytes: 300, totalBytes: 4_000))
        #expect(results.tests.count == 50)
        #expect(results.tests.allSatisfy { $0.status == .failed && $0.file == "/a.js" })
        #expect(results.tests.first?.message?.isEmpty == false)
        #expect(results.findings.map(\.rule) == ["result-file"])
    }
}
