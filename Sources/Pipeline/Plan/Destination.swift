/// Where a release is published.
public enum Destination: Sendable, Equatable, Codable {
    /// A release with assets at the forge that the repository is connected with.
    ///
    /// - Parameters:
    ///   - draft: Whether it stays a draft, which only people of the repository see.
    ///   - prerelease: Whether it is marked as not for everybody.
    case forge(draft: Bool = false, prerelease: Bool = false)
    /// The generic package registry of the connected forge (GitLab, Gitea, Forgejo): files below a package's name and
    /// the version.
    case packages(name: String)
    /// An OCI registry: the files as one artifact, with the version as its tag.
    ///
    /// - Parameters:
    ///   - repository: As in `https://ghcr.io/owner/name`.
    ///   - credentials: The secret with `USER:PASSWORD`; nil for a registry that needs none.
    case registry(repository: String, credentials: String? = nil)
    /// A folder of the build machine: the files in a folder of the version's name.
    ///
    /// - Parameter address: Where a web server shows the folder, as in `https://files.example.org/app`; nil: nowhere.
    case folder(String, address: String? = nil)
    /// A folder of a host that ssh reaches.
    ///
    /// - Parameters:
    ///   - host: As in `user@host` or `user@host:2222`.
    ///   - folder: An absolute path there.
    ///   - key: The name of the secret with the private key.
    ///   - knownHost: The name of the secret with the host's public key, alone or as a line of `known_hosts`.
    case ssh(host: String, folder: String, key: String, knownHost: String)
    /// An apt repository, made of the release's `.deb` files, in a folder that a web server shows.
    ///
    /// - Parameters:
    ///   - folder: A folder of the build machine.
    ///   - suite: As in `stable`.
    ///   - component: As in `main`.
    ///   - key: The secret with the OpenPGP private key that signs `Release`, for `gpg`.
    ///   - validForDays: For how many days clients believe the lists, as `Valid-Until` says; nil: for ever. Nobody can
    ///     then show an old list as the newest. Run the step again before the time is over: from half of it on it signs
    ///     anew.
    ///   - address: Where a web server shows the folder, for people who install from it; nil: it is not said.
    case apt(
        folder: String, suite: String = "stable", component: String = "main", key: String, validForDays: Int? = nil,
        address: String? = nil)
    /// A formula in a Homebrew tap.
    ///
    /// - Parameters:
    ///   - tap: The address of the tap's Git repository.
    ///   - formula: The path of the file of the release that is the formula, below the release's files.
    ///   - credentials: The secret with a token, for https; nil where the daemon may push without one.
    case homebrew(tap: String, formula: String, credentials: String? = nil)
    /// TestFlight, through App Store Connect.
    case testFlight(TestFlight)

    /// Where it is, after "publishes the release". No secret is part of it.
    package var inWords: String {
        switch self {
        case .forge: "at the forge"
        case .packages(let name): "in the forge's packages, as \(name)"
        case .registry(let repository, _): "in the registry \(repository)"
        case .folder(let path, _): "in the folder \(path)"
        case .ssh(let host, let folder, _, _): "in \(host):\(folder)"
        case .apt(let folder, let suite, let component, _, _, _):
            "in the apt repository \(folder), \(suite) \(component)"
        case .homebrew(let tap, _, _): "in the Homebrew tap \(tap)"
        case .testFlight(let testFlight): "in TestFlight, as \(testFlight.app)"
        }
    }

    /// The parts of a host for ``ssh(host:folder:key:knownHost:)``; nil if ssh can't be given this.
    package static func sshHost(_ text: String) -> (user: String?, host: String, port: Int)? {
        guard
            let parts = text.wholeMatch(
                of: /(?:([A-Za-z0-9_][A-Za-z0-9._\-]*)@)?([A-Za-z0-9][A-Za-z0-9.\-]*)(?::([0-9]{1,5}))?/),
            let port = Int(parts.3 ?? "22"), (1...65_535).contains(port)
        else { return nil }
        return (parts.1.map(String.init), String(parts.2), port)
    }

    /// Whether it can be the name of a suite or component of apt.
    package static func isAptName(_ text: String) -> Bool { text.wholeMatch(of: /[A-Za-z0-9][A-Za-z0-9._\-]*/) != nil }

    /// The names of the secrets that it takes.
    public var secrets: [String] {
        switch self {
        case .forge, .packages, .folder: []
        case .registry(_, let credentials), .homebrew(_, _, let credentials): credentials.map { [$0] } ?? []
        case .ssh(_, _, let key, let knownHost): [key, knownHost]
        case .apt(_, _, _, let key, _, _): [key]
        case .testFlight(let testFlight): [testFlight.key]
        }
    }
}

/// How a build gets to its testers.
public struct TestFlight: Sendable, Equatable, Codable {
    /// The app's bundle identifier, as in `com.example.app`.
    public var app: String
    /// The secret with the App Store Connect API key, as `.p8` text.
    public var key: String
    /// The key's id.
    public var keyID: String
    /// The issuer's id; nil for an individual key.
    public var issuer: String?
    /// The names of the groups of testers that get the build.
    public var groups: [String]
    /// The language of the notes for testers.
    public var locale = "en-US"
    /// How many builds of the app stay available to testers; older ones expire. Nil: none expires early.
    public var keepsBuilds: Int?
    /// The platform: `IOS`, `MAC_OS`, `TV_OS` or `VISION_OS`.
    public var platform = "IOS"

    /// A delivery to groups of testers, without early expiry.
    public init(app: String, key: String, keyID: String, issuer: String? = nil, groups: [String] = []) {
        self.app = app
        self.key = key
        self.keyID = keyID
        self.issuer = issuer
        self.groups = groups
    }

    /// Whether Apple takes a version: one to three numbers with periods between.
    ///
    /// Source: https://developer.apple.com/documentation/bundleresources/information-property-list/cfbundleshortversionstring
    package static func takes(_ version: String) -> Bool {
        let numbers = version.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count <= 3
            && numbers.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    }
}
