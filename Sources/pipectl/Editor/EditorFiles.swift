import Engine
import Foundation

/// What SourceKit-LSP needs to know in order to complete and look up `Pipeline` in `workflows/`.
///
/// The file holds the path of this pipectl's module, which is another one on each machine, so Git is told to leave it
/// out: by the repository's own `info/exclude`, which is not committed.
struct EditorFiles {
    /// The repository's top folder.
    let directory: String
    /// The folder of `Pipeline.swiftmodule`.
    let modules: String

    /// The file's path, from the top of the repository.
    ///
    /// A package of workflows is built by SwiftPM, which is told in another place than a plain folder is.
    var path: String {
        isPackage ? "workflows/.sourcekit-lsp/config.json" : "workflows/compile_flags.txt"
    }

    private var isPackage: Bool { FileManager.default.fileExists(atPath: "\(directory)/workflows/Package.swift") }

    var text: String {
        guard isPackage else {
            return ["-I", modules, "-parse-as-library", "-swift-version", "6", ""].joined(separator: "\n")
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let settings = ["swiftPM": ["swiftCompilerFlags": ["-I\(modules)"]]]
        return ((try? encoder.encode(settings)).map { String(decoding: $0, as: UTF8.self) } ?? "{}") + "\n"
    }

    /// Finds the module of this pipectl.
    ///
    /// - Throws: `PipelineLibraryError`.
    init(directory: String) throws {
        self.directory = directory
        modules = URL(fileURLWithPath: try PipelineLibrary.find().module).deletingLastPathComponent().path
    }

    /// Writes the file, and the line that keeps Git from it.
    func write() throws {
        // The repository's own files may be links that lead anywhere: none is written through.
        let folder = try SeedDestination(named: "workflows", in: directory)
        if isPackage {
            try SeedDestination(named: "workflows/.sourcekit-lsp", in: directory).replace("config.json", with: text)
        } else {
            try folder.replace("compile_flags.txt", with: text)
        }
        guard let git = SeedProject(directory: directory).sharedGitFolder else { return }
        let exclude = URL(fileURLWithPath: "\(git)/info/exclude")
        var lines = (try? String(contentsOf: exclude, encoding: .utf8)) ?? ""
        guard !lines.split(separator: "\n").contains("/\(path)") else { return }
        if !lines.isEmpty, !lines.hasSuffix("\n") { lines += "\n" }
        try FileManager.default.createDirectory(
            at: exclude.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("\(lines)/\(path)\n".utf8).write(to: exclude)
    }
}
