import Engine
import Foundation
import Git
import WorkflowPrograms

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Configures SourceKit-LSP, so that it completes and finds `Pipeline` in `workflows/`.
///
/// The file contains the path of this pipectl's module, which differs on each machine. So Git must ignore it: pipectl
/// adds it to the repository's `info/exclude`, which is not committed.
package struct EditorFiles {
    /// The repository's top folder.
    let directory: String
    /// The folder of `Pipeline.swiftmodule`.
    let modules: String

    /// The file's path, relative to the top of the repository.
    ///
    /// For a package of workflows, SwiftPM is configured instead, which reads another file.
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

    /// Writes the file, and the line that makes Git ignore it.
    ///
    /// - Throws: ``EditorFileProblem`` if pipectl did not write the existing file, or if Git's list can't be read or
    ///   written.
    package func write() throws {
        // The repository's own files may be links to anywhere; pipectl never writes through one.
        let folder = try SeedDestination(named: "workflows", in: directory)
        let project = SeedProject(directory: directory)
        // If the index can't be read, for example one of SHA-256, the file itself must show who wrote it.
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

    /// Refuses to replace a file that this command did not write.
    private func checkIsOwn() throws {
        let file = "\(directory)/\(path)"
        var status = stat()
        guard lstat(file, &status) == 0 else { return }
        // pipectl's own file is never a link or large.
        if status.st_mode & S_IFMT == S_IFREG, status.st_size <= 1 << 16,
            let data = try? Data(contentsOf: URL(fileURLWithPath: file)), Self.isOwn(data, isPackage: isPackage)
        {
            return
        }
        throw EditorFileProblem(
            path: path, reason: "it exists, and pipectl did not write it",
            remedy: "move it away and run `pipectl editor`, or add this to it yourself: -I \(modules)")
    }

    /// Whether the text is the same as ``text`` except for the path of the module.
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

    /// Adds the file to Git's list of ignored files, whatever encoding that has.
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
