/// The content of a settings file.
public struct SettingsDocument: Sendable {
    /// A value as it was read, not yet checked against its range.
    struct Entry: Sendable, Equatable {
        /// One for a single value; as many as a list has.
        var texts: [String]
        var line: Int
    }

    /// A repository with values of its own.
    struct Repository: Sendable {
        var name: String
        var location: String
        var line: Int
        /// By the key of the same setting for all repositories.
        var entries: [String: Entry]
    }

    /// The file's path, for error messages and for `pipectl config show`.
    public let path: String
    private(set) var entries: [String: Entry] = [:]
    private(set) var repositories: [Repository] = []
    private(set) var problems: [SettingsProblem] = []

    /// Reads a file; nil if there is none.
    ///
    /// - Throws: ``SettingsError`` if the whole file can't be used. Mistakes in single settings are reported later.
    public static func read(_ path: String, table: SettingsTable) throws(SettingsError) -> SettingsDocument? {
        guard let bytes = try SettingsFile.read(path) else { return nil }
        return try SettingsDocument(bytes, path: path, table: table)
    }

    /// - Parameter bytes: JSON in UTF-8.
    public init(_ bytes: [UInt8], path: String, table: SettingsTable) throws(SettingsError) {
        self.path = path
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) || bytes.starts(with: [0xFF, 0xFE])
            || bytes.starts(with: [0xFE, 0xFF])
        {
            throw SettingsFile.problem(path, "begins with a byte order mark. Save it as UTF-8 without one.")
        }
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw SettingsFile.problem(path, "is not UTF-8. Save it as UTF-8.")
        }
        guard bytes.contains(where: { $0 > 0x20 }) else {
            throw SettingsFile.problem(path, "is empty. Write {} for no settings.")
        }
        let root: JSONNode
        do throws(JSONMistake) { root = try JSONReader.read(bytes) } catch {
            throw SettingsError(
                [.init(code: .file, name: "", line: error.line, sentence: "This is not JSON. \(error.description)")],
                file: path)
        }
        guard case .object(let members) = root.kind else {
            throw SettingsFile.problem(path, "holds \(root.title). It needs an object: {…}.")
        }
        var walk = SettingsWalk(table: table)
        walk.group(members, key: "")
        (entries, repositories) = (walk.entries, walk.repositories)
        problems = walk.problems
    }
}
