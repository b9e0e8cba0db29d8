/// How a ``Release`` is made, as part of a ``PlannedStep``.
public struct ReleasePlan: Sendable, Equatable, Codable {
    /// Where the version comes from.
    public var version: VersionRule
    /// Globs of artifacts; empty: all artifacts of the needed steps.
    public var files: [String]
    /// The keys that sign it.
    public var signatures: [SignatureUse] = []
    /// The bills of materials that are added.
    public var bills: [BillOfMaterials] = []
    /// How an ad hoc build is installed; nil: it has none.
    public var overTheAir: OverTheAir?
    /// The file that is a Homebrew formula to be filled in; nil: there is none.
    public var formula: String?

    /// A release without signatures and bills of materials.
    public init(version: VersionRule, files: [String] = []) {
        self.version = version
        self.files = files
    }
}

extension Plan {
    /// The release that one of the steps makes.
    package var release: ReleasePlan? {
        for step in steps { if case .release(let plan) = step.action { return plan } }
        return nil
    }

    /// For each step that publishes the release, the steps that wait for a person between making it and that.
    package var releaseGates: [[String]] {
        let named = Dictionary(steps.map { ($0.name, $0) }) { first, _ in first }
        func needed(by step: PlannedStep) -> Set<String> {
            var (found, open) = (Set<String>(), step.needs)
            while let name = open.popLast() {
                if found.insert(name).inserted { open += named[name]?.needs ?? [] }
            }
            return found
        }
        let makers = steps.filter { if case .release = $0.action { true } else { false } }.map(\.name)
        return steps.compactMap { step in
            guard case .publish = step.action else { return nil }
            return steps.filter { gate in
                gate.action == .approval && needed(by: step).contains(gate.name)
                    && !needed(by: gate).isDisjoint(with: makers)
            }.map(\.name)
        }
    }

    /// Whether a step publishes a release.
    package var publishes: Bool {
        steps.contains { step in
            if case .publish = step.action { true } else { false }
        }
    }
}

/// Where a release's version comes from. The build number is always the number of commits in the first-parent history.
public enum VersionRule: Sendable, Equatable, Codable {
    /// The tag that started the run, without the prefix: `v1.2.0` is 1.2.0. A tag without the prefix ends the run; an
    /// empty prefix takes tags such as `1.2.0`.
    case tag(prefix: String = "v")
    /// A file of the repository: in a Swift file the first `let version = "…"`, in a TOML file `version` of `[package]`,
    /// `[project]`, `[tool.poetry]` or `[workspace.package]`, else before all tables, in a property list
    /// `CFBundleShortVersionString`, in a `project.pbxproj` or `.xcconfig` file `MARKETING_VERSION`, in a JSON file
    /// `version`; of any other file the first line. A `v` before a digit is dropped.
    case file(String)
    /// A base and the build number: with `"1.4"` at the 812th commit, 1.4.812. Users of an app see 1.4 (812).
    case counted(String)

    /// Where the version comes from, after "version".
    package var inWords: String {
        switch self {
        case .tag(let prefix): "from the tag \(prefix)…"
        case .file(let path): "from \(path)"
        case .counted(let base): "\(base).N"
        }
    }
}

/// A key that signs a release.
public struct SignatureUse: Sendable, Equatable, Codable {
    /// The name of the secret with the private key.
    public var secret: String
    /// Empty: the form that fits the key.
    public var forms: [SignatureForm]

    /// A use of the key in the secret `secret`.
    public init(secret: String, forms: [SignatureForm] = []) {
        self.secret = secret
        self.forms = forms
    }
}

/// How a file's signature is written.
public enum SignatureForm: String, Sendable, Codable, CaseIterable {
    /// `FILE.minisig`, for `minisign -V`. It takes an Ed25519 key.
    case minisign
    /// `FILE.sig`, for `cosign verify-blob --key`. It takes an ECDSA P-256 key.
    case cosign
}

/// How devices install an ad hoc build: from a web server, without a store.
public struct OverTheAir: Sendable, Equatable, Codable {
    /// The app's bundle identifier.
    public var app: String
    /// The app's name, for people.
    public var title: String
    /// Where the folder with all versions is shown.
    public var address: String

    /// An installation from `address`, which begins with `https://`.
    public init(app: String, title: String, address: String) {
        self.app = app
        self.title = title
        self.address = address
    }
}

/// A list of the packages that a product is made of.
public enum BillOfMaterials: String, Sendable, Codable, CaseIterable {
    /// SPDX 2.3 as JSON.
    case spdx
    /// CycloneDX 1.6 as JSON.
    case cycloneDX
}
