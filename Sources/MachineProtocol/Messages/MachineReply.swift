package import Engine
package import Foundation
import Sandbox
package import SystemPackage

/// The answer to a request: its value, or why there is none.
package enum MachineReply<Value: Sendable & Codable>: Sendable, Codable {
    case value(Value)
    case problem(MachineProblem)
}

/// Why an agent could not do what it was asked for.
package enum MachineProblem: Error, Sendable, Codable {
    /// A file of a workspace can't be taken or written.
    case file(WorkspaceFileProblem)
    /// The command did not start.
    case process(String, MachineErrno?)
    /// The first process of steps did not start.
    case host(program: String, MachineErrno)
    /// A system call of the agent failed.
    case system(MachineErrno)
    /// The place itself failed.
    case place(PlaceProblem)
    /// The mirror lacks something, or something in it is damaged.
    case mirror(String)
    /// The files of the commit can't be written there, although the mirror has all of them. This is about the commit, and
    /// not about the machine.
    case files(String)
    /// There is no sandbox, and one is needed.
    case noSandbox(String)
    /// What was asked for has begun earlier, and can't be taken over.
    case gone(String)
    /// Anything else, as a sentence.
    case other(String)

    package init(_ error: any Error) {
        switch error {
        case let problem as MachineProblem: self = problem
        case let problem as WorkspaceFileProblem: self = .file(problem)
        case let problem as StepProcessProblem:
            self =
                switch problem {
                case .command(let code): .process("command", MachineErrno(code))
                case .folder(let code): .process("folder", MachineErrno(code))
                case .system(let code): .process("system", MachineErrno(code))
                case .secret(let code): .process("secret", MachineErrno(code))
                case .group(let code): .process("group", MachineErrno(code))
                case .lost: .process("lost", nil)
                case .nulByte: .process("nulByte", nil)
                }
        case let problem as StepHostProblem: self = .host(program: problem.program, MachineErrno(problem.errno))
        case let code as Errno: self = .system(MachineErrno(code))
        case let problem as PlaceProblem: self = .place(problem)
        default: self = .other("\(error)")
        }
    }

    /// The same as the engine knows it.
    package var error: any Error {
        switch self {
        case .file(let problem): return problem
        case .process(let kind, let code):
            let code = code?.value ?? .ioError
            let known: StepProcessProblem? =
                switch kind {
                case "command": .command(code)
                case "folder": .folder(code)
                case "system": .system(code)
                case "secret": .secret(code)
                case "group": .group(code)
                case "lost": .lost
                case "nulByte": .nulByte
                default: nil
                }
            return known ?? PlaceProblem(reason: "the machine reported an unknown problem", mayHaveActed: true)
        case .host(let program, let code):
            return PlaceProblem(reason: "\(program) can't be started there: \(code.value)", mayHaveActed: false)
        case .system(let code): return code.value
        case .place(let problem): return problem
        case .gone(let reason): return PlaceProblem(reason: reason, mayHaveActed: true)
        case .mirror(let reason), .files(let reason), .noSandbox(let reason), .other(let reason):
            return PlaceProblem(reason: reason, mayHaveActed: false)
        }
    }
}

/// An error of the system. Some have other numbers on other platforms, so these travel by name.
package struct MachineErrno: Sendable, Codable, Equatable {
    private var number: Int32
    private var name: String?

    private static let named: [String: Errno] = [
        "EAGAIN": .resourceTemporarilyUnavailable, "ELOOP": .tooManySymbolicLinkLevels,
        "ENAMETOOLONG": .fileNameTooLong, "ENOTEMPTY": .directoryNotEmpty, "EDQUOT": .diskQuotaExceeded,
        "ESTALE": .staleNFSFileHandle, "EDEADLK": .deadlock, "ENOSYS": .noFunction,
    ]

    package init(_ code: Errno) {
        number = code.rawValue
        name = Self.named.first { $0.value == code }?.key
    }

    package var value: Errno { name.flatMap { Self.named[$0] } ?? Errno(rawValue: number) }
}

/// A place was opened.
package struct OpenedPlace: Sendable, Codable {
    package var begunAt: Date
    package var workspacePaths: [String]

    package init(begunAt: Date, workspacePaths: [String]) {
        self.begunAt = begunAt
        self.workspacePaths = workspacePaths
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        begunAt = try fields.decode(Date.self, forKey: .begunAt)
        // Its bits may be those of no number, which dates compare as equal and which can't be printed.
        guard (0...1e11).contains(begunAt.timeIntervalSince1970) else {
            throw DecodingError.dataCorruptedError(
                forKey: .begunAt, in: fields, debugDescription: "no clock shows this time")
        }
        workspacePaths = try fields.decode([String].self, forKey: .workspacePaths)
    }
}

/// A place was closed.
package struct ClosedPlace: Sendable, Codable {
    package var isAllEnded: Bool
    package init(isAllEnded: Bool) { self.isAllEnded = isAllEnded }
}

/// A file was read to its end.
package struct FileEnd: Sendable, Codable {
    package var bytes: Int
    package init(bytes: Int) { self.bytes = bytes }
}

/// Whether outputs are kept.
package struct HasOutputs: Sendable, Codable {
    package var isThere: Bool
    /// Whether others are kept, which may have pieces of them.
    package var hasOthers: Bool

    package init(isThere: Bool, hasOthers: Bool) {
        self.isThere = isThere
        self.hasOthers = hasOthers
    }
}
