import Concurrency
import Crypto
import Foundation
import Pipeline
import Results
import SystemPackage

/// Publishes the `.deb` files of a release into an apt repository in a folder of this machine.
///
/// Source: https://wiki.debian.org/DebianRepository/Format
struct AptPublisher: Publisher {
    let folder: String
    /// Where a web server shows it.
    var address: String?
    var suite: String
    let component: String
    /// An OpenPGP private key without a passphrase.
    let key: [UInt8]
    /// For how many days clients believe `Release`; nil: for ever.
    var validForDays: Int?
    /// Where private files may be.
    let work: String
    var now: @Sendable () -> Date = { Date() }

    /// How the names of packages end.
    static let ending = ".deb"

    func publish(
        _ release: ReleaseContent, progress: any PublishingProgress, say: @escaping @Sendable (String) -> Void
    ) async throws -> Publication {
        try PublishedName.check(release)
        try checkOptions()
        let files = release.files.filter { $0.name.hasSuffix(Self.ending) }
        guard !files.isEmpty else {
            throw DeliveryProblem(.invalid, "release \(release.version) has no .deb file for the apt repository")
        }
        var packages: [(DebianPackage, ReleaseFile)] = []
        for file in files {
            let control = try await DeliveryTool(name: "dpkg-deb").output(["-f", file.path], failing: .invalid)
            packages.append((try DebianPackage(control: control, file: file, component: component), file))
        }
        let added = packages
        try await PrivateFolder.with(in: work) { files in
            let signer = OpenPGPSigner(home: files)
            try await signer.take(key)
            // Another step could show a list without what this one adds.
            try await DeliveryProblem.alone(in: folder) { try await add(added, signer, progress, say) }
        }
        let names = Set(packages.map(\.0.name)).sorted()
        return Publication(state: .released, address: address ?? folder, install: install(names))
    }

    func check() async throws {
        try checkOptions()
        _ = try await DeliveryTool(name: "dpkg-deb").output(["--version"])
        try await PrivateFolder.with(in: work) { files in
            let signer = OpenPGPSigner(home: files)
            try await signer.take(key)
            // A key may be there that is for encryption only, or has expired.
            _ = try await signer.sign("a trial\n")
        }
    }

    private func checkOptions() throws {
        for name in [suite, component] where !Destination.isAptName(name) {
            throw DeliveryProblem(.invalid, "\"\(PublishedName.shown(name))\" can't be a suite or component of apt")
        }
        guard folder.hasPrefix("/") else {
            throw DeliveryProblem(.invalid, "\"\(PublishedName.shown(folder))\" is not an absolute path; write one")
        }
        if let days = validForDays, !(1...3_650).contains(days) {
            throw DeliveryProblem(.invalid, "an apt repository can't be valid for \(days) days; write 1 to 3650")
        }
    }

    /// A line that installs packages, with what makes the repository known if its address is.
    private func install(_ names: [String]) -> String {
        let packages = names.joined(separator: " ")
        guard let address, let name = names.first else { return "apt install \(packages)" }
        let key = "/etc/apt/keyrings/\(name).gpg"
        return "sudo curl -fsSo \(key) \(address)/key.gpg && "
            + "echo 'deb [signed-by=\(key)] \(address) \(suite) \(component)' | "
            + "sudo tee /etc/apt/sources.list.d/\(name).list && sudo apt update && sudo apt install \(packages)"
    }

    private func add(
        _ added: [(DebianPackage, ReleaseFile)], _ signer: OpenPGPSigner, _ progress: any PublishingProgress,
        _ say: @Sendable (String) -> Void
    ) async throws {
        let repository = AptRepository(
            root: FilePath(folder), suite: suite, component: component, validForDays: validForDays)
        let date = now()
        let state = try await onOwnThread {
            try DeliveryProblem.machine("writing the apt repository \(folder)") {
                try repository.add(added, at: date)
            }
        }
        guard await !isSigned(state, repository, signer) else {
            return say("\(suite) of \(folder) has the packages already")
        }
        let signed = try await signer.sign(state.text)
        try await progress.confirm()
        try await onOwnThread {
            try DeliveryProblem.machine("writing the apt repository \(folder)") {
                try repository.show(state, signed)
            }
        }
        say("\(added.count) packages are in \(suite) of \(folder)")
    }

    /// Whether the folder shows `state` with a signature of this key.
    private func isSigned(
        _ state: AptRepository.State, _ repository: AptRepository, _ signer: OpenPGPSigner
    ) async -> Bool {
        guard let shown = try? String(contentsOfFile: repository.dists.appending("InRelease").string, encoding: .utf8),
            shown.contains("\n\(state.text)"), (try? repository.isShown(state)) == true
        else { return false }
        return await signer.accepts(repository.dists.appending("InRelease"))
    }
}

/// A signed `Release` file.
struct SignedRelease: Sendable {
    var clear: [UInt8]
    var detached: [UInt8]
    /// The public key, in binary.
    var publicKey: [UInt8]
}

/// Signs with `gpg`, which knows only the one key and no configuration of this user.
struct OpenPGPSigner: Sendable {
    /// A private folder.
    let home: FilePath

    private var tool: DeliveryTool { DeliveryTool(name: "gpg", environment: ["GNUPGHOME": home.string]) }
    private let options = ["--batch", "--no-tty", "--yes", "--pinentry-mode", "loopback", "--passphrase", ""]

    init(home: FilePath) { self.home = home }

    /// - Throws: ``DeliveryProblem`` with `.refused` where the secret is no usable key.
    func take(_ key: [UInt8]) async throws {
        let (code, text) = try await tool.run(options + ["--import"], input: key)
        guard code == 0 || text.contains("secret key imported") else {
            throw DeliveryProblem(
                .refused,
                "gpg does not take the secret as an OpenPGP private key without a passphrase: \(DeliveryTool.lastLine(text))"
            )
        }
    }

    func sign(_ text: String) async throws -> SignedRelease {
        let file = home.appending("Release")
        try await offThread {
            try DeliveryProblem.machine("signing") { try PrivateFolder.write(Array(text.utf8), to: file) }
        }
        func made(_ arguments: [String], _ name: String) async throws -> [UInt8] {
            let path = home.appending(name)
            _ = try await tool.output(
                options + ["--digest-algo", "SHA512", "--output", path.string] + arguments, failing: .refused)
            return try await offThread {
                try DeliveryProblem.machine("signing") { Array(try Data(contentsOf: URL(filePath: path.string))) }
            }
        }
        let signed = SignedRelease(
            clear: try await made(["--clearsign", file.string], "InRelease"),
            detached: try await made(["--armor", "--detach-sign", file.string], "Release.gpg"),
            publicKey: try await made(["--export"], "key.gpg"))
        // The agent would outlive its folder for a moment.
        _ = try? await DeliveryTool(name: "gpgconf", environment: ["GNUPGHOME": home.string]).run(["--kill", "all"])
        return signed
    }

    func accepts(_ path: FilePath) async -> Bool {
        (try? await tool.run(options + ["--verify", path.string]))?.code == 0
    }
}
