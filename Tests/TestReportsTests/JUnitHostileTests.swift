import TestBasics
@testable import Results
import TestReports
import Foundation
import Testing

@Suite struct JUnitHostileTests {
    private static let report = "<testsuite name=\"S\"><testcase name=\"größe €\"/></testsuite>"

    private static func utf16(_ text: String, bigEndian: Bool) -> [UInt8] {
        text.utf16.flatMap { unit -> [UInt8] in
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
            return bigEndian ? [high, low] : [low, high]
        }
    }

    private static let encodings: [(String, [UInt8])] = [
        ("UTF-8", Array(report.utf8)),
        ("UTF-8 with a mark", [0xEF, 0xBB, 0xBF] + Array(report.utf8)),
        ("UTF-16 LE", [0xFF, 0xFE] + utf16(report, bigEndian: false)),
        ("UTF-16 BE", [0xFE, 0xFF] + utf16(report, bigEndian: true)),
        ("UTF-16 LE, no mark", utf16("<?xml version='1.0' encoding='UTF-16'?>" + report, bigEndian: false)),
        (
            "windows-1252",
            Array("<?xml version='1.0' encoding='windows-1252'?><testsuite name='S'><testcase name='gr".utf8)
                + [0xF6, 0xDF] + Array("e ".utf8) + [0x80] + Array("'/></testsuite>".utf8)
        ),
        ("UTF-8 called UTF-16", Array(("<?xml version=\"1.0\" encoding=\"utf-16\"?>" + report).utf8)),
    ]

    @Test(arguments: encodings) func `encodings are read`(label: String, bytes: [UInt8]) {
        let results = TestResultReader().read(bytes, named: "t.xml")
        #expect(results.tests.map(\.id) == ["S/größe €"])
        #expect(results.findings.isEmpty)
    }

    @Test func `Latin-1 and unknown encodings are read`() {
        let latin =
            Array("<?xml version='1.0' encoding='ISO-8859-1'?><testcase name='".utf8) + [0xE9] + Array("'/>".utf8)
        #expect(TestResultReader().read(latin, named: "t.xml").tests.map(\.name) == ["é"])
        let unknown = TestResultReader().read(
            Array("<?xml version='1.0' encoding='EBCDIC'?><testcase name='a'/>".utf8), named: "t")
        #expect(unknown.tests.count == 1 && unknown.findings.map(\.severity) == [.warning])
    }

    @Test func `control characters and bare ampersands do not stop the reader`() {
        let results = junit(
            "<testsuite><testcase name='a\u{1}&amp;b'><failure message='x & y &nbsp; &#27;[31m &#0; &#xD800;'>\u{1B}[0m \u{0} ]]&gt;</failure></testcase></testsuite>"
        )
        #expect(results.tests.first?.name == "a\u{1}&b")
        #expect(
            results.tests.first?.message
                == "x & y &nbsp; \u{1B}[31m \u{0} \u{FFFD}".replacing("\u{0}", with: "\u{FFFD}"))
        #expect(results.tests.first?.details?.contains("\u{0}") == false)
        #expect(results.findings.isEmpty)
    }

    @Test func `character data keeps brackets`() {
        let results = junit("<testcase name='a'><failure><![CDATA[a]]]]><![CDATA[>b <c> ]] ]]]></failure></testcase>")
        #expect(results.tests.first?.details == "a]]>b <c> ]] ]")
    }

    @Test(arguments: [
        "<!DOCTYPE a [<!ENTITY x \"y\">]>", "<!DOCTYPE a [ <!-- > --> <!entity x SYSTEM 'file:///etc/passwd'>]>",
        "<!DOCTYPE a [<!ENTITY % p SYSTEM \"http://127.0.0.1:9/\"> %p;]>", "<!DOCTYPE a [%p;]>",
    ])
    func declaredEntitiesAreRefused(type: String) {
        let results = junit("<?xml version='1.0'?>\(type)<testsuite><testcase name='&x;'/></testsuite>")
        #expect(results.tests.isEmpty)
        #expect(results.findings.map(\.severity) == [.error])
    }

    @Test func `a document type without entities is skipped`() {
        let results = junit(
            "<!DOCTYPE testsuite SYSTEM \"junit>.dtd\" [<!ELEMENT a (b)>]><testsuite><testcase name='a'/></testsuite>")
        #expect(results.tests.count == 1 && results.findings.isEmpty)
    }

    @Test func `entities never read another file`() throws {
        let folder = try TemporaryFolder()
        let secret = URL(fileURLWithPath: try folder.write("secret", "TOPSECRET".utf8))
        let text = """
            <?xml version="1.0"?><!DOCTYPE t [<!ENTITY x SYSTEM "\(secret.absoluteString)">]>
            <testsuite><testcase name="a"><failure>&x;</failure></testcase></testsuite>
            """
        #expect(!String(describing: junit(text)).contains("TOPSECRET"))
    }

    @Test func `the billion laughs attack costs nothing`() {
        var text = "<!DOCTYPE a [<!ENTITY l0 \"lol\">"
        for level in 1...30 { text += "<!ENTITY l\(level) \"\(String(repeating: "&l\(level - 1);", count: 10))\">" }
        #expect(junit(text + "]><testcase name='&l30;'/>").findings.count == 1)
    }

    @Test func `a truncated file gives the results before its end`() throws {
        let whole = String(decoding: try Fixture.bytes("phpunit.xml"), as: UTF8.self)
        let fourth = try #require(whole.range(of: "<testcase name=\"testSkips\" cl"))
        let cut = Array(whole[..<fourth.upperBound].utf8)
        let results = TestResultReader().read(cut, named: "phpunit.xml")
        #expect(results.tests.map(\.name) == ["testPasses", "testFails", "testThrows"])
        let finding = try #require(results.findings.first)
        #expect(finding.rule == "result-file" && finding.file == "phpunit.xml" && finding.suggestion != nil)
        #expect(finding.line == cut.count { $0 == 10 } + 1)
    }

    @Test func `a test that is open at the break counts only if it had failed`() {
        #expect(junit("<testsuite><testcase name='a'>").tests.isEmpty)
        let failed = junit("<testsuite><testcase name='a'><failure message='m'>some")
        #expect(failed.tests.map(\.status) == [.failed])
        #expect(failed.findings.count == 1)
    }

    @Test(arguments: [
        "", "   ", "hello", "<html><body/></html>", "<", "<testsuite", "<testsuite a", "<testsuite a=b>", "<a></b>",
        "</a>",
        "<testsuite><![CDATA[", "<!--", "<?", "<!DOCTYPE", "{}", "\u{0}",
    ])
    func `a file that is not a report gives a finding`(text: String) {
        let results = TestResultReader().read(Array(text.utf8), named: "t.xml", format: .junit)
        #expect(results.tests.isEmpty)
        #expect(results.findings.contains { $0.severity == .error })
    }

    @Test func `limits are kept`() {
        let many = "<testsuite>" + String(repeating: "<testcase name='a'/>", count: 50) + "</testsuite>"
        let few = junit(many, limits: .init(tests: 10))
        #expect(few.tests.count == 10 && few.findings.count == 1)
        let deep =
            String(repeating: "<testsuite>", count: 100) + "<testcase name='a'/>"
            + String(repeating: "</testsuite>", count: 100)
        #expect(junit(deep).tests.isEmpty && junit(deep).findings.contains { $0.message.contains("nests") })
        #expect(junit(deep, limits: .init(depth: 101)).tests.count == 1)
        let long =
            "<testcase name='\(String(repeating: "ü", count: 9000))'><failure>\(String(repeating: "→", count: 90_000))</failure></testcase>"
        let test = junit(long).tests[0]
        #expect(test.name.utf8.count <= 4 << 10)
        #expect((test.details?.utf8.count ?? 0) <= 64 << 10)
        #expect(test.details?.hasSuffix("cut)") == true)
        let spent = junit(
            "<testsuite>"
                + (0..<9).map {
                    "<testcase name='\($0)'><failure>\(String(repeating: "x", count: 500))</failure></testcase>"
                }.joined()
                + "</testsuite>", limits: .init(totalBytes: 1200))
        #expect(spent.tests.count == 9 && spent.tests[8].details == nil && spent.tests[8].status == .failed)
    }

    @Test func `a file that is too long is cut`() {
        let results = TestResultReader(limits: .init(fileBytes: 40)).read(
            Array("<testcase name='a'/>".utf8) + [UInt8](repeating: 32, count: 100), named: "t.xml")
        #expect(results.tests.count == 1)
        #expect(results.findings.map(\.severity) == [.error])
    }
}
