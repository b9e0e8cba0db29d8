import Secrets
import Archive
import Control
import Delivery
import Engine
import Git
import ProjectSetup
import Results
import DaemonSettings
import Settings
import StateFiles
import Store
import WorkflowPrograms

/// Ends a command with an exit code and a message.
struct CommandEnd: Error, CustomStringConvertible {
    var code: Int32
    var message: String?

    var description: String { message ?? "exit code \(code)" }

    /// The exit code for an error: 2 if the user can correct the call or the definition, 3 if the machine is to blame.
    static func code(for error: any Error) -> Int32 {
        switch error {
        case let error as RequestError: error.code == .missingTool || error.origin == .daemon ? 3 : 2
        case is DefinitionError, is GitError, is MissingSettings, is SettingsError: 2
        case let error as ArchiveError: [.unknownRun, .badArtifact].contains(error.code) ? 2 : 3
        case let error as StateError: [.locked, .missingProgram].contains(error.code) ? 3 : 2
        case let error as DeliveryProblem: error.code == .invalid ? 2 : 3
        case let error as ServiceProblem: [.unusableValue, .unknownUser].contains(error.code) ? 2 : 3
        case let error as SecretError: [.name, .value, .notSet].contains(error.code) ? 2 : 3
        default: 3
        }
    }
}
