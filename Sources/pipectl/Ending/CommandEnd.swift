import Secrets
import Archive
import BuildBox
import Control
import Engine
import Git
import Results
import Settings
import StateFiles
import Settings
import Store
import WorkflowPrograms

/// A command's end with an exit code of its own, and what to say.
struct CommandEnd: Error, CustomStringConvertible {
    var code: Int32
    var message: String?

    var description: String { message ?? "exit code \(code)" }

    /// 2 for what the user can mend in the call or the definition, 3 for the box.
    static func code(for error: any Error) -> Int32 {
        switch error {
        case let error as RequestError: error.code == .missingTool || error.origin == .daemon ? 3 : 2
        case is DefinitionError, is GitError, is SettingsError: 2
        case let error as ArchiveError: [.unknownRun, .badArtifact].contains(error.code) ? 2 : 3
        case let error as StateError: [.locked, .missingProgram].contains(error.code) ? 3 : 2
        case let error as SecretError: [.name, .value, .notSet].contains(error.code) ? 2 : 3
        default: 3
        }
    }
}
