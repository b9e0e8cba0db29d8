import ArgumentParser
import Foundation

/// `--folder`, for commands that work on a working tree. Earlier versions took it as an argument, which still works.
struct FolderOption: ParsableArguments {
    @Option(help: "The top folder of the repository. Default: the current folder.")
    var folder: String?

    /// The folder's absolute path.
    func path(or argument: String?) throws -> String {
        if folder != nil && argument != nil { throw ValidationError("give the folder only once: --folder FOLDER") }
        return URL(fileURLWithPath: folder ?? argument ?? ".").standardizedFileURL.path
    }
}
