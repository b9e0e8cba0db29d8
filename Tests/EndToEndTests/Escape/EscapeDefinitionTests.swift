#if os(Linux)
    import TestBasics
    import Foundation
    import TestSupport
    import Testing

    /// A definition is code as well: it is compiled, and runs when it is planned.
    struct EscapeDefinitionTests {
        /// Each attempt adds a step whose name says how the attempt ended.
        private static let hostile = """
            import Glibc
            import Pipeline

            func attempt(_ name: String, _ body: () -> Bool) -> Step {
                Step("\\(name) \\(body() ? "ESCAPED" : "refused")", run: "true")
            }
            func reads(_ path: String) -> Bool { open(path, O_RDONLY) >= 0 }
            func writes(_ path: String) -> Bool { open(path, O_WRONLY | O_CREAT, 0o644) >= 0 }
            func connects(_ port: UInt16) -> Bool {
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_port = port.bigEndian
                address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
                let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                return withUnsafePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        connect(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                    }
                }
            }
            func starts(_ words: [String]) -> Bool {
                var id = pid_t()
                var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
                arguments.append(nil)
                guard posix_spawn(&id, words[0], nil, nil, arguments, nil) == 0 else { return false }
                var status: Int32 = 0
                return waitpid(id, &status, 0) == id && status == 0
            }
            // Lets them all end: the answer itself may need a thread, and would wait for one.
            func mostThreads() -> Int {
                var gate: [Int32] = [0, 0]
                guard pipe(&gate) == 0 else { return 0 }
                var threads: [pthread_t] = []
                while threads.count < 20_000 {
                    var thread = pthread_t()
                    let wait: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
                        var byte: UInt8 = 0
                        _ = read(Int32(Int(bitPattern: $0)), &byte, 1)
                        return nil
                    }
                    guard pthread_create(&thread, nil, wait, UnsafeMutableRawPointer(bitPattern: Int(gate[0]))) == 0
                    else { break }
                    threads.append(thread)
                }
                close(gate[1])
                for thread in threads { pthread_join(thread, nil) }
                return threads.count
            }

            let test = Workflow("test", on: .pullRequest(into: "main")) {
                attempt("control") { !reads("/usr/bin/env") }
                attempt("shadow") { reads("/etc/shadow") }
                attempt("secret") { reads("@ROOT@/outside/secret.txt") }
                attempt("index") { reads("@STATE@/index.sqlite") }
                attempt("token") { reads("@STATE@/secrets/token") }
                attempt("repository") { reads("@REPO@/.git/config") }
                attempt("home") { opendir("@USERHOME@") != nil }
                attempt("environment") { getenv("PIPECTL_HOME") != nil || getenv("ESCAPE_TEST_SECRET") != nil }
                attempt("outside") { writes("@ROOT@/outside/@MARK@") }
                attempt("repository-write") { writes("@REPO@/.git/@MARK@") }
                attempt("system") { writes("/usr/@MARK@") || writes("/etc/@MARK@") || writes("/@MARK@") }
                attempt("library") { writes("@PRODUCTS@/@MARK@") }
                attempt("toolchain") { writes("@TOOLCHAIN@/@MARK@") }
                attempt("loopback") { connects(@PORT@) }
                attempt("process") { kill(@VICTIM@, SIGKILL) == 0 }
                attempt("rights") { geteuid() == 0 || setuid(0) == 0 }
                attempt("left-behind") { !starts(["/bin/sh", "-c", "setsid sleep @PORT@000 & exit 0"]) }
                Step("threads \\(mostThreads())", run: "true")
            }
            @main struct Workflows: WorkflowSet { static let workflows = [test] }

            """

        @Test(.outsideOfSteps, .timeLimit(.minutes(6)))
        func `a definition is planned in a sandbox`() async throws {
            try await EscapeRoom.with(steps: "Step(\"check\", run: \"true\")") { room in
                let source = room.filled(Self.hostile).replacing("@PRODUCTS@", with: Products.folder)
                try room.bench.write(["workflows/x.swift": source])
                let plan = try await room.bench.pipectl("plan", "test")
                #expect(plan.code == 0, "\(plan.output)\(plan.errors)")
                #expect(!plan.output.contains("ESCAPED"), "\(plan.output)")
                let attempts = Self.hostile.split(separator: "\n").filter { $0.contains("attempt(\"") }
                #expect(plan.output.components(separatedBy: " refused").count - 1 >= attempts.count, "\(plan.output)")
                let threads = plan.output.firstMatch(of: /threads ([0-9]+)/).flatMap { Int($0.1) }
                #expect((1..<20_000).contains(try #require(threads)), "\(plan.output)")
                #expect(try await room.traces().isEmpty)
                #expect(room.victimSleeps)
                #expect(room.heard.isEmpty)
                let left = try await room.bench.command(["pgrep", "-fx", "sleep \(room.words["PORT"] ?? "")000"])
                #expect(left.code == 1, "\(left.output)")
            }
        }

        /// Also if the daemon dies meanwhile: no untrusted process outlives the command that started it.
        @Test(.timeLimit(.minutes(6)))
        func `a definition that hangs ends with the daemon`() async throws {
            let number = Int.random(in: 1_000_000...9_999_999)
            let source = """
                import Glibc
                import Pipeline

                func hang() -> String {
                    var id = pid_t()
                    var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sleep"), strdup("\(number)"), nil]
                    posix_spawn(&id, "/bin/sleep", nil, nil, &arguments, nil)
                    while true { pause() }
                }
                let test = Workflow("test", on: .pullRequest(into: "main")) { Step(hang(), run: "true") }
                @main struct Workflows: WorkflowSet { static let workflows = [test] }

                """
            try await EscapeRoom.with(steps: "Step(\"check\", run: \"true\")") { room in
                let bench = room.bench
                try bench.write(["workflows/x.swift": source])
                var environment = ProcessInfo.processInfo.environment
                environment["PIPECTL_HOME"] = bench.home
                let plan = try Child(
                    [Bench.pipectl, "plan", "test"], in: bench.repository, environment: environment,
                    output: "\(bench.root)/plan")
                defer { plan.kill() }
                func wait(_ condition: String) async throws -> Int32 {
                    try await bench.command([
                        "sh", "-c",
                        "i=0; while [ $i -lt 400 ]; do if \(condition); then exit 0; fi; i=$((i + 1)); sleep 0.1; done; exit 1",
                    ]).code
                }
                let isThere = "pgrep -fx 'sleep \(number)' > /dev/null"
                try #require(try await wait(isThere) == 0, "\(EscapeRoom.text("\(bench.root)/plan2"))")
                plan.kill()
                #expect(try await wait("! \(isThere)") == 0, "the definition's process has outlived the box")
            }
        }

        @Test(.timeLimit(.minutes(6)))
        func `links among the sources are not followed`() async throws {
            try await EscapeRoom.with(steps: "Step(\"check\", run: \"true\")") { room in
                let link = "\(room.bench.repository)/workflows/stolen.swift"
                try FileManager.default.createSymbolicLink(
                    atPath: link, withDestinationPath: "\(room.outside)/secret.txt")
                let run = try await room.bench.pipectl("run", "test")
                #expect(!(run.output + run.errors).contains(room.canary), "\(run.errors)")
                let report = try await room.bench.pipectl("report", "1")
                #expect(!(report.output + report.errors).contains(room.canary), "\(report.output)")
            }
        }
    }
#endif
