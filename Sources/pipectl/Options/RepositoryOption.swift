import ArgumentParser
import Client
import Foundation
import Reports
import Results
import Store
import TerminalText
import Watching

/// `--repository` and `--folder`, for commands about one repository: the one here, or another by its name.
struct RepositoryOption: ParsableArguments {
    @Option(help: ArgumentHelp("A repository by its name, path or URL, instead of the one here.", valueName: "name"))
    var repository: String?
    @Option(help: "The folder of the repository.") var folder = "."

    func validate() throws {
        if repository != nil && folder != "." { throw ValidationError("--repository and --folder exclude each other") }
    }

    /// The folder on this machine; nil if only the daemon can tell where the repository is.
    var path: String? {
        guard let repository else { return Self.top(of: folder) }
        guard !WatchedRepository.isRemote(repository) else { return nil }
        let path = (repository as NSString).expandingTildeInPath
        let isPath = path.hasPrefix(".") || path.contains("/")
        return isPath && FileManager.default.fileExists(atPath: path) ? Self.top(of: path) : nil
    }

    /// The repository for the daemon, which can't resolve relative paths of this process.
    var place: String { path ?? repository ?? folder }

    private static func top(of folder: String) -> String {
        WatchedRepository.isRemote(folder) ? folder : (try? RunSubject.top(of: folder)) ?? folder
    }
}
