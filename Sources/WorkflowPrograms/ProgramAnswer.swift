import Results
import Foundation
import Pipeline
import Sandbox

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// One question to a workflow program. The answer is untrusted: its size is limited, and it need not be JSON.
package struct ProgramAnswer {
    var executable: String
    var reads: [String]
    var programSandbox: ProgramSandbox
    var environment: [String: String]
    var limits: ProgramLimits

    func ask<Answer: Decodable>(
        _ request: ProgramRequest, _ options: [String] = [], context: PlanContext? = nil
    ) async throws -> Answer {
        let folder = try ScratchFolder(named: "pipectl-ask")
        defer { folder.remove() }
        let answer = "\(folder.path)/answer.json"
        var arguments = [executable, request.rawValue] + options
        if let context {
            let file = "\(folder.path)/context.json"
            try WorkflowProgram.contextData(context).write(to: URL(fileURLWithPath: file))
            arguments += ["--context", file]
        }
        arguments += ["--output", answer]
        let launch = ProgramLaunch(
            request == .plan ? .plan : .describe, arguments, in: folder.path, writes: [folder.path], reads: reads)
        let result = try await programSandbox.run(launch, environment: environment, deadline: limits.plan)
        switch result.ending {
        case .exited(0): break
        case .deadline(let limit):
            throw DefinitionError(
                .planTimedOut,
                "the workflow program had not answered after \(limit.inWords); planning must not block",
                output: result.text)
        case .exited(let code):
            throw DefinitionError(
                .planFailed,
                "the workflow program ended with exit code \(code) when it was asked to \(request.rawValue)",
                output: result.text)
        case .signal(let signal):
            throw DefinitionError(
                .planFailed,
                "the workflow program crashed (signal \(signal)) when it was asked to \(request.rawValue)",
                output: result.text)
        }
        let data = try read(answer, printed: result.text)
        do {
            return try JSONDecoder().decode(Answer.self, from: data)
        } catch {
            throw DefinitionError(
                .badAnswer, "the workflow program's answer can't be read: \(error)", output: result.text)
        }
    }

    /// Reads the answer, if it is a regular file of a limited size.
    private func read(_ path: String, printed: String) throws -> Data {
        // No link is followed, and a fifo in its place can't block the call.
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            throw DefinitionError(
                .badAnswer,
                "the workflow program gave no answer. Its @main type must be a WorkflowSet without a main() of its own: "
                    + "@main struct Workflows: WorkflowSet { static let workflows = […] }", output: printed)
        }
        defer { close(file) }
        var info = stat()
        guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
            throw DefinitionError(.badAnswer, "the workflow program's answer is not a file", output: printed)
        }
        guard info.st_size <= limits.answer else {
            throw DefinitionError(
                .badAnswer,
                "the workflow program's answer has \(info.st_size) bytes; the limit is \(limits.answer). Plan fewer steps."
            )
        }
        var bytes = [UInt8](repeating: 0, count: Int(info.st_size))
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                pread(file, $0.baseAddress?.advanced(by: filled), $0.count - filled, off_t(filled))
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            filled += count
        }
        return Data(bytes.prefix(filled))
    }
}
