import Foundation
import Sandbox

/// A program of the system that a publisher uses: `ssh`, `gpg`, `git`.
struct DeliveryTool: Sendable {
    let name: String
    var environment: [String: String] = [:]
    var deadline: Duration = .seconds(120)

    /// The variables of this process that tools need. No secret of the daemon's environment gets further.
    static var base: [String: String] {
        let taken = ["PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSH_AUTH_SOCK"]
        var found = ProcessInfo.processInfo.environment.filter { taken.contains($0.key) }
        found["LC_ALL"] = "C"
        return found
    }

    /// Runs it to its end.
    ///
    /// - Throws: ``DeliveryProblem`` with `.machine` where it can't be started, `.unreachable` after the deadline.
    func run(_ arguments: [String], input: [UInt8] = [], in folder: String? = nil) async throws -> (
        code: Int32, text: String
    ) {
        let (code, output) = try await bytes(arguments, input: input, in: folder)
        return (code, String(decoding: output, as: UTF8.self))
    }

    /// Runs it to its end; what it says is as it said it.
    func bytes(_ arguments: [String], input: [UInt8] = [], in folder: String? = nil) async throws -> (
        code: Int32, output: [UInt8]
    ) {
        var command = ExternalCommand(
            name, arguments, in: folder, environment: Self.base.merging(environment) { $1 }, deadline: deadline,
            outputLimit: 8 << 20)
        command.input = input
        let result: ExternalCommandResult
        do { result = try await command.run() } catch let error as ExternalCommandError {
            throw DeliveryProblem(.machine, "\(name) can't be started: \(error.cause); install it")
        }
        switch result.ending {
        case .exited(let code): return (code, result.output)
        case .signal(let signal): throw DeliveryProblem(.machine, "\(name) was ended by signal \(signal)")
        case .deadline(let time):
            throw DeliveryProblem(.unreachable, "\(name) took longer than \(time.components.seconds) s and was ended")
        }
    }

    /// Runs it; another exit code than 0 is an error with the last line of what it said.
    func output(
        _ arguments: [String], input: [UInt8] = [], in folder: String? = nil,
        failing code: DeliveryProblem.Code = .machine
    )
        async throws -> String
    {
        let (status, text) = try await run(arguments, input: input, in: folder)
        guard status == 0 else {
            throw DeliveryProblem(code, "\(name) failed with code \(status): \(Self.lastLine(text))")
        }
        return text
    }

    /// The last line with something in it.
    static func lastLine(_ text: String) -> String {
        PublishedName.shown(
            String(
                text.split(whereSeparator: \.isNewline).last { $0.contains { !$0.isWhitespace } } ?? "it said nothing"))
    }
}
