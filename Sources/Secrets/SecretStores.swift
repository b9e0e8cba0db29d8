public import StateFiles
import Masking
import TerminalText
public import Engine
import Foundation
public import Pipeline

/// All stores of secrets.
///
/// Of several secrets with one name, the first is used: the one for the run's repository alone, then systemd's
/// credentials, then the folder, then the keychain. One that exists and can't be used is an error, because the next
/// store may have an older value.
public struct SecretStores: Sendable {
    /// The name of the subfolder with a folder for each repository. No secret can have this name.
    static let repositories = "repositories"

    /// The most bytes of a value.
    public static let longestValue = SecretFolder.longestValue

    private let state: StateFolder
    private let credentials: String?

    /// - Parameter environment: This process's own by default.
    public init(state: StateFolder, environment: [String: String]? = nil) {
        self.state = state
        let found = (environment ?? ProcessInfo.processInfo.environment)["CREDENTIALS_DIRECTORY"]
        credentials = found.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    // MARK: For a run

    /// The secrets of a trusted run's plan. Blocks.
    public func resolve(_ plan: Plan, repository: String) -> RunSecrets {
        var values: [Secret] = []
        var missing: [String: String] = [:]
        for name in Set(plan.steps.flatMap(\.secrets).map(\.name)).sorted() {
            do throws(SecretError) {
                if let bytes = try value(of: name, for: repository) {
                    values.append(Secret(name: name, bytes: bytes))
                } else {
                    missing[name] = "secret \(name) is not set: `pipectl secrets set \(name)`"
                }
            } catch { missing[name] = "secret \(name) can't be read: \(error)" }
        }
        return RunSecrets(values, missing: missing)
    }

    /// The value of a secret for a repository; nil if none is set. Blocks.
    public func value(of name: String, for repository: String) throws(SecretError) -> [UInt8]? {
        if Self.isUsable(repository: repository), let value = try folder(repository).value(of: name) { return value }
        if let value = try systemd?.value(of: name) { return value }
        if let value = try folder(nil).value(of: name) { return value }
        #if os(macOS)
            return try SecretKeychain().value(of: name)
        #else
            return nil
        #endif
    }

    // MARK: For a person

    /// All secrets, in the order in which they are used, and what is wrong with the stores themselves.
    public func list() -> (records: [SecretRecord], problems: [String]) {
        var records: [SecretRecord] = []
        var problems: [String] = []
        func add(_ folder: SecretFolder) {
            do throws(SecretError) {
                let found = try folder.records()
                records += found.records
                problems += found.strangers.map { name in
                    "\"\(folder.path)/\(TerminalText.name(name, limit: 100))\" is not a valid name of a secret: "
                        + "capitals, digits and _, like DEPLOY_TOKEN"
                }
            } catch { problems.append(error.description) }
        }
        let scoped = "\(state.secrets)/\(Self.repositories)"
        for name in ((try? FileManager.default.contentsOfDirectory(atPath: scoped)) ?? []).sorted()
        where Self.isUsable(repository: name) { add(folder(name)) }
        let common = records.count
        if let systemd { add(systemd) }
        add(folder(nil))
        #if os(macOS)
            do throws(SecretError) { records += try SecretKeychain().records() } catch {
                problems.append(error.description)
            }
        #endif
        var seen: Set<String> = []
        for index in common..<records.count where !seen.insert(records[index].name).inserted {
            records[index].isHidden = true
        }
        return (records, problems)
    }

    /// Stores a value in the folder.
    ///
    /// - Parameter repository: The only repository whose runs get it; nil for all.
    /// - Throws: ``SecretError`` if the name or value is not allowed, or the folder can't be written.
    public func set(_ name: String, to value: [UInt8], repository: String? = nil) throws(SecretError) {
        try check(name, repository: repository)
        guard value.count <= SecretFolder.longestValue else {
            throw SecretError(
                .value, "The value has more than \(SecretFolder.longestValue) bytes, the limit. Is this the right file?"
            )
        }
        guard Secret(name: name, bytes: value).isMaskable else {
            throw SecretError(
                .value,
                "The value has fewer than \(Secret.shortestMaskable) bytes. Such a short text can't be masked in logs, "
                    + "because it appears in other output by chance. Use a longer one, or a parameter or variable if it is not secret."
            )
        }
        do { try state.create() } catch { throw SecretError(.system, error.description) }
        if let repository {
            // Each folder on the way is checked after it is made.
            try folder(nil).make()
            try SecretFolder(path: "\(state.secrets)/\(Self.repositories)", source: .folder).make()
            try folder(repository).set(name, to: value)
        } else {
            try folder(nil).set(name, to: value)
        }
    }

    /// Removes a value from the folder.
    ///
    /// - Throws: ``SecretError`` if it is not there, or can't be removed.
    public func remove(_ name: String, repository: String? = nil) throws(SecretError) {
        try check(name, repository: repository)
        if try folder(repository).remove(name) { return }
        let others = list().records.filter { $0.name == name }
        let places = others.map { record in
            switch record.source {
            case .systemd: "systemd provides it: remove it from the unit (LoadCredential=, SetCredential=)"
            case .keychain: "the keychain has it: security delete-generic-password -s pipectl -a \(name)"
            case .folder:
                record.repository.map { "repository \($0) has it: add --repository \($0)" }
                    ?? "it is set for all repositories: leave out --repository"
            }
        }
        throw SecretError(
            .notSet,
            "secret \(name) is not set" + (repository.map { " for repository \($0)" } ?? "")
                + (places.isEmpty
                    ? "; `pipectl secrets list` lists those that are" : "; " + places.joined(separator: "; ")))
    }

    // MARK: Places

    private var systemd: SecretFolder? { credentials.map { SecretFolder(path: $0, source: .systemd) } }

    private func folder(_ repository: String?) -> SecretFolder {
        guard let repository else { return SecretFolder(path: state.secrets, source: .folder) }
        return SecretFolder(
            path: "\(state.secrets)/\(Self.repositories)/\(repository)", source: .folder, repository: repository)
    }

    /// - Throws: ``SecretError`` with the code `name` if no secret, or no repository, can have this name.
    public func check(_ name: String, repository: String?) throws(SecretError) {
        if let problem = SecretUse.problem(with: name) { throw SecretError(.name, problem) }
        if let repository, !Self.isUsable(repository: repository) {
            throw SecretError(
                .name, "no repository \"\(repository)\"; `pipectl status --all` lists them")
        }
    }

    /// Whether it is a valid name of a repository, which must be a single path component.
    private static func isUsable(repository: String) -> Bool {
        !repository.isEmpty && !repository.hasPrefix(".") && repository.utf8.count <= 200
            && repository.allSatisfy { $0.isLetter || $0.isNumber || "-_.".contains($0) }
    }
}
