import Engine
import Foundation
import Git
import WorkflowPrograms

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What SourceKit-LSP needs to know in order to complete and look up `Pipeline` in `workflows/`.
///
/// The file holds the path of this pipectl's module, which is another one on each machine, so Git is told to leave it
/// out: by the repository's own `info/exclude`, which is not committed.
package struct EditorFiles {
    /// The repository's top folder.
    let directory: String
    /// The folder of `Pipeline.swiftmodule`.
    let modules: String

    /// The file's path, from the top of the repository.
    ///
    /// A package of workflows is built by SwiftPM, which is told in another place than a plain folder is.
    package var path: String {
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
    package init(directory: String) throws {
        self.directory = directory
        modules = URL(fileURLWithPath: try PipelineLibrary.find().module).deletingLastPathComponent().path
    }

    /// Writes the file, and the line that keeps Git from it.
    ///
    /// - Throws: ``EditorFileProblem`` where a file there belongs to somebody else, or Git's list can't be read or written.
    package func write() throws {
        // The repository's own files may be links that lead anywhere: none is written through.
        let folder = try SeedDestination(named: "workflows", in: directory)
        let project = SeedProject(directory: directory)
        // An index that can't be read, such as one of SHA-256, says nothing; then the file itself must show whose it is.
        if let index = project.indexFile, (try? GitIndexFile.tracks(path, in: index)) == true {
            throw EditorFileProblem(
                path: path, reason: "Git tracks it, but it would contain a path of this machine",
                remedy: "untrack it with `git rm --cached \(path)` and remove it, then run `pipectl editor`")
        }
        try checkIsOwn()
        if let git = project.sharedGitFolder { try exclude(in: "\(git)/info") }
        if isPackage {
            try SeedDestination(named: "workflows/.sourcekit-lsp", in: directory).replace("config.json", with: text)
        } else {
            try folder.replace("compile_flags.txt", with: text)
        }
    }

    /// Refuses to replace what this command has not written.
    private func checkIsOwn() throws {
        let file = "\(directory)/\(path)"
        var status = stat()
        guard lstat(file, &status) == 0 else { return }
        // No file of ours is a link or large.
        if status.st_mode & S_IFMT == S_IFREG, status.st_size <= 1 << 16,
            let data = try? Data(contentsOf: URL(fileURLWithPath: file)), Self.isOwn(data, isPackage: isPackage)
        {
            return
        }
        throw EditorFileProblem(
            path: path, reason: "it exists, and pipectl did not write it",
            remedy: "move it away and run `pipectl editor`, or add this to it yourself: -I \(modules)")
    }

    /// Whether the text is what ``text`` would be for a pipectl at any place.
    static func isOwn(_ data: Data, isPackage: Bool) -> Bool {
        guard isPackage else {
            let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
            return lines.count == 5 && lines[0] == "-I" && lines[1].hasPrefix("/")
                && lines[2...] == ["-parse-as-library", "-swift-version", "6"]
        }
        guard let settings = try? JSONSerialization.jsonObject(with: data) as? [String: [String: [String]]],
            settings.count == 1, let swiftPM = settings["swiftPM"], swiftPM.count == 1,
            let flags = swiftPM["swiftCompilerFlags"]
        else { return false }
        return flags.count == 1 && flags[0].hasPrefix("-I/")
    }

    /// Adds the file to the list of what Git leaves out, in whatever encoding that is.
    private func exclude(in folder: String) throws {
        let file = "\(folder)/exclude"
        func problem(_ what: String) -> EditorFileProblem {
            EditorFileProblem(
                path: file, reason: "it can't be \(what): \(String(cString: strerror(errno)))",
                remedy: "correct that and run `pipectl editor`; nothing was written")
        }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let descriptor = open(file, O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw problem("opened") }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let present: Data
        do { present = try handle.readToEnd() ?? Data() } catch { throw problem("read") }
        guard !present.split(separator: UInt8(ascii: "\n")).contains(Data("/\(path)".utf8)) else { return }
        let needsEnd = !present.isEmpty && present.last != UInt8(ascii: "\n")
        do { try handle.write(contentsOf: Data("\(needsEnd ? "\n" : "")/\(path)\n".utf8)) } catch {
            throw problem("written")
        }
    }
}

/// Why the file for the editor was not written.
package struct EditorFileProblem: Error, Sendable, Equatable, CustomStringConvertible {
    let path: String
    /// As the end of a sentence about the path.
    let reason: String
    /// What a person can do.
    let remedy: String

    package var description: String { "\(path) was not changed: \(reason). Next: \(remedy)" }
}
