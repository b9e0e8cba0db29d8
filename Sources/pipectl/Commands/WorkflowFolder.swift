import BuildBox
import Engine
import Foundation
import Git

/// `workflows/` of a working tree, as it is now, committed or not.
struct WorkflowFolder {
    let sources: WorkflowSources
    let cache: ProgramCache

    /// Reads the folder; its tree id is the one that Git would give it.
    static func load(_ folder: String, state: StateFolder) async throws -> WorkflowFolder {
        let top = URL(fileURLWithPath: folder).standardizedFileURL.path
        let root = "\(top)/workflows"
        guard FileManager.default.fileExists(atPath: root) else {
            throw DefinitionError(
                .noWorkflows, "\(top) has no workflows/. Run `pipectl init` there to write the first two.")
        }
        try state.create()
        var files: [WorkflowFile] = []
        var ids: [String: TreeFile] = [:]
        let store = try store(in: state)
        let names = FileManager.default.enumerator(atPath: root)
        while let name = names?.nextObject() as? String {
            if name.split(separator: "/").contains(where: { $0.hasPrefix(".") }) { continue }
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(root)/\(name)")
            guard attributes[.type] as? FileAttributeType == .typeRegular else { continue }
            let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: "\(root)/\(name)")))
            let isExecutable = ((attributes[.posixPermissions] as? Int) ?? 0) & 0o100 != 0
            files.append(WorkflowFile(path: "workflows/\(name)", bytes: bytes, isExecutable: isExecutable))
            ids[name] = .blob(try store.createBlob(bytes), executable: isExecutable)
        }
        let tree = try store.createTree(ids)
        let toolchain = try await Toolchain.find(memory: "\(state.programs)/toolchain.json")
        return WorkflowFolder(
            sources: WorkflowSources(tree: tree.hex, files: files),
            cache: ProgramCache(
                directory: state.programs, library: try PipelineLibrary.find(), toolchain: toolchain,
                confinement: await .workingTree(state, toolchain)))
    }

    /// Where trees of working trees are kept. Another command may make it at the same moment: the first one stays.
    private static func store(in state: StateFolder) throws -> Repository {
        let path = "\(state.mirrors)/.working.git"
        if !FileManager.default.fileExists(atPath: "\(path)/HEAD") {
            let made = "\(state.mirrors)/.making-\(UInt64.random(in: .min ... .max)).git"
            _ = try Repository.create(bareAt: made)
            if rename(made, path) != 0 { try FileManager.default.removeItem(atPath: made) }
        }
        return try Repository(opening: path)
    }

    func program() async throws -> WorkflowProgram { try await cache.program(for: sources) }
}
