package import Pipeline

/// Makes the publisher of a destination, with what it needs.
package struct Destinations: Sendable {
    /// Makes the publisher for TestFlight.
    package typealias TestFlights = @Sendable (_ testFlight: TestFlight, _ key: [UInt8]) throws -> any Publisher

    /// Finds the connection of a repository with its forge.
    package typealias Connections = @Sendable (_ repository: String) async throws -> ForgeAccess

    private let connection: Connections
    private let work: String
    private let testFlight: TestFlights

    /// - Parameter work: An absolute path of a folder, which is made when it is needed, for private files that are soon
    ///   gone.
    package init(work: String, connection: @escaping Connections, testFlight: @escaping TestFlights) {
        self.connection = connection
        self.work = work
        self.testFlight = testFlight
    }

    /// The publisher for a destination of a repository's release.
    ///
    /// - Parameters:
    ///   - repository: The name of the watched repository, whose connection with a forge is used.
    ///   - secrets: By name, those that the destination names.
    /// - Throws: ``DeliveryProblem``; errors of the store.
    package func publisher(
        for destination: Destination, of repository: String, secrets: [String: [UInt8]]
    ) async throws -> any Publisher {
        func secret(_ name: String) throws -> [UInt8] {
            guard let bytes = secrets[name], !bytes.isEmpty else {
                throw DeliveryProblem(.refused, "the secret \(name) is not set; run `pipectl secrets set \(name)`")
            }
            return bytes
        }
        switch destination {
        case .forge(let draft, let prerelease):
            return ForgeReleasePublisher(
                access: try await connection(repository), isDraft: draft, isPrerelease: prerelease)
        case .packages(let name): return PackagesPublisher(access: try await connection(repository), name: name)
        case .registry(let address, let name):
            return RegistryPublisher(repository: address, credentials: try name.map(secret))
        case .folder(let path, let address): return FolderPublisher(folder: path, address: address)
        case .ssh(let host, let folder, let key, let knownHost):
            return SSHPublisher(
                host: host, folder: folder, key: try secret(key), knownHost: try secret(knownHost), work: work)
        case .apt(let folder, let suite, let component, let key, let days, let address):
            return AptPublisher(
                folder: folder, address: address, suite: suite, component: component, key: try secret(key),
                validForDays: days, work: work)
        case .homebrew(let tap, let formula, let name):
            return HomebrewPublisher(tap: tap, formula: formula, token: try name.map(secret), work: work)
        case .testFlight(let flight): return try testFlight(flight, try secret(flight.key))
        }
    }
}

extension Destination {
    /// What it needs among the files of a release and does not find; nil if it can publish them.
    func missing(among names: [String]) -> String? {
        switch self {
        case .forge, .packages, .registry, .folder, .ssh: return nil
        case .apt: return names.contains { $0.hasSuffix(AptPublisher.ending) } ? nil : "no \(AptPublisher.ending) file"
        case .homebrew(_, let formula, _):
            let file = HomebrewPublisher.file(of: formula)
            return names.contains(file) ? nil : "no file \(PublishedName.shown(file))"
        case .testFlight(let flight):
            let count = names.count { $0.hasSuffix(flight.ending) }
            return count == 1 ? nil : "\(count) files that end in \(flight.ending), not one"
        }
    }
}

extension TestFlight {
    /// How the name of an app ends.
    package var ending: String { platform == "MAC_OS" ? ".pkg" : ".ipa" }
}
