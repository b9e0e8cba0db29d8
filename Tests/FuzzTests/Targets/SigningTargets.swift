import Foundation
import TestBasics
import TestSupport

@testable import Signing

/// Readers of keys, signatures and lists of releases. What they are given may come from anywhere.
extension FuzzTarget {
    static let signing: [FuzzTarget] = [
        .pure(
            "signature-key",
            words: ["-----BEGIN PUBLIC KEY-----\n", "\n-----END PUBLIC KEY-----\n", "untrusted comment: ", "RWQ", "#"],
            limit: 64 << 10,
            corpus: {
                let keys = [PrivateKey(new: .ed25519), PrivateKey(new: .p256)]
                return try keys.flatMap { [Array($0.publicKey.pem.utf8), Array($0.pem.utf8)] }
                    + [Array(keys[0].publicKey.minisignText().utf8), Array(keys[0].minisignText().utf8)]
            }
        ) { bytes, _ in
            let text = String(decoding: bytes, as: UTF8.self)
            if let key = try reading({ () throws(SigningError) in try PublicKey(text) }) {
                try demand(try PublicKey(key.pem).isSame(as: key), "a key is another one as PEM")
            }
            // Without a passphrase: deriving a key from one takes longer than an input may.
            _ = try reading { () throws(SigningError) in try PrivateKey(text) }
            _ = try reading { () throws(SigningError) in try RevokedKeys(text) }
        },
        .pure(
            "minisig",
            words: ["untrusted comment: ", "trusted comment: ", "RUQ", "RWQ", "\tfile:", "\tversion:", "\n", "\r\n"],
            limit: 32 << 10, corpus: { Corpus.texts(minisig) }
        ) { bytes, _ in
            guard
                let signature = try reading({ () throws(SigningError) in try MinisignSignature(Data(bytes)) })
            else { return }
            let again = try MinisignSignature(Data(signature.text.utf8))
            try demand(again == signature, "a signature is another one when it is written and read")
            try demand(!signature.trustedComment.contains("\n"), "a trusted comment has two lines")
            _ = try reading { () throws(SigningError) in try TrustedComment(signature.trustedComment) }
        },
        .pure(
            "blob-signature", words: ["\"publicKey\":{}", "\"tlogEntries\":[]", "SHA2_256", "v0.3", "\"certificate\""],
            isJSON: true, limit: 300 << 10, corpus: { Corpus.texts(bundle, "MEUCIQ==\n") }
        ) { bytes, _ in
            _ = try reading { () throws(SigningError) in try BlobSignature(line: Data(bytes)) }
            let file = FileDigests(of: Data("test".utf8))
            _ = try reading { () throws(SigningError) in try BlobSignature(bundle: Data(bytes), of: file) }
        },
        .pure(
            "envelope",
            words: ["\"payload\":", "\"payloadType\":", "\"signatures\":[{", "\"keyid\":", "\"sig\":", "\n"],
            isJSON: true,
            corpus: {
                Corpus.texts(
                    envelope(statement, Provenance.payloadType), envelope(manifest, ReleaseManifest.payloadType))
            }
        ) { bytes, _ in
            let found = try reading { () throws(SigningError) in try Envelope.read(Data(bytes), named: "it") }
            for envelope in found ?? [] {
                _ = try reading { () throws(SigningError) in try Provenance.read(envelope) }
            }
            // Nobody has signed it, so it is never believed.
            let trusted = TrustedKeys([PrivateKey(new: .ed25519).publicKey])
            let read = try reading { () throws(SigningError) in try ReleaseManifest.read(Data(bytes), among: trusted) }
            try demand(read == nil, "a list that nobody signed is believed")
        },
        .pure(
            "strict-json", words: ["\\u0061", "\\ud83d\\ude00", "\\ud800", "{\"a\":1,\"a\":2}", "1e400", "-0"],
            isJSON: true,
            corpus: { Corpus.texts(statement, manifest, #"{"a":{"b":[1,-0.5e3,true,null,"\u00e9\n"]},"c":{"b":""}}"#) }
        ) { bytes, _ in
            let data = Data(bytes)
            let isRead = try reading({ () throws(SigningError) in try StrictJSON.check(data, named: "it") }) != nil
            guard isRead else { return }
            let again = try? JSONSerialization.jsonObject(with: data, options: [.fragmentsAllowed])
            // A number that no Double can hold is JSON, but Foundation does not take it.
            try demand(
                again != nil || bytes.contains(UInt8(ascii: "e")) || bytes.contains(UInt8(ascii: "E"))
                    || bytes.count > 300, "JSON is read that Foundation does not read")
        },
        .pure("sha256sums", words: ["  ", " *", "./", "../", "\n"], corpus: { Corpus.texts(sums) }) { bytes, _ in
            guard let list = try reading({ () throws(SigningError) in try Checksums(Data(bytes)) }) else { return }
            try demand(
                try Checksums(Data(list.text.utf8)) == list, "digests are other ones when they are written and read")
            try demand(list.digests.keys.allSatisfy(\.isPlainName), "a name has a folder")
        },
        .pure(
            "package-resolved",
            words: ["\"version\":1", "\"version\":3", "\"location\":", "git@", "://", ".git", "%00"], isJSON: true,
            corpus: { Corpus.texts(resolved, resolvedFirst) }
        ) { bytes, _ in
            guard let found = try reading({ () throws(SigningError) in try ResolvedPackages(Data(bytes)) }) else {
                return
            }
            for package in found.packages {
                try demand(
                    package.url.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "a package URL has other than ASCII")
            }
            let list = PartsList(
                name: "n", version: "1", repository: "git.example.com/o/n", commit: "c",
                madeAt: Date(timeIntervalSince1970: 0),
                toolVersion: "1", resolved: found)
            for text in try [list.spdx(), list.cycloneDX()] { try StrictJSON.check(text, named: "the list of parts") }
        },
    ]

    /// What a reader gives; nil if it refuses its input with a sentence that fits a terminal.
    private static func reading<Value>(_ body: () throws(SigningError) -> Value) throws -> Value? {
        do throws(SigningError) { return try body() } catch {
            try demand(error.description.utf8.count < 2_000, "an error of \(error.description.utf8.count) bytes")
            return nil
        }
    }

    private static let sum = String(repeating: "ab", count: 32)
    private static let sums = "\(sum)  tool.tar.gz\n\(sum) *./tool.deb\n"
    private static let minisig = """
        untrusted comment: signature from minisign secret key
        RUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9CuhV3EMhHoN1mGTkUidF/z7SrlQgXdy8ofjb7bNJJylDOocrCo8KLzZwo=
        trusted comment: timestamp:1556193335\tfile:test
        y/rUw2y8/hOUYjZU71eHp/Wo1KZ40fGy2VJEDl34XMJM+TX48Ss/17u3IvIfbVR1FkZZSNCisQbuQY+bHwhEBg==

        """
    private static let bundle =
        #"{"mediaType":"application/vnd.dev.sigstore.bundle.v0.3+json","messageSignature":{"messageDigest":{"algorithm":"SHA2_256","digest":"n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg="},"signature":"MEUCIQDx1v0="},"verificationMaterial":{"publicKey":{"hint":"x"},"tlogEntries":[]}}"#
    private static let statement =
        #"{"_type":"https://in-toto.io/Statement/v1","predicate":{"buildDefinition":{"buildType":"urn:pipectl:buildtype:workflow:1","externalParameters":{"ref":"refs/heads/main","repository":"https://git.example.com/o/r","workflow":"release"},"internalParameters":{},"resolvedDependencies":[{"digest":{"gitCommit":"abc"}}]},"runDetails":{"builder":{"id":"x"},"metadata":{"finishedOn":"2026-11-21T10:05:00Z","invocationId":"7","startedOn":"2026-11-21T10:00:00Z"}}},"predicateType":"https://slsa.dev/provenance/v1","subject":[{"digest":{"sha256":"ab"},"name":"a"}]}"#
    private static let manifest =
        #"{"commit":"0123456789012345678901234567890123456789","files":[{"bytes":1,"name":"a","sha256":"\#(sum)"}],"keyIds":["E7620F1842B4E81F"],"madeAt":"2026-11-21T10:00:00Z","repository":"r","runId":"7","schemaVersion":1,"tree":"0123456789012345678901234567890123456789","version":"1.0","workflow":"w"}"#
    private static let resolved =
        #"{"originHash":"x","pins":[{"identity":"a","kind":"remoteSourceControl","location":"https://github.com/o/a.git","state":{"revision":"abc","version":"1.0.0"}},{"identity":"m.l","kind":"registry","location":"","state":{"version":"2.0.0"}}],"version":3}"#
    private static let resolvedFirst =
        #"{"object":{"pins":[{"package":"A","repositoryURL":"git@github.com:o/a.git","state":{"branch":"main","revision":"abc","version":null}}]},"version":1}"#

    private static func envelope(_ payload: String, _ type: String) -> String {
        #"{"payload":"\#(Data(payload.utf8).base64EncodedString())","payloadType":"\#(type)","signatures":[{"keyid":"E7620F1842B4E81F","sig":"AAAA"}]}"#
            + "\n"
    }
}
