import Testing

@testable import ForeignText

@Suite struct MultipartFormTests {
    private static let type = "multipart/form-data; boundary=----WebKitFormBoundaryx7"

    /// A body with these parts: the header's line, and the content.
    private static func body(_ parts: [(header: String, content: String)], end: String = "--\r\n") -> [UInt8] {
        let mark = "------WebKitFormBoundaryx7"
        return Array((parts.map { "\(mark)\r\n\($0.header)\r\n\r\n\($0.content)\r\n" }.joined() + mark + end).utf8)
    }

    private static func disposition(_ rest: String) -> String { "Content-Disposition: form-data; \(rest)" }

    @Test func `fields and files are as the browser has them`() throws {
        let form = try MultipartForm(
            Self.body([
                (Self.disposition("name=\"text\""), "two\r\nlines – é\r\n"),
                (
                    Self.disposition("name=\"crash\"; filename=\"a;b %22c%22.ips\"") + "\r\nContent-Type: text/plain",
                    "\0\r\n--x"
                ),
                (Self.disposition("filename=\"name=\"; name=\"files\""), ""),
                (Self.disposition("name=\"files\"; filename=\"\""), ""),
            ]), type: Self.type)
        #expect(form.parts.map(\.name) == ["text", "crash", "files", "files"])
        #expect(form.parts.map(\.file) == [nil, "a;b \"c\".ips", "name=", ""])
        #expect(form.parts[0].bytes == Array("two\r\nlines – é\r\n".utf8))
        #expect(form.parts[1].bytes == Array("\0\r\n--x".utf8))
    }

    @Test(arguments: ["../../etc/passwd", "C:\\\\Users\\\\ada\\\\passwd", "/etc/passwd", "passwd"])
    func `a file has no folder`(name: String) throws {
        let form = try MultipartForm(
            Self.body([(Self.disposition("name=\"f\"; filename=\"\(name)\""), "x")]), type: Self.type)
        #expect(form.parts.first?.file == "passwd")
    }

    @Test(arguments: [
        "", "--", "------WebKitFormBoundaryx7", "------WebKitFormBoundaryx7\r\n\r\n\r\n------WebKitFormBoundaryx7--",
        "x------WebKitFormBoundaryx7--", "------WebKitFormBoundaryx7\n", "------WebKitFormBoundaryx7\r\n",
    ])
    func `a body without its marks is refused`(text: String) {
        #expect(throws: MultipartForm.Problem.self) { try MultipartForm(Array(text.utf8), type: Self.type) }
    }

    @Test(arguments: [
        "", "name=\"\"", "name=\"a", "name=a", "name=\"a\"; name=\"b\"", "name=\"a\"; filename=\"..\"",
        "name=\"a\"; filename*=UTF-8''x", "name=\"\u{1}\"",
    ])
    func `a part without a good name is refused`(rest: String) {
        let body = Self.body([(Self.disposition(rest), "x")])
        #expect(throws: MultipartForm.Problem.self) { try MultipartForm(body, type: Self.type) }
    }

    @Test(arguments: [
        "multipart/form-data", "text/plain; boundary=x", "multipart/form-data; boundary=",
        "multipart/mixed; boundary=x",
        "multipart/form-data; boundary=\"a\r\nb\"",
        "multipart/form-data; boundary=" + String(repeating: "x", count: 71),
    ])
    func `another type is refused`(type: String) {
        #expect(throws: MultipartForm.Problem.self) { try MultipartForm(Self.body([]), type: type) }
    }

    @Test func `a form without a part, and one with too many`() throws {
        #expect(try MultipartForm(Self.body([]), type: Self.type).parts.isEmpty)
        let many = (0...MultipartForm.mostParts).map { (header: Self.disposition("name=\"f\($0)\""), content: "x") }
        #expect(
            try MultipartForm(Self.body(Array(many.dropLast())), type: Self.type).parts.count == MultipartForm.mostParts
        )
        #expect(throws: MultipartForm.Problem.self) { try MultipartForm(Self.body(many), type: Self.type) }
    }

    @Test func `a large part takes time that grows with its size`() throws {
        // Each of these bytes could begin the next mark.
        let content = String(repeating: "\r\n--", count: 1 << 18)
        let clock = ContinuousClock()
        let time = try clock.measure {
            let form = try MultipartForm(Self.body([(Self.disposition("name=\"f\""), content)]), type: Self.type)
            #expect(form.parts.first?.bytes.count == content.utf8.count)
        }
        #expect(time < .seconds(5))
    }
}
