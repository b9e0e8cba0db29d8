internal import Crypto
package import Foundation

/// What a released program was built of, as a bill of materials. The same input gives the same bytes: identifiers follow
/// from the content, and the time is given.
package struct PartsList: Sendable {
    /// What was released.
    package var name: String
    package var version: String
    /// Its repository, as a URL or as host and path.
    package var repository: String
    package var commit: String
    /// The time of the release.
    package var madeAt: Date
    /// The version of pipectl.
    package var toolVersion: String
    package var packages: [ResolvedPackages.Package]

    package init(
        name: String, version: String, repository: String, commit: String, madeAt: Date, toolVersion: String,
        resolved: ResolvedPackages
    ) {
        self.name = name
        self.version = version
        self.repository = repository
        self.commit = commit
        self.madeAt = madeAt
        self.toolVersion = toolVersion
        packages = resolved.packages
    }

    private var root: ResolvedPackages.Package {
        .init(identity: name, location: repository, version: version, branch: nil, revision: commit)
    }

    private var time: String { madeAt.formatted(.iso8601) }

    /// A digest of the content, from which identifiers are made.
    private func digest(_ form: String) -> [UInt8] {
        let parts =
            [form, name, version, repository, commit, time, toolVersion]
            + packages.flatMap { [$0.url, $0.revision ?? "", $0.identity] }
        var hash = SHA256()
        for part in parts { hash.update(data: Data("\(part.utf8.count):\(part)".utf8)) }
        return Array(hash.finalize())
    }

    // MARK: SPDX

    /// SPDX 2.3 in JSON.
    package func spdx() throws -> Data {
        let rootID = "SPDXRef-Root"
        func package(_ package: ResolvedPackages.Package, _ id: String) -> SPDX.Package {
            SPDX.Package(
                id: id, name: package.identity, versionInfo: package.shownVersion,
                downloadLocation: package.source ?? "NOASSERTION",
                externalRefs: [.init(referenceLocator: package.url)])
        }
        let ids = packages.indices.map { "SPDXRef-Package-\($0 + 1)" }
        let relations =
            [
                SPDX.Relation(
                    spdxElementId: "SPDXRef-DOCUMENT", relationshipType: "DESCRIBES", relatedSpdxElement: rootID)
            ]
            + ids.map { .init(spdxElementId: rootID, relationshipType: "DEPENDS_ON", relatedSpdxElement: $0) }
        let digest = String(hexadecimal: digest("spdx"))
        return try StrictJSON.encode(
            SPDX(
                name: "\(name)-\(version)",
                documentNamespace:
                    "https://spdx.org/spdxdocs/\(PackageURL.escaped(name))-\(PackageURL.escaped(version))-\(digest)",
                creationInfo: .init(created: time, creators: ["Tool: pipectl-\(toolVersion)"]),
                packages: [package(root, rootID)] + zip(packages, ids).map(package),
                relationships: relations)) + [0x0A]
    }

    private struct SPDX: Encodable {
        struct Creation: Encodable {
            var created: String
            var creators: [String]
        }
        struct Reference: Encodable {
            var referenceCategory = "PACKAGE-MANAGER"
            var referenceType = "purl"
            var referenceLocator: String
        }
        struct Package: Encodable {
            enum CodingKeys: String, CodingKey {
                case name, versionInfo, downloadLocation, filesAnalyzed, licenseConcluded, licenseDeclared
                case copyrightText, externalRefs
                case id = "SPDXID"
            }
            var id: String
            var name: String
            var versionInfo: String?
            var downloadLocation: String
            var filesAnalyzed = false
            var licenseConcluded = "NOASSERTION"
            var licenseDeclared = "NOASSERTION"
            var copyrightText = "NOASSERTION"
            var externalRefs: [Reference]
        }
        struct Relation: Encodable {
            var spdxElementId: String
            var relationshipType: String
            var relatedSpdxElement: String
        }
        enum CodingKeys: String, CodingKey {
            case spdxVersion, dataLicense, name, documentNamespace, creationInfo, packages, relationships
            case id = "SPDXID"
        }
        var spdxVersion = "SPDX-2.3"
        var dataLicense = "CC0-1.0"
        var id = "SPDXRef-DOCUMENT"
        var name: String
        var documentNamespace: String
        var creationInfo: Creation
        var packages: [Package]
        var relationships: [Relation]
    }

    // MARK: CycloneDX

    /// CycloneDX 1.6 in JSON.
    package func cycloneDX() throws -> Data {
        func component(_ package: ResolvedPackages.Package, _ type: String) -> CycloneDX.Component {
            CycloneDX.Component(
                type: type, reference: package.url, name: package.identity, version: package.shownVersion,
                purl: package.url,
                pedigree: package.revision.map { .init(commits: [.init(uid: $0)]) },
                externalReferences: RepositoryAddress(package.location).map { [.init(url: "https://\($0)")] })
        }
        let root = component(root, "application")
        let parts = packages.map { component($0, "library") }
        let dependencies =
            [CycloneDX.Dependency(ref: root.reference, dependsOn: parts.map(\.reference))]
            + parts.map { .init(ref: $0.reference) }
        return try StrictJSON.encode(
            CycloneDX(
                serialNumber: "urn:uuid:\(uuid)",
                metadata: .init(
                    timestamp: time,
                    tools: .init(components: [.init(type: "application", name: "pipectl", version: toolVersion)]),
                    component: root),
                components: parts, dependencies: dependencies)) + [0x0A]
    }

    /// A UUID of version 8 (RFC 9562), which is for identifiers of one's own making.
    private var uuid: String {
        var bytes = Array(digest("cyclonedx").prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = String(hexadecimal: bytes)
        var parts: [Substring] = []
        var rest = digits[...]
        for length in [8, 4, 4, 4, 12] {
            parts.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return parts.joined(separator: "-")
    }

    private struct CycloneDX: Encodable {
        struct Tool: Encodable {
            var type: String
            var name: String
            var version: String
        }
        struct Tools: Encodable { var components: [Tool] }
        struct Commit: Encodable { var uid: String }
        struct Pedigree: Encodable { var commits: [Commit] }
        struct Link: Encodable {
            var type = "vcs"
            var url: String
        }
        struct Component: Encodable {
            enum CodingKeys: String, CodingKey {
                case type, name, version, purl, pedigree, externalReferences
                case reference = "bom-ref"
            }
            var type: String
            var reference: String
            var name: String
            var version: String?
            var purl: String
            var pedigree: Pedigree?
            var externalReferences: [Link]?
        }
        struct Dependency: Encodable {
            var ref: String
            var dependsOn: [String]?
        }
        struct Metadata: Encodable {
            var timestamp: String
            var tools: Tools
            var component: Component
        }
        enum CodingKeys: String, CodingKey {
            case bomFormat, specVersion, serialNumber, version, metadata, components, dependencies
            case schema = "$schema"
        }
        var schema = "http://cyclonedx.org/schema/bom-1.6.schema.json"
        var bomFormat = "CycloneDX"
        var specVersion = "1.6"
        var serialNumber: String
        var version = 1
        var metadata: Metadata
        var components: [Component]
        var dependencies: [Dependency]
    }
}
