import Foundation

/// The checks of one file, in the making.
struct FileVerification {
    private let path: String
    private let name: String
    private let folder: String
    private let trusted: TrustedKeys
    private let fileLimit: Int64
    private var digests: FileDigests?
    private var signers: [KeyID] = []
    private var isSigned = false
    /// Whether the list of the release is not signed yet, so that only the caller's own list counts.
    private var isDraft = false
    /// The first signature that could not be checked, because its key is not trusted.
    private var unknownKey: SigningError?
    private var checks: [ReleaseCheck] = []

    /// The list of the release, once a trusted key is known to have signed it.
    private(set) var manifest: ReleaseManifest?
    private(set) var claims = ReleaseClaims()

    init(_ path: String, _ trusted: TrustedKeys, _ fileLimit: Int64) {
        self.path = path
        self.trusted = trusted
        self.fileLimit = fileLimit
        name = (path as NSString).lastPathComponent
        folder = (path as NSString).deletingLastPathComponent
    }

    var verdict: FileVerdict {
        FileVerdict(
            file: path, sha256: digests?.sha256Text, bytes: digests?.bytes,
            accepted: (isSigned || isDraft) && !checks.contains { $0.state == .failed }, signedBy: signers,
            version: claims.version, commit: claims.commit, repository: claims.repository, checks: checks)
    }

    mutating func add(_ check: ReleaseCheck) { checks.append(check) }

    private mutating func pass(_ name: ReleaseCheck.Name, _ sentence: String) {
        add(ReleaseCheck(name: name, state: .passed, code: nil, sentence: sentence))
    }

    private mutating func absent(_ name: ReleaseCheck.Name, _ sentence: String) {
        add(ReleaseCheck(name: name, state: .absent, code: nil, sentence: sentence))
    }

    private mutating func fail(_ name: ReleaseCheck.Name, _ code: SigningError.Code, _ sentence: String) {
        add(ReleaseCheck(name: name, state: .failed, code: code.rawValue, sentence: sentence))
    }

    /// An error of a side file. A key that is not trusted fails nothing by itself, since its signature proves nothing
    /// and another one may be trusted; without another one the file is refused as unsigned.
    private mutating func refuse(_ name: ReleaseCheck.Name, _ file: String, _ error: SigningError) {
        if error.code == .unknownKey {
            unknownKey = unknownKey ?? error
            add(
                ReleaseCheck(
                    name: name, state: .absent, code: error.code.rawValue, sentence: "\(file): \(error.description)."))
        } else {
            fail(name, error.code, "\(file): \(error.description).")
        }
    }

    private mutating func trust(_ key: PublicKey) {
        isSigned = true
        if !signers.contains(key.id) { signers.append(key.id) }
    }

    private func beside(_ file: String) -> String { (folder as NSString).appendingPathComponent(file) }

    /// The content of a file beside this one. A file that can't be read fails the check.
    private mutating func content(_ file: String, _ limit: Int, for check: ReleaseCheck.Name) -> Data? {
        do throws(SigningError) {
            if let data = try ReleaseBytes.content(of: beside(file), limit: limit) { return data }
            absent(check, "There is no \(file).")
        } catch { refuse(check, file, error) }
        return nil
    }

    // MARK: The file and its list

    /// Reads the file. Returns false if there is nothing to go on with.
    mutating func readFile() -> Bool {
        guard name.isPlainName else {
            fail(.file, .badName, "The name of the file has characters that no file of a release has.")
            return false
        }
        do throws(SigningError) {
            digests = try ReleaseBytes.digests(of: path, limit: fileLimit)
            if let digests {
                pass(.file, "It has \(digests.bytes) bytes and the SHA-256 \(digests.sha256Text).")
                return true
            }
            fail(.file, .missing, "There is no such file.")
        } catch { fail(.file, error.code, "It can't be read: \(error.description).") }
        return false
    }

    mutating func readManifest() {
        let file = ReleaseManifest.fileName
        guard let data = content(file, ReleaseManifest.limit, for: .manifest) else { return }
        do throws(SigningError) {
            let (manifest, keys) = try ReleaseManifest.read(data, among: trusted)
            self.manifest = manifest
            claims.add(
                .init(
                    source: file, version: manifest.version, commit: manifest.commit, repository: manifest.repository))
            pass(
                .manifest,
                "\(file) lists the release \(manifest.version) of \(manifest.repository), and the key "
                    + "\(Self.names(keys)) signed it.")
            checkListed(manifest, keys, isWholeFile: FileDigests(of: data) == digests)
        } catch { refuse(.manifest, file, error) }
    }

    private mutating func checkListed(_ manifest: ReleaseManifest, _ keys: [PublicKey], isWholeFile: Bool) {
        guard let digests else { return }
        if name == ReleaseManifest.fileName {
            // Both were read from the same place; if it was replaced meanwhile, the signature is of other bytes.
            guard isWholeFile else { return fail(.listed, .otherDigest, "The list was replaced while it was read.") }
            for key in keys { trust(key) }
            return
        }
        let digest =
            name == ReleaseManifest.notesName
            ? manifest.notesSHA256 : manifest.files.first { $0.name == name }?.sha256
        guard let digest else {
            return fail(.listed, .notListed, "The release \(manifest.version) has no file of this name.")
        }
        let size = manifest.files.first { $0.name == name }?.bytes
        guard digest == digests.sha256Text, size ?? digests.bytes == digests.bytes else {
            let code: SigningError.Code = name == ReleaseManifest.notesName ? .otherNotes : .otherDigest
            return fail(
                .listed, code, "It is not the file of this name in the release \(manifest.version): get it again.")
        }
        pass(.listed, "It is the file of this name in the release \(manifest.version).")
        for key in keys { trust(key) }
    }

    /// Takes the caller's list of a release that nobody has signed yet.
    mutating func takeDraft(_ list: ReleaseManifest) {
        (isDraft, manifest) = (true, list)
        claims.add(.init(source: "draft", version: list.version, commit: list.commit, repository: list.repository))
        absent(.manifest, "The release is a draft: its list of files is signed when publishing begins.")
    }

    /// Compares the file with the list of a draft.
    mutating func checkDraftFile() {
        if let manifest { checkListed(manifest, [], isWholeFile: true) }
    }

    private static func names(_ keys: [PublicKey]) -> String { keys.map(\.id.description).joined(separator: ", ") }

    mutating func checkChecksums() {
        let file = Checksums.fileName
        guard name != file, name != ReleaseManifest.fileName, let digests,
            let data = content(file, Checksums.limit, for: .checksums)
        else { return }
        do throws(SigningError) {
            switch try Checksums(data).digests[name] {
            case nil: absent(.checksums, "\(file) has no line for it.")
            case digests.sha256Text?:
                pass(
                    .checksums,
                    isGenuine(data, named: file)
                        ? "\(file) has the same digest, and a key that you trust signed it."
                        : "\(file) has the same digest. No key that you trust signed it: this finds damage, not forgery."
                )
            default: fail(.checksums, .otherDigest, "\(file) has another digest: the file is damaged or was replaced.")
            }
        } catch { refuse(.checksums, file, error) }
    }

    /// Whether a trusted key signed a list beside this file, in a file of its own or in the list of the release.
    private func isGenuine(_ data: Data, named list: String) -> Bool {
        let digests = FileDigests(of: data)
        if !isDraft, let listed = manifest?.files.first(where: { $0.name == list }) {
            return listed.sha256 == digests.sha256Text
        }
        func side(_ ending: String, _ limit: Int) -> Data? {
            try? ReleaseBytes.content(of: beside(list + ending), limit: limit)
        }
        if let data = side(".minisig", MinisignSignature.limit), let signature = try? MinisignSignature(data),
            (try? signature.signer(of: digests, among: trusted)) != nil
        {
            let comment = try? TrustedComment(signature.trustedComment)
            return comment.map { [nil, list].contains($0.file) } ?? false
        }
        guard let data = side(".sig", BlobSignature.limit) else { return false }
        return (try? BlobSignature(line: data).signer(of: digests, among: trusted)) != nil
    }

    // MARK: Signatures

    /// The files of signatures with an ending: the usual one, and those of further keys, whose names have the key's id.
    private func signatureFiles(_ ending: String) -> [(file: String, key: KeyID?)] {
        let known = trusted.keys.map(\.id) + trusted.revoked.keys.map(\.id) + (manifest?.keyIDs ?? [])
        let ids = trusted.revoked.ids.union(known).sorted { $0.description < $1.description }
        let further = ids.map { (file: SignatureFile.name(of: name, ending, by: $0), key: Optional($0)) }
        return [(name + ending, nil)] + further.filter { FileManager.default.fileExists(atPath: beside($0.file)) }
    }

    mutating func checkMinisign() {
        guard let digests else { return }
        for (file, _) in signatureFiles(SignatureFile.minisign) {
            guard let data = content(file, MinisignSignature.limit, for: .minisign) else { continue }
            do throws(SigningError) {
                let signature = try MinisignSignature(data)
                let key = try signature.signer(of: digests, among: trusted)
                let comment = try TrustedComment(signature.trustedComment)
                if let signed = comment.file, signed != name {
                    fail(
                        .minisign, .otherName,
                        "\(file): the key \(key.id) signed these bytes as \(signed), not as \(name).")
                    continue
                }
                claims.add(
                    .init(
                        source: file, version: comment.version, commit: comment.commit, repository: comment.repository))
                pass(.minisign, "The key \(key.id) signed it (minisign).")
                trust(key)
            } catch { refuse(.minisign, file, error) }
        }
    }

    mutating func checkCosign() {
        guard let digests else { return }
        var hints: [Data: KeyID] = [:]
        for (file, named) in signatureFiles(SignatureFile.bundle) {
            guard let data = content(file, BlobSignature.bundleLimit, for: .bundle) else { continue }
            do throws(SigningError) {
                let signature = try BlobSignature(bundle: data, of: digests)
                if let hint = signature.hint { hints[signature.bytes] = hint }
                let makers = makers([named, signature.hint])
                let key = try signature.signer(of: digests, among: trusted, makers: makers)
                pass(.bundle, "The key \(key.id) signed it (bundle of sigstore).")
                trust(key)
            } catch { refuse(.bundle, file, error) }
        }
        for (file, named) in signatureFiles(SignatureFile.cosign) {
            guard let data = content(file, BlobSignature.limit, for: .cosign) else { continue }
            do throws(SigningError) {
                let signature = try BlobSignature(line: data)
                // A bundle with the same signature says whose it is.
                let makers = makers([named, hints[signature.bytes]])
                let key = try signature.signer(of: digests, among: trusted, makers: makers)
                pass(.cosign, "The key \(key.id) signed it (cosign).")
                trust(key)
            } catch { refuse(.cosign, file, error) }
        }
    }

    /// The keys of which one made a signature of cosign: those that its file's name and its bundle say, else those that
    /// the signed list names and that have no file of their own. Nil if that is not known.
    private func makers(_ named: [KeyID?]) -> Set<KeyID>? {
        let named = named.compactMap(\.self)
        if !named.isEmpty { return Set(named) }
        guard let manifest, !manifest.keyIDs.isEmpty else { return nil }
        let own = signatureFiles(SignatureFile.cosign).compactMap(\.key)
        return Set(manifest.keyIDs).subtracting(own)
    }

    mutating func checkProvenance() {
        guard let digests else { return }
        let own = name + ".intoto.jsonl"
        let shared = "provenance.intoto.jsonl"
        // The provenance of a release is no provenance of itself, nor of the list that has its digest.
        if [shared, ReleaseManifest.fileName, ReleaseManifest.notesName, Checksums.fileName].contains(name) { return }
        if isListedSignature { return absent(.provenance, "It is a signature, and no provenance speaks of those.") }
        let file = FileManager.default.fileExists(atPath: beside(own)) ? own : shared
        guard let data = content(file, Envelope.limit, for: .provenance) else { return }
        do throws(SigningError) {
            let (found, keys) = try statements(Envelope.read(data, named: file))
            let fitting = found.filter { $0.subject.contains { $0.digest["sha256"] == digests.sha256Text } }
            guard let first = fitting.first else {
                return fail(.provenance, .notListed, "\(file) is signed, but says nothing of this file.")
            }
            guard
                fitting.allSatisfy({
                    $0.subject.contains { $0.name == name && $0.digest["sha256"] == digests.sha256Text }
                })
            else { return fail(.provenance, .otherName, "\(file) has these bytes under another name.") }
            for statement in fitting {
                let parameters = statement.predicate.buildDefinition.externalParameters
                claims.add(
                    .init(
                        source: file, version: parameters.version, commit: statement.commit,
                        repository: parameters.repository))
            }
            let parameters = first.predicate.buildDefinition.externalParameters
            pass(
                .provenance,
                "The key \(Self.names(keys)) signed that the workflow \(parameters.workflow) of \(parameters.repository) "
                    + "made it from the commit \(first.commit ?? "that it does not name").")
            for key in keys { trust(key) }
        } catch { refuse(.provenance, file, error) }
    }

    /// Whether the list, which a trusted key signed, names it beside the file that it is the signature of.
    private var isListedSignature: Bool {
        guard let listed = manifest?.files.map(\.name), listed.contains(name) else { return false }
        return SignatureFile.signed(by: name).contains(where: listed.contains)
    }

    /// The statements in envelopes that trusted keys have signed: at least one envelope.
    private func statements(
        _ envelopes: [Envelope]
    ) throws(SigningError) -> (found: [Provenance], keys: [PublicKey]) {
        var found: [Provenance] = []
        var keys: [PublicKey] = []
        var unknown: SigningError?
        for envelope in envelopes {
            do throws(SigningError) {
                let key = try envelope.signer(among: trusted)
                guard let statement = try Provenance.read(envelope) else { continue }
                found.append(statement)
                if !keys.contains(key) { keys.append(key) }
            } catch {
                guard error.code == .unknownKey else { throw error }
                unknown = error
            }
        }
        if found.isEmpty {
            throw unknown ?? SigningError(.wrongKind, "no envelope has a provenance of SLSA's version 1")
        }
        return (found, keys)
    }

    // MARK: The whole

    mutating func checkNotes() {
        guard let manifest, name != ReleaseManifest.notesName else { return }
        let file = ReleaseManifest.notesName
        do throws(SigningError) {
            guard let notes = try ReleaseBytes.digests(of: beside(file), limit: 16 << 20) else {
                return absent(.notes, "There is no \(file).")
            }
            guard let digest = manifest.notesSHA256, digest == notes.sha256Text else {
                return fail(.notes, .otherNotes, "\(file) has not the notes of the release \(manifest.version).")
            }
            pass(.notes, "\(file) has the notes of this release.")
        } catch { refuse(.notes, file, error) }
    }

    mutating func checkAgreement() {
        guard claims.claims.count > 1 else { return }
        if let field = claims.contradiction {
            fail(
                .agreement, .contradiction,
                "\(claims.claims.map(\.source).joined(separator: " and ")) name a different \(field): they are of two "
                    + "releases. Get all files of one.")
        } else {
            pass(.agreement, "Everything that was signed says the same.")
        }
    }

    mutating func checkSignature() {
        if isSigned {
            pass(.signature, "A key that you trust signed it: \(signers.map(\.description).joined(separator: ", ")).")
        } else if let unknownKey {
            fail(.signature, unknownKey.code, "No key that you trust signed it, only another one.")
        } else {
            fail(.signature, .unsigned, "No key that you trust signed it: nothing is known of where it comes from.")
        }
    }

    mutating func checkFolder(_ path: String, _ manifest: ReleaseManifest) {
        let listed = Set(manifest.files.map(\.name))
        guard let found = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            return fail(.folder, .unreadable, "The folder can't be read.")
        }
        let missing = listed.subtracting(found)
        if let first = missing.min() {
            return fail(.folder, .missing, "\(missing.count) files of the release are not here, \(first) first.")
        }
        let others = found.filter { !Self.mayBeBeside($0, listed) }
        if let first = others.min() {
            return fail(.folder, .extraFile, "\(others.count) files here are not of the release, \(first) first.")
        }
        pass(.folder, "The folder has the \(listed.count) files of the release and no others.")
    }

    /// Whether a file need not be listed: it is checked by itself, or with the file that it belongs to.
    private static func mayBeBeside(_ name: String, _ listed: Set<String>) -> Bool {
        if listed.contains(name) { return true }
        let own = [ReleaseManifest.fileName, ReleaseManifest.notesName]
        if (own + [Checksums.fileName, "provenance.intoto.jsonl"]).contains(name) { return true }
        let statement = ".intoto.jsonl"
        let signed =
            name.hasSuffix(statement) ? [String(name.dropLast(statement.count))] : SignatureFile.signed(by: name)
        return signed.contains { listed.contains($0) || own.contains($0) }
    }
}
