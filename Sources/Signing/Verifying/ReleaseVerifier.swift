import Foundation

/// Decides whether files of a release are what they should be, from the files beside them and keys that the caller
/// trusts. It needs no network, and reads with bounds.
///
/// Everything that is there must be right. A file is accepted if a trusted key has signed it, whichever form that has,
/// and everything that was expected is said by something signed. What is absent proves nothing.
///
/// It blocks as long as reading the files takes: call it off the cooperative pool.
package struct ReleaseVerifier: Sendable {
    /// What the caller knows of the release. Without it, an old genuine release passes.
    package struct Expectations: Sendable {
        package var version: String?
        /// The commit, or at least seven of its first digits.
        package var commit: String?
        package var repository: String?
        /// The oldest version that is accepted.
        package var atLeast: OrderedVersion?

        package init(
            version: String? = nil, commit: String? = nil, repository: String? = nil, atLeast: OrderedVersion? = nil
        ) {
            self.version = version
            self.commit = commit
            self.repository = repository
            self.atLeast = atLeast
        }
    }

    package var trusted: TrustedKeys
    package var expected: Expectations
    /// The largest file that is read, in bytes.
    package var fileLimit: Int64 = 64 << 30

    package init(_ trusted: TrustedKeys, expecting expected: Expectations = Expectations()) {
        self.trusted = trusted
        self.expected = expected
    }

    /// Looks at one file and the files beside it: `FILE.minisig`, `FILE.sig`, `FILE.sigstore.json`, the same with the id
    /// of a further key as in `FILE.KEYID.minisig`, `FILE.intoto.jsonl` or `provenance.intoto.jsonl`, `SHA256SUMS`, `release.json` and `NOTES.md`.
    package func verify(file path: String) -> FileVerdict {
        var work = FileVerification(path, trusted, fileLimit)
        guard work.readFile() else { return work.verdict }
        work.readManifest()
        work.checkChecksums()
        work.checkMinisign()
        work.checkCosign()
        work.checkProvenance()
        work.checkNotes()
        work.checkAgreement()
        work.checkSignature()
        for check in work.claims.checks(of: expected) { work.add(check) }
        return work.verdict
    }

    /// Looks at a folder with a whole release: its list, that no file is missing or more than it has, and every file.
    ///
    /// - Returns: The verdict on the folder, then one on each file that is listed and there.
    package func verify(folder path: String) -> [FileVerdict] {
        let list = (path as NSString).appendingPathComponent(ReleaseManifest.fileName)
        var work = FileVerification(list, trusted, fileLimit)
        guard work.readFile() else { return [work.verdict] }
        work.readManifest()
        work.checkNotes()
        work.checkSignature()
        for check in work.claims.checks(of: expected) { work.add(check) }
        guard let manifest = work.manifest else { return [work.verdict] }
        work.checkFolder(path, manifest)
        let here = manifest.files.map { (path as NSString).appendingPathComponent($0.name) }
            .filter { FileManager.default.fileExists(atPath: $0) }
        return [work.verdict] + here.map { verify(file: $0) }
    }
}

extension ReleaseVerifier {
    /// Looks at a folder with a release whose list is not signed yet: that it has the files of the caller's own list, and
    /// no others. Signatures of the files are checked where a key is trusted.
    ///
    /// - Returns: The verdict on the folder, then one on each file that is listed and there. Accepted is what is as the
    ///   list says, since nobody has signed that yet.
    package func verify(draft list: ReleaseManifest, in path: String) -> [FileVerdict] {
        var work = FileVerification(path, trusted, fileLimit)
        work.takeDraft(list)
        work.checkFolder(path, list)
        for check in work.claims.checks(of: expected) { work.add(check) }
        let here = list.files.map { (path as NSString).appendingPathComponent($0.name) }
            .filter { FileManager.default.fileExists(atPath: $0) }
        let files = here.map { verify(draft: list, file: $0) }
        if !trusted.keys.isEmpty, files.allSatisfy(\.signedBy.isEmpty) {
            work.add(
                ReleaseCheck(
                    name: .signature, state: .failed, code: SigningError.Code.unknownKey.rawValue,
                    sentence: "No file is signed by a key that you trust."))
        }
        return [work.verdict] + files
    }

    private func verify(draft list: ReleaseManifest, file path: String) -> FileVerdict {
        var work = FileVerification(path, trusted, fileLimit)
        guard work.readFile() else { return work.verdict }
        work.takeDraft(list)
        work.checkDraftFile()
        guard !trusted.keys.isEmpty else { return work.verdict }
        work.checkMinisign()
        work.checkCosign()
        work.checkProvenance()
        return work.verdict
    }
}

/// What signed statements say of a file.
struct ReleaseClaims {
    struct Claim {
        /// The file that says it.
        var source: String
        var version: String?
        var commit: String?
        var repository: String?
    }

    private(set) var claims: [Claim] = []

    mutating func add(_ claim: Claim) { claims.append(claim) }

    var version: String? { claims.lazy.compactMap(\.version).first }
    var commit: String? { claims.lazy.compactMap(\.commit).first }
    var repository: String? { claims.lazy.compactMap(\.repository).first }

    /// The first field of which two statements say different things.
    var contradiction: String? {
        if Set(claims.compactMap(\.version)).count > 1 { return "version" }
        if Set(claims.compactMap(\.commit)).count > 1 { return "commit" }
        if Set(claims.compactMap { $0.repository.map(Self.address) }).count > 1 { return "repository" }
        return nil
    }

    private static func address(_ text: String) -> String { RepositoryAddress(text)?.description ?? text }

    /// A check for each thing that is expected.
    func checks(of expected: ReleaseVerifier.Expectations) -> [ReleaseCheck] {
        var checks: [ReleaseCheck] = []
        if let wanted = expected.version {
            checks.append(
                check(.version, "version \(wanted)", version, .otherVersion) { $0 == wanted || "v" + $0 == wanted })
        }
        if let least = expected.atLeast {
            checks.append(
                check(.atLeast, "at least version \(least)", version, .olderVersion) {
                    OrderedVersion($0).map { $0 >= least } ?? false
                })
        }
        if let wanted = expected.commit {
            let digits = wanted.lowercased()
            checks.append(
                check(.commit, "commit \(wanted)", commit, .otherCommit) {
                    digits.utf8.count >= 7 && $0.hasPrefix(digits)
                })
        }
        if let wanted = expected.repository {
            checks.append(
                check(.repository, "repository \(wanted)", repository, .otherRepository) {
                    Self.address($0) == Self.address(wanted)
                })
        }
        return checks
    }

    private func check(
        _ name: ReleaseCheck.Name, _ wanted: String, _ claim: String?, _ code: SigningError.Code,
        _ fits: (String) -> Bool
    ) -> ReleaseCheck {
        guard let claim else {
            return ReleaseCheck(
                name: name, state: .failed, code: SigningError.Code.unproven.rawValue,
                sentence: "You asked for \(wanted), and nothing that a trusted key signed says which it is.")
        }
        guard fits(claim) else {
            return ReleaseCheck(
                name: name, state: .failed, code: code.rawValue,
                sentence: "You asked for \(wanted), and this is \(claim). Get the right one, or ask for this one.")
        }
        return ReleaseCheck(name: name, state: .passed, code: nil, sentence: "It is \(wanted), as you asked.")
    }
}
