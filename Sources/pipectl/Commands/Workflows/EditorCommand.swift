import ArgumentParser
import Client
import Foundation
import ProjectSetup
import SystemCalls

struct EditorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "editor",
        abstract: "Sets up completion and jump to definition for workflows/ in your editor.",
        discussion: """
            Writes the compiler flags that SourceKit-LSP needs for `import Pipeline`: workflows/compile_flags.txt, or \
            workflows/.sourcekit-lsp/config.json if workflows/ is a package (then open workflows/ itself in the editor). The file contains a path of this machine, so \
            Git is told to ignore it. `pipectl init` runs this, too. Run it again after a clone, or when pipectl has moved.
            """)

    @OptionGroup var folder: FolderOption

    func run() throws {
        let directory = try folder.path(or: nil)
        guard FileManager.default.fileExists(atPath: "\(directory)/workflows") else {
            throw CommandEnd(code: 2, message: "\(directory) has no workflows/; `pipectl init` writes the first two")
        }
        let files = try EditorFiles(directory: directory)
        do {
            try files.write()
        } catch let problem as EditorFileProblem {
            throw CommandEnd(code: 2, message: "\(problem)")
        } catch {
            throw CommandEnd(code: 2, message: "\(directory)/\(files.path) can't be written: \(error.plainReason)")
        }
        Terminal.print("wrote \(files.path)")
        Terminal.say("Restart your editor's language server to load it.")
    }
}
