import TestBasics
import Results
import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Secrets from `pipectl secrets set` to the archive: which steps get them, and that they are stored nowhere else.
struct SecretsTests {
    /// Contains characters that every encoding writes in a different way.
    private static let value = "s3cr3t-\"v@lue\"/with=m0re&+ \\ end"

    private static let workflows = [
        "workflows/x.swift": """
        import Pipeline

        let deploy = Workflow("deploy", on: .push(to: "main")) {
            Step("print", run: "sh print.sh")
                .secrets("TOKEN", as: .environment)
            Step("results", run: "sh results.sh")
                .secrets("TOKEN", as: .environment).testResults(.junit("tests.xml"))
            Step("artifact", run: "mkdir dist; echo fine > dist/a; printf 'x%s' \\"$TOKEN\\" > dist/b")
                .secrets("TOKEN", as: .environment).artifacts("dist/*")
            Step("value", run: "printf '\\"%s\\"' hidden-$(printf %s \\"$TOKEN\\" | base64 -w0) > $PIPECTL_VALUES_OUT/v.json")
                .secrets("TOKEN", as: .environment).publishes(Value<String>("v"))
            Step("file", run: "test -z \\"${TOKEN+set}\\"; echo \\"at ${TOKEN_FILE:-no place}\\"; tr '\\\\0' '\\\\n' < /proc/self/environ; ps -ef || true")
                .secrets("TOKEN")
            Step("without", run: "test -z \\"${TOKEN+set}${TOKEN_FILE+set}\\"")
        }
        let test = Workflow("test", on: .pullRequest(into: "main")) {
            Step("peek", run: "echo \\"<${TOKEN-nothing}${TOKEN_FILE-}>\\"").secrets("TOKEN", as: .environment)
            Step("peek at the file", run: "echo \\"<${TOKEN_FILE-nothing}>\\"").secrets("TOKEN")
        }
        @main struct Workflows: WorkflowSet { static let workflows = [deploy, test] }

        """,
        "print.sh": """
        printf 'plain %s\\n' "$TOKEN"
        printf 's3cr3t-'; sleep 0.2; printf '"v@lue"/wi'; sleep 0.2; printf 'th=m0re&+ \\\\ end\\n'
        printf %s "$TOKEN" | base64
        printf 'user:%s' "$TOKEN" | base64 -w0; echo
        printf %s "$TOKEN" | od -An -v -tx1 | tr -d ' \\n'; echo
        printf %s "$TOKEN" | od -An -v -tx1 | tr -d ' \\n' | tr a-f A-F; echo
        printf %s "$TOKEN" | od -An -v -tx1 | tr -d '\\n' | tr ' ' %; echo
        printf '{"token":"%s"}\\n' "$(printf %s "$TOKEN" | sed 's,[\\\\"],\\\\&,g')"
        echo "$TOKEN" >&2
        set -x
        : "$TOKEN"
        echo done

        """,
        "results.sh": """
        escaped=$(printf %s "$TOKEN" | sed 's,&,\\&amp;,g; s,",\\&quot;,g')
        cat > tests.xml <<END
        <testsuite name="s"><testcase classname="c" name="$escaped">
        <failure message="$escaped">in words: <![CDATA[$TOKEN]]></failure></testcase></testsuite>
        END
        exit 1

        """,
    ]

    /// Texts that must not be anywhere: the value in the forms that the steps have made of it.
    private static var forms: [String] {
        let hex = value.utf8.map { String(format: "%02x", $0) }.joined()
        let json = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        let user = Data("user:\(value)".utf8).base64EncodedString()
        return [
            value, Data(value.utf8).base64EncodedString(), String(user.dropFirst(8).prefix(32)), hex, hex.uppercased(),
            value.utf8.map { String(format: "%%%02x", $0) }.joined(), json, json.replacing("/", with: "\\/"),
            value.replacing("&", with: "&amp;").replacing("\"", with: "&quot;"),
        ]
    }

    /// Every file below `folder` that contains a form, and every object of the archive that does.
    private func leaks(_ bench: Bench) async throws -> [String] {
        var found: [String] = []
        for case let name as String in FileManager.default.enumerator(atPath: bench.home) ?? .init() {
            guard !name.hasPrefix("secrets/"), let data = FileManager.default.contents(atPath: "\(bench.home)/\(name)")
            else { continue }
            for form in SecretsTests.forms where data.firstRange(of: Data(form.utf8)) != nil {
                found.append("\(name): \(form)")
            }
        }
        // Objects are compressed, so read them as text.
        let objects = try await bench.git(
            ["cat-file", "--batch-all-objects", "--batch"], in: "\(bench.home)/archive.git")
        #expect(objects.contains("[secret TOKEN]"), "the archive has the logs")
        for form in SecretsTests.forms where objects.contains(form) { found.append("archive.git: \(form)") }
        return found
    }

    private func set(_ bench: Bench, _ value: String, _ arguments: String...) async throws -> Ended {
        let file = "\(bench.root)/value"
        try Data(value.utf8).write(to: URL(fileURLWithPath: file))
        defer { try? FileManager.default.removeItem(atPath: file) }
        return try await bench.command(
            ["sh", "-c", "f=$1; shift; exec \"$@\" < \"$f\"", "sh", file, Bench.pipectl, "secrets", "set"] + arguments)
    }

    @Test(.timeLimit(.minutes(6)))
    func `a merged run gets its secrets and they are stored nowhere`() async throws {
        try await Bench.with(SecretsTests.workflows) { bench in
            #expect(try await set(bench, SecretsTests.value + "\n", "TOKEN").code == 0)
            #expect(try await bench.look().code == 0)
            try await bench.commit(["a.txt": "a\n"], "Land")
            let look = try await bench.look()
            #expect(look.code == 1, "\(look.errors)")
            #expect(!SecretsTests.forms.contains { (look.output + look.errors).contains($0) })

            let print = try await bench.pipectl("logs", "1", "print").output
            #expect(print.components(separatedBy: "[secret TOKEN]").count >= 11, "\(print)")
            #expect(print.hasPrefix("plain [secret TOKEN]\n[secret TOKEN]\n[secret TOKEN]\n"), "\(print)")
            #expect(print.contains("{\"token\":\"[secret TOKEN]\"}"), "\(print)")
            let file = try await bench.pipectl("logs", "1", "file").output
            #expect(file.contains("at /run/secrets/TOKEN\n"), "\(file)")

            let report = try await bench.report(1)
            func step(_ name: String) throws -> StepRecord { try #require(report.steps.first { $0.name == name }) }
            #expect(try step("print").status == .passed)
            #expect(try step("without").status == .passed)
            #expect(try step("artifact").reason == "artifact dist/b contains secret TOKEN and was not stored")
            #expect(report.artifacts.map(\.path) == ["dist/a"])
            #expect(try step("value").reason?.hasPrefix("what it published as \"v\" contains secret TOKEN") == true)
            let tests = try await bench.pipectl("report", "1", "--format", "junit").output
            #expect(tests.contains("[secret TOKEN]"), "\(tests)")
            for format in ["text", "markdown", "html", "json", "junit"] {
                let text = try await bench.pipectl("report", "1", "--format", format).output
                #expect(!SecretsTests.forms.contains { text.contains($0) }, "\(format)")
            }
            #expect(try await leaks(bench) == [])
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a change gets no secrets and its report says so once`() async throws {
        try await Bench.with(SecretsTests.workflows) { bench in
            #expect(try await set(bench, SecretsTests.value, "TOKEN").code == 0)
            #expect(try await bench.look().code == 0)
            try await bench.change(1, ["a.txt": "a\n"])
            #expect(try await bench.look().code == 0)
            #expect(try await bench.pipectl("logs", "1", "peek").output == "<nothing>\n")
            #expect(try await bench.pipectl("logs", "1", "peek at the file").output == "<nothing>\n")
            let report = try await bench.report(1)
            #expect(report.findings.map(\.rule) == ["secrets-withheld"])
            #expect(report.findings.first?.message.contains("\"peek\" (TOKEN), \"peek at the file\" (TOKEN)") == true)
            // A working tree is not merged code either.
            #expect(try await bench.pipectl("run", "test", "--minimum-free", "0").code == 0)
            #expect(try await bench.pipectl("logs", "2", "peek").output == "<nothing>\n")
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a secret that is not set is an infrastructure failure`() async throws {
        let step = "Step(\"deploy\", run: \"echo deployed\").secrets(\"TOKEN\")"
        try await Bench.with(["workflows/x.swift": Workflows.source(step)]) { bench in
            let run = try await bench.pipectl("run", "test", "--ref", "main", "--minimum-free", "0")
            #expect(run.code == 3)
            #expect(run.errors.contains("secret TOKEN is not set: `pipectl secrets set TOKEN`"), "\(run.errors)")
            let plan = try await bench.pipectl("plan", "test")
            #expect(plan.output.contains("secret TOKEN"), "\(plan.output)")
            #expect(try await set(bench, "a long value", "TOKEN", "--repository", "other").code == 0)
            #expect(try await bench.pipectl("run", "test", "--ref", "main", "--minimum-free", "0").code == 3)
        }
    }

    #if os(Linux)
        @Test(.timeLimit(.minutes(5)))
        func `a typed secret is stored and not shown`() async throws {
            try await Bench.with { bench in
                // A line feed ends the value; the pasted text after it is discarded.
                let words = [Bench.pipectl, "secrets", "set", "TOKEN", "--state", bench.home]
                let (shown, code) = try await typed("typXed\u{7f}\u{7f}\u{7f}ed valuee\u{7f}\nmore\n", into: words)
                #expect(code == 0)
                #expect(shown == "Value of TOKEN: \r\nset TOKEN\r\n", "\(shown.debugDescription)")
                #expect(FileManager.default.contents(atPath: "\(bench.home)/secrets/TOKEN") == Data("typed value".utf8))
                let cancelled = try await typed("another\u{3}", into: words)
                #expect(cancelled.code == 130)
                #expect(FileManager.default.contents(atPath: "\(bench.home)/secrets/TOKEN") == Data("typed value".utf8))
            }
        }

        /// Runs a command at a terminal of its own, types when it prompts, and returns what the terminal showed.
        private func typed(_ text: String, into command: [String]) async throws -> (shown: String, code: Int32) {
            // posix_openpt and related functions are not in Swift's Glibc; these are the calls that they make
            // (ioctl_tty(2)).
            let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
            var lock: Int32 = 0
            var number: Int32 = 0
            guard terminal >= 0, ioctl(terminal, 0x4004_5431, &lock) == 0, ioctl(terminal, 0x8004_5430, &number) == 0
            else { throw Bench.Failure(description: "no terminal: \(errno)") }
            let child = try Child(command, in: "/", terminal: "/dev/pts/\(number)")
            let shown = await withCheckedContinuation { continuation in
                let thread = Thread {
                    // Whatever goes wrong, the process ends, and with it the reading.
                    DispatchQueue.global().asyncAfter(deadline: .now() + 120) { child.kill() }
                    var shown: [UInt8] = []
                    var piece = [UInt8](repeating: 0, count: 4_096)
                    var isTyped = false
                    while true {
                        let count = read(terminal, &piece, piece.count)
                        // EIO: no process has the other end open.
                        guard count > 0 else { break }
                        shown += piece[..<count]
                        if !isTyped, shown.last == UInt8(ascii: " ") {
                            isTyped = true
                            _ = Array(text.utf8).withUnsafeBytes { write(terminal, $0.baseAddress, $0.count) }
                        }
                    }
                    close(terminal)
                    continuation.resume(returning: String(decoding: shown, as: UTF8.self))
                }
                thread.start()
            }
            return (shown, await child.end)
        }
    #endif

    @Test(.timeLimit(.minutes(6)))
    func `secrets are set, listed and removed and never shown`() async throws {
        try await Bench.with { bench in
            #expect(try await set(bench, "12345\n", "TOKEN").code == 2)
            #expect(try await set(bench, "a long value", "no-name").code == 2)
            #expect(try await bench.pipectl("secrets", "set", "TOKEN", "a long value").code == 2, "never from argv")
            let done = try await set(bench, "a long value", "TOKEN")
            #expect(done.code == 0 && done.output.isEmpty && done.errors == "set TOKEN\n")
            #expect(try await set(bench, "another value", "TOKEN", "--repository", "site").code == 0)
            let list = try await bench.pipectl("secrets", "list")
            #expect(list.output.contains("TOKEN  repository site  set 20"), "\(list.output)")
            #expect(list.output.contains("TOKEN  all repositories  set 20"), "\(list.output)")
            let json = try await bench.pipectl("secrets", "list", "--json")
            #expect(!(list.output + json.output).contains("value"))
            #expect(json.output.contains("\"source\" : \"folder\""))
            #expect(chmod("\(bench.home)/secrets/TOKEN", 0o644) == 0)
            let open = try await bench.pipectl("secrets", "list")
            #expect(open.code == 3 && open.output.contains("Others can read or write"), "\(open)")
            #expect(try await bench.pipectl("secrets", "remove", "TOKEN").code == 0)
            let again = try await bench.pipectl("secrets", "remove", "TOKEN")
            #expect(again.code == 2 && again.errors.contains("add --repository site"), "\(again.errors)")
        }
    }
}
