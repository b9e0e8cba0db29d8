/// The folder `workflows/` of one commit, as it is compiled.
public struct WorkflowSources: Sendable, Equatable {
    /// The id of the Git tree `workflows/`; the same id means the same files.
    public var tree: String
    /// All files of the folder, at any depth.
    public var files: [WorkflowFile]

    public init(tree: String, files: [WorkflowFile]) {
        self.tree = tree
        self.files = files
    }

    /// Whether SwiftPM builds the folder, because it contains a manifest.
    public var isPackage: Bool { files.contains { $0.path == "workflows/Package.swift" } }

    /// The sources of a folder without a manifest: the Swift files directly in it.
    var direct: [WorkflowFile] {
        files.filter { $0.path.hasSuffix(".swift") && $0.path.split(separator: "/").count == 2 }
            .sorted { $0.path < $1.path }
    }

    static let sizeLimit = 64 << 20
    static let countLimit = 5_000

    /// Rejects an invalid workflow folder before anything is written to disk.
    func check() throws(DefinitionError) {
        guard isPackage || !direct.isEmpty else {
            throw DefinitionError(
                .noWorkflows, "the commit has no workflows/*.swift; run `pipectl init` to write the first ones")
        }
        for file in files {
            let parts = file.path.split(separator: "/", omittingEmptySubsequences: false)
            let usable =
                parts.count >= 2 && parts[0] == "workflows" && !file.path.utf8.contains(0)
                && !parts.contains { $0.isEmpty || $0 == "." || $0 == ".." }
            guard usable else {
                throw DefinitionError(.invalid, "\"\(file.path)\" is not a path below workflows/; rename the file")
            }
        }
        guard files.count <= WorkflowSources.countLimit,
            files.reduce(0, { $0 + $1.bytes.count }) <= WorkflowSources.sizeLimit
        else {
            throw DefinitionError(
                .invalid, "workflows/ holds more than 5,000 files or 64 MiB; remove files that the workflows don't need"
            )
        }
    }
}

/// One file of ``WorkflowSources``.
public struct WorkflowFile: Sendable, Equatable {
    /// From the top of the repository: `workflows/test.swift`.
    public var path: String
    /// The file's content.
    public var bytes: [UInt8]
    /// Whether its owner may execute it.
    public var isExecutable: Bool

    public init(path: String, bytes: [UInt8], isExecutable: Bool = false) {
        self.path = path
        self.bytes = bytes
        self.isExecutable = isExecutable
    }
}
