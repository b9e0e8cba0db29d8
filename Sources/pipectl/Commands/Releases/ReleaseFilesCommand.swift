import ArgumentParser
import Client
import Control
import Foundation

struct ReleaseFilesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "files", abstract: "Copies the files of a release, with its signatures and provenance.")

    @OptionGroup var release: ReleaseOption
    @Option(
        help: ArgumentHelp(
            "A folder for the files; it is made. Files that are there are not replaced.", valueName: "path"))
    var output = "."

    func run() async throws {
        let detail = try await release.detail()
        let manager = FileManager.default
        try manager.createDirectory(atPath: output, withIntermediateDirectories: true)
        let names = try manager.contentsOfDirectory(atPath: detail.folder).filter { !$0.hasPrefix(".") }.sorted()
        for name in names {
            let target = "\(output)/\(name)"
            if manager.contentsEqual(atPath: "\(detail.folder)/\(name)", andPath: target) { continue }
            guard !manager.fileExists(atPath: target) else {
                throw CommandEnd(code: 2, message: "\(target) is another file; remove it, or name another folder")
            }
            try manager.copyItem(atPath: "\(detail.folder)/\(name)", toPath: target)
            try manager.setAttributes([.posixPermissions: 0o644], ofItemAtPath: target)
        }
        for name in names { Terminal.print(name) }
    }
}
