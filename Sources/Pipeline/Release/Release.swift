/// A version of the product that a workflow makes: its files, signed, with notes and provenance.
///
/// ```swift
/// let release = Workflow("release", on: .tag(matching: "v*")) {
///     let build = Step("build", run: "make dist").idempotent().artifacts("dist/*.tar.gz")
///     let version = Release(version: .tag(), files: "dist/*.tar.gz", needs: build).signed(with: "SIGNING_KEY")
///     let gate = Step.approval("publish it", needs: version.step)
///     Step.publish("at the forge", version, needs: gate, to: .forge())
/// }
/// ```
///
/// The daemon makes the release itself, outside the sandbox, so no code of the repository sees the key. It is made once
/// for a commit: a run that is repeated after a crash continues with the files that it has made before. `pipectl
/// releases` lists releases, and `pipectl release notes` edits the notes until the first step publishes it.
///
/// Every step sees `PIPECTL_VERSION`, `PIPECTL_MARKETING_VERSION` and `PIPECTL_BUILD_NUMBER`.
public struct Release: Sendable {
    /// The step that makes it, for `needs:`.
    public let step: Step

    /// Makes a release of the artifacts of the steps that it needs.
    ///
    /// - Parameters:
    ///   - name: The step's name, unique in the workflow.
    ///   - version: Where the version comes from.
    ///   - files: Globs of artifacts; without any, all artifacts of the needed steps are taken.
    ///   - needs: The steps that make the artifacts.
    public init(_ name: String = "release", version: VersionRule, files: String..., needs: Step...) {
        self.init(name, version: version, files: files, needs: needs)
    }

    /// Makes a release of the artifacts of the steps that it needs.
    public init(_ name: String = "release", version: VersionRule, files: [String], needs: [Step]) {
        var step = Step(name, needs, .release(ReleasePlan(version: version, files: files))).idempotent()
        step.planned.isNeverProved = true
        self.init(step: step)
    }

    private init(step: Step) { self.step = step }

    /// Signs each file of the release, its provenance and its manifest.
    ///
    /// - Parameters:
    ///   - secret: The secret with the private key, or with the command that reaches one elsewhere: `pipectl secrets set
    ///     NAME`. Ed25519 or ECDSA P-256.
    ///     Several keys sign side by side: the first of each form has the usual file, each further one a file with its id
    ///     in the name.
    ///   - forms: In which forms the files are signed. Default: as `minisign` reads it, or as `cosign` reads it for an
    ///     ECDSA key.
    public func signed(with secret: String, as forms: SignatureForm...) -> Release {
        with { step, plan in
            plan.signatures.append(SignatureUse(secret: secret, forms: forms))
            step.secrets.append(SecretUse(secret))
        }
    }

    /// Adds a bill of materials: the packages that `Package.resolved` names, at the top of the repository or else in Xcode's
    /// projects and workspaces.
    public func billOfMaterials(_ forms: BillOfMaterials...) -> Release {
        with { _, plan in plan.bills += forms.filter { !plan.bills.contains($0) } }
    }

    /// Adds what installs the release's `.ipa` file on the devices that its provisioning profile names: a manifest, and the
    /// page `install.html` with the link and its QR code.
    ///
    /// Publish the release where a web server shows it, for example with `.folder(path)`.
    ///
    /// - Parameters:
    ///   - app: The app's bundle identifier.
    ///   - title: The app's name, for people.
    ///   - address: Where the folder with all versions is shown; it begins with `https://`.
    public func overTheAir(app: String, title: String, at address: String) -> Release {
        with { _, plan in plan.overTheAir = OverTheAir(app: app, title: title, address: address) }
    }

    /// Fills in the Homebrew formula among the release's files: `@VERSION@`, `@TAG@`, `@ADDRESS@` (the repository's, as in
    /// `https://HOST/OWNER/NAME`) and `@SHA256 FILE@` become those of the release.
    ///
    /// ```swift
    /// let version = Release(version: .tag(), needs: build).formula("hello.rb").signed(with: "SIGNING_KEY")
    /// Step.publish("for brew", version, to: .homebrew(tap: "https://github.com/acme/homebrew-tap", formula: "hello.rb"))
    /// ```
    ///
    /// - Parameter file: The file's name, without folders. Its class is named like it, as Homebrew wants it.
    public func formula(_ file: String) -> Release { with { _, plan in plan.formula = file } }

    private func with(_ change: (inout PlannedStep, inout ReleasePlan) -> Void) -> Release {
        var step = step
        guard case .release(var plan) = step.planned.action else { return self }
        change(&step.planned, &plan)
        step.planned.action = .release(plan)
        return Release(step: step)
    }
}

extension Step {
    /// Brings a release to one destination.
    ///
    /// The daemon does it itself, outside the sandbox. It looks what is there before it creates or uploads anything, so
    /// an interrupted step is continued, and nothing is published twice. An attempt may take 6 hours, unless `.timeout`
    /// says otherwise.
    ///
    /// - Parameters:
    ///   - name: Unique in the workflow.
    ///   - release: What is published.
    ///   - needs: Further steps that must pass before, such as an approval.
    ///   - destination: Where it is published.
    public static func publish(
        _ name: String, _ release: Release, needs: Step..., to destination: Destination
    ) -> Step {
        var step = Step(name, [release.step] + needs, .publish(destination)).idempotent()
        step.planned.isNeverProved = true
        // An upload may take hours, and then Apple processes a build for up to two.
        step.planned.timeout = Duration.hours(6).inSeconds
        // The manifest is signed with the notes, when the first step publishes the release.
        step.planned.secrets = release.step.planned.secrets
        for secret in destination.secrets where !step.planned.secrets.contains(where: { $0.name == secret }) {
            step.planned.secrets.append(SecretUse(secret))
        }
        return step
    }
}
