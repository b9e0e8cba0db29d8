import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import Signing

/// Looks for a version of pipectl that is newer than this one, at the address that a person gave.
///
/// What is there is only a hint: it is not verified here, and nothing is downloaded or installed.
package struct UpgradeCheck: Sendable {
    /// What is known of the newest version.
    package struct Finding: Sendable, Equatable, Codable {
        /// This pipectl's version.
        package var version: String
        /// The newest version at the address.
        package var newest: String
        package var isNewer: Bool
    }

    /// The largest list, in bytes.
    private static let mostBytes = 4 << 20

    /// A folder, a file, or an HTTP address.
    private let source: String
    private let version: String

    /// - Parameters:
    ///   - source: A folder with releases, or the path or URL of a `release.json` or of a list of releases.
    ///   - version: This pipectl's version.
    package init(source: String, version: String) {
        self.source = source
        self.version = version
    }

    /// Compares this version with the newest one there.
    ///
    /// - Throws: ``DeliveryProblem``: `unreachable` without an answer, `refused` if the server asks for credentials,
    ///   `invalid` if what is there names no version.
    package func run() async throws -> Finding {
        guard let own = OrderedVersion(version) else {
            throw DeliveryProblem(.invalid, "this pipectl has the version \"\(version)\", which has no order")
        }
        let names = try await names()
        // Not every list marks candidates. They are for who has one.
        let found = names.compactMap(OrderedVersion.init).filter { own.isCandidate || !$0.isCandidate }.max()
        guard let found else {
            throw DeliveryProblem(
                .invalid,
                "no release of pipectl for this system is at \(Self.shown(source)); give its release.json, its list of "
                    + "releases, or a folder with its packages"
            )
        }
        let newest = found.description.hasPrefix("v") ? String(found.description.dropFirst()) : found.description
        return Finding(version: version, newest: newest, isNewer: own < found)
    }

    private func names() async throws -> [String] {
        if source.hasPrefix("http://") || source.hasPrefix("https://") {
            return try Self.versions(in: await download())
        }
        let path = source.hasPrefix("file://") ? String(source.dropFirst("file://".count)) : source
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw DeliveryProblem(.unreachable, "\(path) is not there; --from names a folder, a file or an http(s) URL")
        }
        guard isFolder.boolValue else { return try Self.versions(in: read(path)) }
        let entries: [String]
        do { entries = try FileManager.default.contentsOfDirectory(atPath: path) } catch {
            throw DeliveryProblem(.refused, "\(path) can't be read: \(error.localizedDescription)")
        }
        return try entries.filter(Self.isForThisSystem).compactMap(Self.version(ofFile:))
            + (entries.contains("release.json") ? Self.versions(in: read("\(path)/release.json")) : [])
    }

    private func read(_ path: String) throws -> Data {
        guard let handle = FileHandle(forReadingAtPath: path),
            let data = try? handle.read(upToCount: Self.mostBytes + 1)
        else { throw DeliveryProblem(.refused, "\(path) can't be read") }
        guard data.count <= Self.mostBytes else { throw Self.tooLarge(path) }
        return data
    }

    private func download() async throws -> Data {
        let configuration = HTTPClient.Configuration(
            redirectConfiguration: .follow(max: 3, allowCycles: false),
            timeout: .init(connect: .seconds(10), read: .seconds(20)))
        let http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: Result<Data, any Error>
        do { result = .success(try await answer(http)) } catch { result = .failure(error) }
        try? await http.shutdown()
        return try result.get()
    }

    private func answer(_ http: HTTPClient) async throws -> Data {
        let shown = Self.shown(source)
        do {
            var request = HTTPClientRequest(url: source)
            request.headers.add(name: "User-Agent", value: "pipectl")
            request.headers.add(name: "Accept", value: "application/json")
            let response = try await http.execute(request, timeout: .seconds(20))
            switch response.status.code {
            case 200: break
            case 401, 403:
                throw DeliveryProblem(
                    .refused,
                    "\(shown) refuses an answer without credentials (\(response.status.code)); download the list "
                        + "yourself and give its path")
            default:
                throw DeliveryProblem(
                    .unreachable,
                    "\(shown) answers \(response.status.code) instead of a list of releases; check --from")
            }
            return Data(try await response.body.collect(upTo: Self.mostBytes).readableBytesView)
        } catch let problem as DeliveryProblem {
            throw problem
        } catch is NIOTooManyBytesError {
            throw Self.tooLarge(shown)
        } catch {
            try Task.checkCancellation()
            throw DeliveryProblem(
                .unreachable,
                "no answer from \(shown). Try again when this machine is online, or give the path of a copy")
        }
    }

    private static func tooLarge(_ what: String) -> DeliveryProblem {
        DeliveryProblem(.invalid, "\(what) is larger than \(mostBytes >> 20) MiB: it is no list of releases")
    }

    /// An address without its user, password and query, which may be secret.
    private static func shown(_ source: String) -> String {
        guard var parts = URLComponents(string: source), parts.scheme != nil else { return source }
        (parts.user, parts.password, parts.query, parts.fragment) = (nil, nil, nil, nil)
        return parts.string ?? "the address"
    }

    /// The version in the name of a package or tarball: `pipectl-1.2.0-linux-x86_64.tar.gz`, `pipectl_1.2.0_amd64.deb`. Nil for
    /// a candidate, such as `pipectl-1.2.0-rc1.tar.gz`.
    static func version(ofFile name: String) -> String? {
        guard let match = name.wholeMatch(of: /pipectl[-_]([0-9][0-9A-Za-z.]*)([-_+].*)?\.(tar\.gz|deb)/) else {
            return nil
        }
        let rest = match.2 ?? ""
        if rest.firstMatch(of: /^-(alpha|beta|rc|pre|dev)/) != nil { return nil }
        return String(match.1)
    }

    /// What names of packages for other systems have: `pipectl-1.2.0-macos-arm64.tar.gz`, `pipectl_1.2.0_amd64.deb`.
    static let foreign: [String] = {
        #if os(macOS)
            let systems = ["linux", ".deb"]
        #else
            let systems = ["macos"]
        #endif
        #if arch(arm64)
            return systems + ["x86_64", "amd64"]
        #else
            return systems + ["arm64", "aarch64"]
        #endif
    }()

    private static func isForThisSystem(_ name: String) -> Bool { !foreign.contains { name.contains($0) } }

    /// Whether a release of these files is one of pipectl that this system can install.
    private static func hasPackage(_ files: [String]) -> Bool {
        files.contains { $0.wholeMatch(of: /pipectl[-_].*\.(tar\.gz|deb)/) != nil && isForThisSystem($0) }
    }

    /// The versions that a `release.json` or a list of releases names; drafts and versions before a release are left out.
    static func versions(in data: Data) throws(DeliveryProblem) -> [String] {
        let decoder = JSONDecoder()
        // A signed release.json has an envelope on each line, all with the same payload.
        let first = Data(data.prefix { $0 != UInt8(ascii: "\n") })
        if let envelope = try? decoder.decode(Sealed.self, from: first),
            let payload = Data(base64Encoded: envelope.payload),
            let item = try? decoder.decode(Item.self, from: payload)
        {
            let content = try? decoder.decode(Content.self, from: payload)
            return content.map { hasPackage($0.files.map(\.name)) } ?? true ? [item.name].compactMap { $0 } : []
        }
        if let items = try? decoder.decode([Item].self, from: data) { return items.compactMap(\.name) }
        if let list = try? decoder.decode(Listing.self, from: data) { return list.releases.compactMap(\.name) }
        if let item = try? decoder.decode(Item.self, from: data) { return [item.name].compactMap { $0 } }
        throw DeliveryProblem(.invalid, "the answer is neither a release.json nor a list of releases")
    }

    private struct Sealed: Decodable { var payload: String }
    private struct Content: Decodable {
        struct File: Decodable { var name: String }
        var files: [File]
    }
    private struct Listing: Decodable { var releases: [Item] }

    /// A release as pipectl, GitHub, GitLab and Gitea name it.
    private struct Item: Decodable {
        var version: String?
        var tag: String?
        var isDraft: Bool?
        var isPreRelease: Bool?

        enum CodingKeys: String, CodingKey {
            case version
            case tag = "tag_name"
            case isDraft = "draft"
            case isPreRelease = "prerelease"
        }

        var name: String? { isDraft == true || isPreRelease == true ? nil : version ?? tag }
    }
}
