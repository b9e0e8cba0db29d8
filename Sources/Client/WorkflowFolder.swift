import Workspaces
import Foundation
package import WorkflowPrograms
package import StateFiles
import Engine

/// The folder `workflows/` of a working tree in its current state, committed or not.
package struct WorkflowFolder {
    /// The files of `workflows/`.
    package let sources: WorkflowSources
    /// The cache of compiled programs.
    package let cache: ProgramCache

    /// Reads the folder. Its tree id is the one that Git would compute.
    package static func load(_ folder: String, state: StateFolder) async throws -> WorkflowFolder {
        let top = URL(fileURLWithPath: folder).standardizedFileURL.path
        let root = "\(top)/workflows"
        guard FileManager.default.fileExists(atPath: root) else {
            throw DefinitionError(
                .noWorkflows, "\(top) has no workflows/. Run `pipectl init` there to write the first two.")
        }
        try state.create()
        var files: [WorkflowFile] = []
        let names = FileManager.default.enumerator(atPath: root)
        while let name = names?.nextObject() as? String {
            if name.split(separator: "/").contains(where: { $0.hasPrefix(".") }) { continue }
            // Files of editors are in no commit; without them the program is the same as that of the commit.
            if name == "compile_flags.txt" { continue }
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(root)/\(name)")
            guard attributes[.type] as? FileAttributeType == .typeRegular else { continue }
            let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: "\(root)/\(name)")))
            let isExecutable = ((attributes[.posixPermissions] as? Int) ?? 0) & 0o100 != 0
            files.append(WorkflowFile(path: "workflows/\(name)", bytes: bytes, isExecutable: isExecutable))
        }
        let toolchain = try await Toolchain.find(memory: "\(state.programs)/toolchain.json")
        return WorkflowFolder(
            sources: WorkflowSources(files: files),
            cache: ProgramCache(
                directory: state.programs, library: try PipelineLibrary.find(), toolchain: toolchain,
                programSandbox: .workingTree(state, toolchain)))
    }

    /// The compiled workflows. Throws a `DefinitionError` for a mistake in them.
    package func program() async throws -> WorkflowProgram { try await cache.program(for: sources) }
}
