#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What a closure step can see and do. It has a process of its own in the workspace.
public struct StepContext: Sendable {
    /// What is known about the run.
    public let context: PlanContext
    /// The workspace's absolute path.
    public let workspace: String
    /// The attempt's number; 1 is the first.
    public let attempt: Int

    let step: PlannedStep
    let valuesIn: String
    let valuesOut: String

    /// The variables of the step's process: its own, its secrets, and those of ``StepVariable``.
    public var environment: [String: String] { ProcessInfo.processInfo.environment }

    /// Writes a line to the step's log.
    public func log(_ line: String) {
        print(line)
        fflush(nil)
    }

    /// Reports a finding about a file, or about the change as a whole. The report shows it beside the tests.
    ///
    /// It does not fail the step: throw a ``StepFailure`` for that.
    /// - Parameters:
    ///   - severity: How much it matters.
    ///   - message: What is wrong, with the value.
    ///   - rule: What kind of finding it is. Filters use it, and it helps to recognise the finding at another commit.
    ///   - file: Relative to the workspace.
    ///   - line: The line in `file`, from 1.
    ///   - column: The column in `line`, from 1.
    ///   - suggestion: What to do about it.
    /// - Throws: ``StepFailure`` when the finding can't be written.
    public func report(
        _ severity: FindingSeverity = .warning, _ message: String, rule: String, file: String? = nil, line: Int? = nil,
        column: Int? = nil, suggestion: String? = nil
    ) throws {
        let finding = ReportedFinding(
            rule: rule, severity: severity.rawValue, message: message, file: file, line: line, column: column,
            suggestion: suggestion)
        let bytes = try Array(JSONEncoder().encode(finding)) + [UInt8(ascii: "\n")]
        let descriptor = open("\(valuesOut)/\(ReportedFinding.file)", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw StepFailure("the finding can't be reported: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        // A single write per finding, so that findings of parallel tasks do not mix within a line.
        guard bytes.withUnsafeBytes({ write(descriptor, $0.baseAddress, $0.count) }) == bytes.count else {
            throw StepFailure("the finding can't be reported: \(String(cString: strerror(errno)))")
        }
    }

    /// The size of a file below the workspace, in bytes.
    ///
    /// - Throws: ``StepFailure`` when the file can't be read.
    public func size(of path: String) throws -> Int {
        var info = stat()
        guard stat(absolute(path), &info) == 0 else {
            throw StepFailure("\(path) can't be read: \(String(cString: strerror(errno)))")
        }
        return Int(info.st_size)
    }

    /// The text of a file below the workspace. Throws when it can't be read or is not UTF-8.
    public func text(of path: String) throws -> String { try String(contentsOfFile: absolute(path), encoding: .utf8) }

    /// The value of a secret that the step declares, without line feeds at its end. Don't log it.
    ///
    /// - Throws: ``StepFailure`` when the step does not declare it, or when the run has no secrets: runs of changes
    ///   have none.
    public func secret(_ name: String) throws -> String {
        guard let use = step.secrets.first(where: { $0.name == name }) else {
            throw StepFailure(
                "step \"\(step.name)\" uses the secret \(name) without declaring it; add .secrets(\"\(name)\")")
        }
        guard let given = environment[use.variable] else {
            throw StepFailure("this run does not get the secret \(name); runs of changes get no secrets")
        }
        var value = use.delivery == .file ? try String(contentsOfFile: given, encoding: .utf8) : given
        while let last = value.unicodeScalars.last, last == "\n" || last == "\r" { value.unicodeScalars.removeLast() }
        return value
    }

    /// The value of a parameter of the workflow.
    public subscript<Value>(parameter: Parameter<Value>) -> Value { context[parameter] }

    /// Publishes `content` for the steps that need this one.
    ///
    /// - Throws: ``StepFailure`` unless the step declares it with `.publishes(value)`.
    public func publish<Content>(_ content: Content, as value: Value<Content>) throws {
        guard step.publishes.contains(value.name) else {
            throw StepFailure(
                "step \"\(step.name)\" publishes \"\(value.name)\" without declaring it; add .publishes(…)")
        }
        let data = try JSONEncoder().encode(content)
        try data.write(to: URL(fileURLWithPath: "\(valuesOut)/\(value.name).json"), options: .atomic)
    }

    /// The value that a needed step published.
    ///
    /// - Throws: ``StepFailure`` unless the step declares it with `.reads(value)`.
    public func value<Content>(of value: Value<Content>) throws -> Content {
        guard step.reads.contains(value.name) else {
            throw StepFailure("step \"\(step.name)\" reads \"\(value.name)\" without declaring it; add .reads(…)")
        }
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(valuesIn)/\(value.name).json"))
        return try JSONDecoder().decode(Content.self, from: data)
    }

    /// Runs a line with `/bin/sh -e` in the workspace. Its output goes to the step's log.
    ///
    /// - Throws: ``StepFailure`` when it ends with an exit code other than 0.
    public func run(_ line: String) throws { try run(["/bin/sh", "-ec", line], shown: line) }

    /// Runs a program without a shell. Its output goes to the step's log.
    ///
    /// - Throws: ``StepFailure`` when it can't be started or ends with an exit code other than 0.
    public func run(_ arguments: [String]) throws {
        try run(arguments, shown: arguments.map(\.shellQuoted).joined(separator: " "))
    }

    /// What a line prints on standard output, at most 16 MiB. Standard error goes to the step's log.
    ///
    /// - Throws: ``StepFailure`` when it prints more or ends with an exit code other than 0.
    public func output(of line: String) throws -> String {
        let file = "\(valuesOut)/.output-\(UInt64.random(in: .min ... .max))"
        defer { unlink(file) }
        try run(["/bin/sh", "-ec", "( \(line)\n) > \"$0\"", file], shown: line)
        guard try size(of: file) <= 16 << 20 else { throw StepFailure("`\(line)` printed more than 16 MiB") }
        return try String(contentsOfFile: file, encoding: .utf8)
    }

    private func absolute(_ path: String) -> String { path.hasPrefix("/") ? path : "\(workspace)/\(path)" }

    private func run(_ arguments: [String], shown: String) throws {
        fflush(nil)
        var pid: pid_t = 0
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        guard let program = words.first ?? nil else { throw StepFailure("the command is empty") }
        let code = posix_spawnp(&pid, program, nil, nil, &words, environ)
        guard code == 0 else { throw StepFailure("`\(shown)` can't be started: \(String(cString: strerror(code)))") }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        // The macros of wait(2) that Swift can't import: the low 7 bits are the signal, the next 8 the exit code.
        let signal = status & 0x7f
        guard status != 0 else { return }
        throw StepFailure(
            signal == 0
                ? "`\(shown)` ended with exit code \((status >> 8) & 0xff)" : "`\(shown)` was ended by signal \(signal)"
        )
    }
}
