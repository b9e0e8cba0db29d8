package import Foundation

/// All of a release in one signed list: what was built, from which commit, as which version, and every file of it.
///
/// A signature of a file says that the file is genuine. This says that the files belong together: without it an older
/// genuine file could take the place of a newer one, and notes could be those of another release.
package struct ReleaseManifest: Sendable, Hashable, Codable {
    /// The name of its file, which holds an envelope on each line, all with the same payload.
    package static let fileName = "release.json"
    /// The file of the notes beside it.
    package static let notesName = "NOTES.md"
    package static let payloadType = "application/vnd.pipectl.release+json"
    package static let schemaVersion = 1
    /// The longest file that is read, in bytes.
    package static let limit = 4 << 20
    private static let fileLimit = 10_000

    package struct File: Sendable, Hashable, Codable {
        package var name: String
        package var bytes: Int64
        /// In lower-case hexadecimal digits.
        package var sha256: String

        package init(name: String, bytes: Int64, sha256: String) {
            self.name = name
            self.bytes = bytes
            self.sha256 = sha256
        }

        /// A file with the digests that were made of it.
        package init(name: String, _ digests: FileDigests) {
            self.init(name: name, bytes: digests.bytes, sha256: digests.sha256Text)
        }
    }

    package var schemaVersion = Self.schemaVersion
    package var repository: String
    package var version: String
    /// The number of the build, which grows with each; nil without one.
    package var buildNumber: Int?
    package var tag: String?
    package var commit: String
    package var tree: String
    /// In whole seconds.
    package var madeAt: Date
    package var workflow: String
    package var runID: String
    /// Every file but this one and the notes.
    package var files: [File]
    /// The SHA-256 of the notes; nil without notes.
    package var notesSHA256: String?
    /// The keys that signed the release.
    package var keyIDs: [KeyID]

    enum CodingKeys: String, CodingKey {
        case schemaVersion, repository, version, buildNumber, tag, commit, tree, madeAt, workflow, files
        case runID = "runId"
        case notesSHA256 = "notesSha256"
        case keyIDs = "keyIds"
    }

    package init(
        repository: String, version: String, buildNumber: Int?, tag: String?, commit: String, tree: String,
        madeAt: Date, workflow: String, runID: String, files: [File], notesSHA256: String?, keyIDs: [KeyID]
    ) {
        self.repository = repository
        self.version = version
        self.buildNumber = buildNumber
        self.tag = tag
        self.commit = commit
        self.tree = tree
        self.madeAt = Date(timeIntervalSince1970: madeAt.timeIntervalSince1970.rounded(.down))
        self.workflow = workflow
        self.runID = runID
        self.files = files.sorted { $0.name < $1.name }
        self.notesSHA256 = notesSHA256
        self.keyIDs = keyIDs
    }

    /// The content of ``fileName``: an envelope of each signer.
    ///
    /// - Throws: ``SigningError`` if a field is not as it must be; what a signer throws.
    package func signed(by signers: [any Signer]) async throws -> Data {
        try check()
        let payload = try StrictJSON.encode(self)
        var envelopes: [Envelope] = []
        for signer in signers { envelopes.append(try await Envelope(payload, type: Self.payloadType, by: signer)) }
        return try Envelope.file(envelopes)
    }

    /// Reads the content of ``fileName`` and finds who signed it.
    ///
    /// - Returns: The manifest, and the trusted keys that signed it: at least one.
    /// - Throws: ``SigningError``.
    package static func read(
        _ data: Data, among trusted: TrustedKeys
    ) throws(SigningError) -> (manifest: ReleaseManifest, signers: [PublicKey]) {
        let envelopes = try Envelope.read(data, named: fileName)
        guard envelopes.count <= 16, Set(envelopes.map(\.payload)).count == 1, let payload = envelopes.first?.payload
        else { throw SigningError(.malformed, "\(fileName) has envelopes with different payloads") }
        guard envelopes.allSatisfy({ $0.payloadType == payloadType }) else {
            throw SigningError(.wrongKind, "\(fileName) has a payload of another type: it is no list of a release")
        }
        var signers: [PublicKey] = []
        var unknown: SigningError?
        for envelope in envelopes {
            do { signers.append(try envelope.signer(among: trusted)) } catch {
                // A key of somebody else proves nothing and harms nothing, as long as a trusted one signed, too.
                guard error.code == .unknownKey else { throw error }
                unknown = error
            }
        }
        if signers.isEmpty, let unknown { throw unknown }
        // Only now: the payload is foreign until a trusted key has signed it.
        return (try read(payload: payload), signers)
    }

    private static func read(payload: Data) throws(SigningError) -> ReleaseManifest {
        struct Head: Decodable { var schemaVersion: Int }
        let head = try StrictJSON.decode(Head.self, from: payload, named: fileName)
        guard head.schemaVersion == schemaVersion else {
            throw SigningError(
                .newerFormat,
                "\(fileName) has the form \(head.schemaVersion), and this pipectl reads \(schemaVersion): use a newer one"
            )
        }
        let manifest = try StrictJSON.decode(ReleaseManifest.self, from: payload, named: fileName)
        try manifest.check()
        return manifest
    }

    /// - Throws: ``SigningError`` with `malformed`, `badName` or `duplicateName`.
    private func check() throws(SigningError) {
        let texts = [repository, version, tag ?? "-", workflow, runID]
        guard texts.allSatisfy({ (1...1_000).contains($0.utf8.count) && $0.isPrintable }) else {
            throw SigningError(.malformed, "the list of the release has an empty, long or unprintable field")
        }
        guard [commit, tree].allSatisfy({ $0.isHexadecimal(40) || $0.isHexadecimal(64) }),
            notesSHA256?.isSHA256 != false, files.allSatisfy({ $0.sha256.isSHA256 && $0.bytes >= 0 }),
            files.count <= Self.fileLimit
        else { throw SigningError(.malformed, "the list of the release has a commit, digest or size that is none") }
        guard files.allSatisfy(\.name.isPlainName) else {
            throw SigningError(.badName, "the list of the release has a file with a folder in its name")
        }
        // Two names that differ in case are one file on many disks.
        guard Set(files.map { $0.name.lowercased() }).count == files.count,
            !files.contains(where: { [Self.fileName, Self.notesName].contains($0.name) })
        else { throw SigningError(.duplicateName, "the list of the release has a file twice") }
    }
}
