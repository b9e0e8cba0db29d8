import Sandbox
public import WorkflowPrograms
import Engine
import StateFiles
public import TestIntegrity

/// Reads Swift files with the program `swift-reader`, in a sandbox without network and files.
///
/// The text of a change is untrusted, and a parser is large. If the text takes over the process, it gains nothing.
public struct SwiftReaderProcess: SwiftSourceReader {
    /// The path of pipectl, beside which the program is; nil for this process.
    private let pipectl: String?
    private let programSandbox: ProgramSandbox

    /// The most processes for one request: each continues after the file that ended the one before.
    static let mostProcesses = 4
    /// The most bytes of the answer, which is about as long as the request. If it is longer, only half of the limit is
    /// useful, since both ends are kept.
    static let outputLimit = 4 * IntegrityCheck.byteLimit

    public init(beside pipectl: String?, _ programSandbox: ProgramSandbox) {
        self.pipectl = pipectl
        self.programSandbox = programSandbox
    }

    public func read(
        _ sources: [SwiftSource], before deadline: ContinuousClock.Instant
    ) async -> [Result<SwiftFileFacts, UnreadableSource>] {
        var results: [Result<SwiftFileFacts, UnreadableSource>] = []
        var problem = UnreadableSource("the files before it ended swift-reader too often")
        for _ in 1...Self.mostProcesses where results.count < sources.count {
            let left = sources[results.count...]
            let time = deadline - .now
            guard time > .zero else {
                problem = UnreadableSource("the change could not be read in time")
                break
            }
            do {
                let ended = try await run(left, within: time)
                results += SwiftReaderProtocol.results(of: ended.output).prefix(left.count)
                guard results.count < sources.count else { break }
                results.append(.failure(UnreadableSource(Self.sentence(ended.ending))))
            } catch {
                problem = UnreadableSource("\(error)")
                break
            }
        }
        return results + Array(repeating: .failure(problem), count: max(0, sources.count - results.count))
    }

    private func run(_ sources: ArraySlice<SwiftSource>, within time: Duration) async throws -> ExternalCommandResult {
        let program = try Installation.swiftReader(beside: pipectl)
        var launch = ProgramLaunch(.read, [program], in: "/", writes: [], reads: [])
        launch.programs = [program]
        launch.input = SwiftReaderProtocol.request(sources)
        launch.outputLimit = Self.outputLimit
        return try await programSandbox.run(launch, environment: ["SWIFT_BACKTRACE": "enable=no"], deadline: time)
    }

    private static func sentence(_ ending: ExternalCommandResult.Ending) -> String {
        switch ending {
        case .deadline: "it could not be read in time"
        case .signal(let signal): "it ended swift-reader with signal \(signal)"
        case .exited(0): "swift-reader gave no answer that can be read"
        case .exited(let code): "it ended swift-reader with exit code \(code)"
        }
    }
}
