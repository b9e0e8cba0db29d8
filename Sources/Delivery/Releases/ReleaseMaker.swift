import Concurrency
import Engine
import Foundation
import Pipeline
import Results
import Signing
import Store
import SystemPackage

/// Makes a release of the artifacts of a run, once for a version of a commit.
struct ReleaseMaker {
    private let service: DeliveryService
    private let basis: ReleaseBasis

    init(_ service: DeliveryService, _ basis: ReleaseBasis) {
        self.service = service
        self.basis = basis
    }

    func make(
        _ plan: ReleasePlan, _ order: ReleaseOrder, say: @escaping @Sendable (String) -> Void
    ) async throws -> [ArtifactRecord] {
        let lock = try await offThread { [service, basis] in try service.folders.path(of: .release, basis.repository) }
        // Two runs of one commit, such as for its branch and for its tag, may be here at the same time.
        let release = try await DeliveryProblem.alone(with: lock) {
            let there = try await service.records.release(
                basis.version.version, commit: basis.commit, of: basis.repository)
            guard let made = there, made.commit == basis.commit, made.workflow == basis.workflow else {
                try await checkReplaceable(there)
                return try await makeNew(plan, order, replacing: there, say: say)
            }
            say("release \(made.version) of this commit was made by run \(made.run); its files are kept")
            return made
        }
        guard release.state != .yanked else {
            throw DeliveryProblem(
                .conflict, "release \(release.version) was withdrawn; land a fix, and release that commit")
        }
        try await noteHigher(say)
        if !basis.plan.publishes {
            try await ReleaseSeal(service, release).seal(with: try Signers(plan.signatures, order.secrets), say: say)
        }
        return try await archived(release, order)
    }

    /// Says that users have a higher version: it may be meant, as for a fix of an older one.
    private func noteHigher(_ say: @Sendable (String) -> Void) async throws {
        let known = try await service.index.versions(of: basis.repository, limit: 1_000)
        guard let latest = known.filter({ $0.workflow == basis.workflow }).latestPublished,
            let there = OrderedVersion(latest.version), let own = OrderedVersion(basis.version.version), own < there
        else { return }
        say("\(own) is lower than \(there), which is published")
    }

    /// - Throws: ``DeliveryProblem`` if another commit or workflow keeps the version.
    private func checkReplaceable(_ there: ReleaseRecord?) async throws {
        guard let there else { return }
        let holding = VersionHolding(service.index)
        guard let obstacle = try await holding.obstacle(to: basis.commit, there, ref: basis.ref) else { return }
        throw DeliveryProblem(.conflict, obstacle)
    }

    /// - Parameter draft: The draft of another commit whose version it takes over.
    private func makeNew(
        _ plan: ReleasePlan, _ order: ReleaseOrder, replacing draft: ReleaseRecord?,
        say: @escaping @Sendable (String) -> Void
    ) async throws -> ReleaseRecord {
        let version = basis.version
        let address = try await service.sources.address(basis)
        let files = try await filled(try chosen(plan, order), plan, order, address)
        try checkDestinations(of: files.map(\.name))
        let signers = try Signers(plan.signatures, order.secrets)
        let notes = ReleaseNotes.text(try await service.sources.landed(basis))
        let sides = ReleaseSides(
            basis: basis, repository: address ?? basis.repository, plan: plan, order: order, sources: service.sources)
        let path = service.folders.folder(of: version.version, commit: basis.commit, repository: basis.repository)
        let made = try await sides.make(of: files, by: signers)
        let taken = Set(
            (made.map(\.name) + [ReleaseManifest.fileName, ReleaseManifest.notesName]).map { $0.lowercased() })
        if let file = files.first(where: { taken.contains($0.name.lowercased()) }) {
            throw DeliveryProblem(
                .invalid, "\(file.name) is the name of a file that pipectl makes for the release: rename the artifact")
        }
        let folders = service.folders
        let kept = try await offThread {
            try folders.make(path) { folder in
                for file in files { try folders.copy(file, to: folder) }
                for (name, bytes) in made { try folders.write(bytes, name, in: folder) }
            }
            return try ReleaseFolders.files(in: path)
        }
        for file in kept { say("\(file.sha256)  \(file.name)  \(Figures.grouped(file.bytes)) bytes") }
        var record = ReleaseRecord(
            repository: basis.repository, address: address, version: version, commit: basis.commit, tree: basis.tree,
            committedAt: basis.committedAt, workflow: basis.workflow, run: basis.run, madeAt: Date(), notes: notes,
            files: kept.map { ReleaseRecord.File(name: $0.name, bytes: $0.bytes, sha256: $0.sha256) })
        record.keys = signers.keys.map(\.publicKey.id.description)
        record.gates = basis.plan.releaseGates
        // Without its record, an index that is built anew does not bring the draft back.
        if let draft { try await service.records.forget(draft) }
        let release = try await service.index.addRelease(record, replacing: draft?.commit)
        guard let release, release.run == record.run, release.commit == record.commit else {
            throw DeliveryProblem(.machine, "\(version.version) could not be recorded: run the step again")
        }
        try await service.records.keep(release.version, of: release.repository)
        if let draft {
            try await offThread { try folders.remove(draft) }
            say("it replaces the draft of commit \(draft.commit.prefix(10)), which run \(draft.run) made")
        }
        say("made release \(version.version), build \(version.buildNumber)")
        return release
    }

    /// The most bytes of a name. The bundle of a further key has 31 more, for the key's id and `.sigstore.json`, and
    /// ``PublishedName`` takes 200.
    private static let longestName = 165

    /// The artifacts that the plan wants, each with its content.
    private func chosen(_ plan: ReleasePlan, _ order: ReleaseOrder) throws -> [ReleaseFile] {
        let globs = plan.files.compactMap { try? Glob($0) }
        let isForForge = basis.plan.steps.contains { step in
            if case .publish(.forge) = step.action { true } else { false }
        }
        var files: [ReleaseFile] = []
        for artifact in order.earlier.artifacts.sorted(by: { $0.path < $1.path }) {
            guard globs.isEmpty || globs.contains(where: { $0.matches(artifact.path) }) else { continue }
            let name = artifact.path.split(separator: "/").last.map(String.init) ?? artifact.path
            // No destination takes it otherwise, and by then the version is taken.
            guard (try? PublishedName.file(name)) != nil, !name.contains(" "),
                !name.hasSuffix(DurableFiles.unfinished), name.utf8.count <= Self.longestName
            else {
                throw DeliveryProblem(
                    .invalid,
                    "the artifact \"\(PublishedName.shown(artifact.path))\" can't be a file of a release: rename it, "
                        + "with at most \(Self.longestName) letters, digits and . _ + ~ @ - ( ) and without "
                        + "\(DurableFiles.unfinished) at its end, or leave it out with files:")
            }
            guard artifact.bytes > 0 || !isForForge else {
                throw DeliveryProblem(
                    .invalid,
                    "the artifact \"\(PublishedName.shown(artifact.path))\" is empty, which GitHub does not take: leave it out "
                        + "with files:")
            }
            if let twin = files.first(where: { $0.name.lowercased() == name.lowercased() }) {
                if twin.sha256 == artifact.sha256 { continue }
                throw DeliveryProblem(.invalid, "two artifacts have the name \(name): rename one of them")
            }
            let here = order.folder.appending(artifact.sha256).string
            guard
                let path = FileManager.default.fileExists(atPath: here) ? here : service.artifact(artifact.sha256)
            else {
                throw DeliveryProblem(
                    .machine, "the content of \(artifact.path) is not stored any more: run the workflow again")
            }
            files.append(ReleaseFile(name: name, path: path, bytes: artifact.bytes, sha256: artifact.sha256))
        }
        guard !files.isEmpty else {
            throw DeliveryProblem(
                .invalid,
                "no artifact of the steps that it needs matches \(plan.files.isEmpty ? "" : plan.files.joined(separator: ", ")): "
                    + "declare them with .artifacts(…)")
        }
        return files
    }

    /// Checks that each destination finds what it publishes. Later, the version would be taken.
    private func checkDestinations(of names: [String]) throws {
        for step in basis.plan.steps {
            guard case .publish(let destination) = step.action, let missing = destination.missing(among: names) else {
                continue
            }
            throw DeliveryProblem(
                .invalid,
                "step \"\(step.name)\" publishes \(destination.inWords), but the release has \(missing): name what it "
                    + "needs in .artifacts(…), and in files: if there are some")
        }
    }

    /// The files with what only the release knows in its formula.
    private func filled(
        _ files: [ReleaseFile], _ plan: ReleasePlan, _ order: ReleaseOrder, _ address: String?
    ) async throws -> [ReleaseFile] {
        guard let name = plan.formula else { return files }
        let formula = ReleaseFormula(
            name: name, version: basis.version.version, tag: basis.version.tag, address: address)
        let folder = order.folder
        return try await offThread { try formula.fill(in: files, folder: folder) }
    }

    /// The files of the release as artifacts of the step, for the run's report.
    private func archived(_ release: ReleaseRecord, _ order: ReleaseOrder) async throws -> [ArtifactRecord] {
        let folders = service.folders
        let known = Set(order.earlier.artifacts.map(\.sha256))
        return try await offThread {
            try folders.files(of: release).filter { !known.contains($0.sha256) }.map { file in
                let target = order.folder.appending(file.sha256).string
                if !FileManager.default.fileExists(atPath: target) {
                    try FileManager.default.copyItem(atPath: file.path, toPath: target)
                }
                return ArtifactRecord(
                    step: order.step.name, path: "release/\(file.name)", bytes: file.bytes, sha256: file.sha256)
            }
        }
    }
}
