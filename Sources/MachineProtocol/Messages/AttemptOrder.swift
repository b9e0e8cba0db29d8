package import Concurrency
package import Engine
import Pipeline
import Sandbox

/// An attempt, as it travels.
///
/// Secrets are in it, so nobody keeps one or prints it.
package struct AttemptOrder: Sendable, Codable {
    private var step: PlannedStep
    private var number: Int
    private var label: String
    private var environment: [String: String]
    private var secrets: [Secret]
    /// In seconds.
    private var grace: Double
    private var hasFolder: Bool
    private var tests: String?

    private struct Secret: Codable, Equatable {
        var variable: String
        var text: String?
        var file: String?
        var bytes: [UInt8]?
    }

    package init(_ attempt: StepAttempt) {
        step = attempt.step
        number = attempt.number
        label = attempt.label
        environment = attempt.environment
        secrets = attempt.secrets.map { secret in
            switch secret.content {
            case .text(let text): Secret(variable: secret.variable, text: text)
            case .file(let file): Secret(variable: secret.variable, file: file.name, bytes: file.bytes)
            }
        }
        grace = attempt.grace / .seconds(1)
        hasFolder = attempt.hasFolder
        tests = attempt.tests
    }

    /// - Throws: ``MachineProblem`` for a label or a secret that could name a file elsewhere.
    package func attempt() throws -> StepAttempt {
        guard Self.isName(label), tests.map(Self.isName) ?? true,
            secrets.allSatisfy({ $0.file.map(Self.isName) ?? true })
        else {
            throw MachineProblem.other("an attempt has a name that is no name of a file")
        }
        var attempt = StepAttempt(
            step: step, number: number, label: label, environment: environment,
            secrets: secrets.map { secret in
                guard let name = secret.file else {
                    return StepSecret(variable: secret.variable, content: .text(secret.text ?? ""))
                }
                return StepSecret(
                    variable: secret.variable, content: .file(SecretFile(name: name, bytes: secret.bytes ?? [])))
            }, grace: .seconds(min(max(grace, 0), 3_600)))
        attempt.hasFolder = hasFolder
        attempt.tests = tests
        return attempt
    }

    /// Whether the attempt is given what another one is given.
    package func hasSecrets(of other: AttemptOrder) -> Bool { secrets == other.secrets }

    /// Whether a text is the name of a file and nothing else.
    package static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 200 && !text.hasPrefix(".")
            && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
    }
}

extension AttemptOrder: CustomStringConvertible, CustomReflectable {
    package var description: String { "attempt \(number) of \(step.name)" }
    package var customMirror: Mirror { Mirror(self, children: ["label": label]) }
}

/// A step is asked to end.
package struct StopOrder: Sendable, Codable {
    package var kind: String
    package var reason: String

    package init(_ request: StopRequest) { (kind, reason) = (request.kind.rawValue, request.reason) }

    package var request: StopRequest { StopRequest(StopRequest.Kind(rawValue: kind) ?? .cancelled, reason: reason) }
}

/// How an attempt ended, as it travels.
package struct AttemptReport: Sendable, Codable {
    private var exitCode: Int32?
    private var signal: Int32?
    private var stopped: StopOrder?
    private var wasKilled: Bool
    private var limit: String?
    private var survivedLimit: String?
    private var limits: [UInt64]

    package init(_ end: AttemptEnd) {
        (exitCode, signal, wasKilled) = (end.process.exitCode, end.process.signal, end.process.wasKilled)
        stopped = end.process.stopped.map { StopOrder($0) }
        (limit, survivedLimit) = (end.limit, end.survivedLimit)
        let own = end.processLimits
        limits = [own.cpuTime, own.fileSize, own.data, own.processes, own.openFiles]
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        exitCode = try fields.decodeIfPresent(.exitCode, in: 0...255)
        signal = try fields.decodeIfPresent(.signal, in: 1...127)
        stopped = try fields.decodeIfPresent(StopOrder.self, forKey: .stopped)
        wasKilled = try fields.decode(Bool.self, forKey: .wasKilled)
        limit = try fields.decodeIfPresent(String.self, forKey: .limit)
        survivedLimit = try fields.decodeIfPresent(String.self, forKey: .survivedLimit)
        limits = try fields.decode([UInt64].self, forKey: .limits)
    }

    /// - Parameter asked: Why the daemon asked the step to end, if it did.
    package func end(asked: StopRequest?) -> AttemptEnd {
        var process = ProcessEnd(exitCode: exitCode, signal: signal, wasKilled: wasKilled)
        // The limit of time is watched there.
        if var request = stopped?.request {
            request.reason = Self.short(request.reason)
            process.stopped = request.kind == asked?.kind ? asked : request
        }
        let limits = limits.count == 5 ? limits : [0, 0, 0, 0, 0]
        return AttemptEnd(
            process: process, limit: limit.map(Self.short), survivedLimit: survivedLimit.map(Self.short),
            processLimits: ProcessLimits(
                cpuTime: limits[0], fileSize: limits[1], data: limits[2], processes: limits[3], openFiles: limits[4]))
    }

    private static func short(_ text: String) -> String { String(text.prefix(500)) }
}
