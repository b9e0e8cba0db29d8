import Concurrency
import Engine
import Foundation
import Pipeline
import Results
import Signing

/// The files that are made beside those of a release: digests, signatures, provenance, bills of materials.
struct ReleaseSides {
    let basis: ReleaseBasis
    /// The repository's address, or its name if it has none.
    let repository: String
    let plan: ReleasePlan
    let order: ReleaseOrder
    let sources: any ReleaseSources

    /// - Returns: By name, the content.
    func make(of files: [ReleaseFile], by signers: Signers) async throws -> [(name: String, bytes: Data)] {
        var sides = try await bills(files) + overTheAir(files)
        let billed = sides.map { side in
            ReleaseManifest.File(name: side.name, FileDigests(of: side.bytes))
        }
        let named =
            files.map { ReleaseManifest.File(name: $0.name, bytes: Int64($0.bytes), sha256: $0.sha256) } + billed
        sides.append((Checksums.fileName, Data(Checksums(named).text.utf8)))
        guard !signers.all.isEmpty else { return sides }
        // The provenance is signed in itself.
        let unsigned = sides
        let statement = provenance(of: named)
        var envelopes: [Envelope] = []
        for key in signers.keys { envelopes.append(try await statement.signed(by: key)) }
        sides.append(("provenance.intoto.jsonl", try Envelope.file(envelopes)))
        for file in files {
            let digests = try await offThread { try ReleaseBytes.digests(of: file.path, limit: .max) }
            guard let digests else { throw DeliveryProblem(.machine, "\(file.name) is gone: run the workflow again") }
            sides += try await signatures(of: digests, named: file.name, signers)
        }
        for side in unsigned {
            sides += try await signatures(of: FileDigests(of: side.bytes), named: side.name, signers)
        }
        return sides
    }

    private func signatures(
        of digests: FileDigests, named name: String, _ signers: Signers
    ) async throws -> [(name: String, bytes: Data)] {
        var made: [(name: String, bytes: Data)] = []
        var forms: Set<SignatureForm> = []
        for (key, form) in signers.all {
            // The first key of a form has the usual name; each further one has its id in it.
            let id = forms.insert(form).inserted ? nil : key.publicKey.id
            func file(_ ending: String) -> String { SignatureFile.name(of: name, ending, by: id) }
            switch form {
            case .minisign:
                let comment = TrustedComment(
                    file: name, version: basis.version.version, commit: basis.commit, repository: repository
                ).text(madeAt: basis.committedAt)
                let signature = try await MinisignSignature(of: digests, trustedComment: comment, by: key)
                made.append((file(SignatureFile.minisign), Data(signature.text.utf8)))
            case .cosign:
                let signature = try await BlobSignature(of: digests, by: key)
                made.append((file(SignatureFile.cosign), Data(signature.line.utf8)))
                made.append((file(SignatureFile.bundle), try signature.bundle(of: digests, key: key.publicKey)))
            }
        }
        return made
    }

    private func bills(_ files: [ReleaseFile]) async throws -> [(name: String, bytes: Data)] {
        guard !plan.bills.isEmpty else { return [] }
        let parts = PartsList(
            name: basis.repository, version: basis.version.version, repository: repository, commit: basis.commit,
            madeAt: basis.committedAt, toolVersion: basis.pipectl,
            resolved: try await ReleaseParts(sources: sources, basis: basis).packages())
        return try plan.bills.map { form in
            switch form {
            case .spdx: ("sbom.spdx.json", try parts.spdx())
            case .cycloneDX: ("sbom.cdx.json", try parts.cycloneDX())
            }
        }
    }

    private func overTheAir(_ files: [ReleaseFile]) throws -> [(name: String, bytes: Data)] {
        guard let wanted = plan.overTheAir else { return [] }
        let page = try OverTheAirPage(wanted, version: basis.version, files: files)
        return [(page.manifestName, page.manifest), (OverTheAirPage.pageName, page.page)]
    }

    /// The repository as a URI, as SPDX writes it for Git.
    private var origin: String {
        if repository.contains("://") { return "git+\(repository)" }
        return "urn:pipectl:repository:\(ReleaseFolders.name(of: repository))"
    }

    private func provenance(of files: [ReleaseManifest.File]) -> Provenance {
        let steps = order.earlier.records.map { record in
            var annotations = ["status": record.status.rawValue]
            if let key = record.key { annotations["key"] = key.value }
            if let proof = record.provedBy { annotations["provedByRun"] = String(proof.run) }
            if let machine = record.attempts.last?.machine { annotations["machine"] = machine }
            return Provenance.Resource(name: "step \(record.name)", annotations: annotations)
        }
        var inputs = [
            Provenance.Resource(
                name: "workflows", uri: "\(origin)#workflows",
                digest: ["gitCommit": basis.definition.commit, "gitTree": basis.definition.tree]),
            Provenance.Resource(name: "toolchain", annotations: ["version": basis.definition.toolchain]),
        ]
        inputs[0].annotations = ["workflow": basis.workflow]
        return Provenance(
            of: files.map { Provenance.Subject(name: $0.name, sha256: $0.sha256) },
            parameters: .init(
                repository: repository, ref: basis.ref, workflow: basis.workflow,
                version: basis.version.version, parameters: basis.parameters.isEmpty ? nil : basis.parameters),
            internalParameters: ["buildNumber": String(basis.version.buildNumber), "workspace": "fresh"],
            commit: Provenance.Resource(
                uri: "\(origin)@\(basis.ref)", digest: ["gitCommit": basis.commit, "gitTree": basis.tree]),
            inputs: inputs,
            builder: .init(basis.builder, versions: ["pipectl": basis.pipectl]),
            metadata: .init(invocation: "run \(basis.run)", from: basis.startedAt, to: Date()),
            byproducts: steps)
    }
}
