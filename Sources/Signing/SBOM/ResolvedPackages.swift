package import Foundation

/// The packages that SwiftPM has chosen: `Package.resolved`, of which versions 1 to 3 are read.
package struct ResolvedPackages: Sendable, Equatable {
    /// The longest file that is read, in bytes.
    package static let limit = 8 << 20

    package struct Package: Sendable, Hashable {
        /// SwiftPM's name of it.
        package var identity: String
        /// Its URL, its folder, or nothing for one of a registry.
        package var location: String
        package var version: String?
        package var branch: String?
        package var revision: String?

        /// The version, or what stands for it.
        package var shownVersion: String? { version ?? revision ?? branch }

        /// Its package URL (github.com/package-url/purl-spec, type `swift`); for a folder of this machine the type
        /// `generic`.
        package var url: String {
            var parts = ["pkg:swift"]
            if let address = RepositoryAddress(location) {
                parts += ([address.host] + address.path).map(PackageURL.escaped)
            } else if location.isEmpty, let dot = identity.firstIndex(of: ".") {
                // A registry's name is a scope and a name.
                parts += [identity[..<dot], identity[identity.index(after: dot)...]].map {
                    PackageURL.escaped(String($0))
                }
            } else {
                parts = ["pkg:generic", PackageURL.escaped(identity)]
            }
            return parts.joined(separator: "/") + (shownVersion.map { "@" + PackageURL.escaped($0) } ?? "")
        }

        /// Where its source is, for `downloadLocation` of SPDX: without user names and passwords.
        package var source: String? {
            RepositoryAddress(location).map { "git+https://\($0)" + (revision.map { "@\($0)" } ?? "") }
        }
    }

    /// In the order of their package URLs, each once.
    package let packages: [Package]

    /// - Throws: ``SigningError`` with `malformed`, `duplicateKey`, `newerFormat` or `tooLarge`.
    package init(_ data: Data) throws(SigningError) {
        let name = "Package.resolved"
        guard data.count <= Self.limit else { throw SigningError(.tooLarge, "\(name) is too large") }
        struct Head: Decodable { var version: Int }
        switch try StrictJSON.decode(Head.self, from: data, named: name).version {
        case 1:
            let file = try StrictJSON.decode(First.self, from: data, named: name)
            self.init(
                file.object.pins.map { pin in
                    Package(
                        identity: pin.package, location: pin.repositoryURL, version: pin.state.version,
                        branch: pin.state.branch, revision: pin.state.revision)
                })
        case 2, 3:
            let file = try StrictJSON.decode(Second.self, from: data, named: name)
            self.init(
                file.pins.map { pin in
                    Package(
                        identity: pin.identity, location: pin.location ?? "", version: pin.state.version,
                        branch: pin.state.branch, revision: pin.state.revision)
                })
        case let version:
            throw SigningError(
                .newerFormat, "\(name) has the version \(version), and 1 to 3 are read: use a newer pipectl")
        }
    }

    package init(_ packages: [Package]) {
        var seen: Set<String> = []
        self.packages = packages.sorted { ($0.url, $0.identity) < ($1.url, $1.identity) }
            .filter { seen.insert($0.url).inserted }
    }

    private struct State: Decodable {
        var version: String?
        var branch: String?
        var revision: String?
    }

    private struct First: Decodable {
        struct Object: Decodable { var pins: [Pin] }
        struct Pin: Decodable {
            var package: String
            var repositoryURL: String
            var state: State
        }
        var object: Object
    }

    private struct Second: Decodable {
        struct Pin: Decodable {
            var identity: String
            var location: String?
            var state: State
        }
        var pins: [Pin]
    }
}

enum PackageURL {
    /// Text within a package URL: only letters, digits, `.`, `-`, `_` and `~` stay.
    static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: String(UnicodeScalar(byte))
            default: "%" + String(hexadecimal: [byte]).uppercased()
            }
        }.joined()
    }
}
