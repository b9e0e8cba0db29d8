import Foundation
package import Preparing
package import Settings
package import StateFiles
package import Watching

extension DeclaredSettings {
    /// The path of the settings file if none is given.
    package static func standardFile(in folder: StateFolder) -> String { "\(folder.path)/config.json" }

    /// Resolves the value of every setting.
    ///
    /// - Parameters:
    ///   - config: The file's path; nil for `$PIPECTL_CONFIG`, otherwise for the file in the state folder, which may be
    ///     missing.
    ///   - flags: The flags on the command line.
    ///   - environment: The environment; nil for that of this process.
    /// - Throws: `SettingsError` with every mistake that was found; ``MissingSettings`` if the file is named and missing.
    package static func resolve(
        in folder: StateFolder, config: String?, flags: [GivenFlag],
        environment: [String: String]? = nil
    ) throws -> ResolvedSettings {
        let environment = environment ?? ProcessInfo.processInfo.environment
        let named = config ?? environment["PIPECTL_CONFIG"].flatMap { $0.isEmpty ? nil : $0 }
        let path = named.map { URL(fileURLWithPath: $0).standardizedFileURL.path } ?? standardFile(in: folder)
        let document = try SettingsDocument.read(path, table: table)
        if named != nil, document == nil {
            throw MissingSettings(.file, "there is no settings file \(path); create it, or leave --config out")
        }
        return try SettingsResolver(table: table, document: document, environment: environment, flags: flags).resolve()
    }
}

extension DeclaredSettings {
    /// The options for a command that opens the state itself and has no flags for settings.
    package static func options(in folder: StateFolder) throws -> DaemonOptions {
        try resolve(in: folder, config: nil, flags: []).configuration(isDaemon: false).options
    }
}

extension ResolvedSettings {
    /// The configuration of the daemon.
    ///
    /// - Parameter isDaemon: Whether to include settings that affect the daemon only.
    package func configuration(isDaemon: Bool) throws -> DaemonConfiguration {
        var daemon = DaemonConfiguration()
        for row in DeclaredSettings.all where isDaemon || !row.isOfDaemon {
            guard let value = self[row.setting.key] ?? (isDaemon ? row.setting.standard : nil) else { continue }
            row.apply(value, &daemon)
        }
        daemon.options.settings = records
        return try daemon.finished()
    }

    /// How to watch the repository: the general settings, with the repository's own values.
    func watching(_ repository: Repository) throws -> WatchOptions {
        var daemon = try configuration(isDaemon: true)
        for row in DeclaredSettings.all where row.setting.isPerRepository {
            if let value = repository[row.setting.key] { row.apply(value, &daemon) }
        }
        return daemon.watching
    }

    /// The repositories that `watch` watches: those that are named, otherwise those of the file.
    ///
    /// - Parameter locations: Paths and URLs. A repository that is also in the file keeps its values.
    /// - Throws: ``MissingSettings`` if there are none.
    package func watched(_ locations: [String]) throws -> [WatchRequest] {
        let known = try repositories.map {
            WatchRequest(location: Self.place($0.location), name: $0.name, options: try watching($0))
        }
        guard locations.isEmpty else {
            let general = try configuration(isDaemon: true).watching
            return locations.map { location in
                known.first { $0.location == Self.place(location) }
                    ?? WatchRequest(location: location, name: nil, options: general)
            }
        }
        guard !known.isEmpty else {
            throw MissingSettings(
                .repositories,
                "name at least one repository, as in `pipectl watch .`, or add \"repositories\" to config.json"
            )
        }
        return known
    }

    /// A location in a comparable form: a path without `~` and `..`.
    private static func place(_ location: String) -> String {
        guard !WatchedRepository.isRemote(location) else { return location }
        return URL(fileURLWithPath: (location as NSString).expandingTildeInPath).standardizedFileURL.path
    }
}
