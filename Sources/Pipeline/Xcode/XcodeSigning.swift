/// An API key of App Store Connect.
public struct AppStoreKey: Sendable, Equatable {
    /// The secret with the `.p8` text.
    public var secret: String
    /// The key's id.
    public var id: String
    /// The issuer's id; nil for an individual key.
    public var issuer: String?

    /// The key in the secret `secret`.
    public init(_ secret: String, id: String, issuer: String? = nil) {
        self.secret = secret
        self.id = id
        self.issuer = issuer
    }
}

/// How an archive is signed.
///
/// The certificates with their private keys are one `.p12` file, stored as base64, and the file's password is another
/// secret. It holds a development certificate, with which Xcode signs an archive, and the one with which the app is
/// delivered: select both in Keychain Access, and export them.
///
/// ```
/// base64 -i Certificates.p12 | pipectl secrets set APPLE_CERTIFICATE
/// pipectl secrets set APPLE_CERTIFICATE_PASSWORD
/// ```
public struct XcodeSigning: Sendable, Equatable {
    /// Who chooses the certificate and the profile of an archive, as `CODE_SIGN_STYLE` of the project says.
    public enum Style: Sendable {
        /// Xcode. It signs an archive with a development certificate, and makes one at Apple if it finds none.
        case automatic
        /// The project's settings, so that the `.p12` file needs no development certificate.
        case manual
    }

    /// The secret with the certificates and their private keys.
    public var certificate: String
    /// The secret with the password of that file.
    public var password: String
    /// The key with which Xcode makes and fetches profiles; nil: the profiles that are on the Mac.
    public var provisioning: AppStoreKey?
    /// Who chooses the certificate and the profile of an archive.
    public var style: Style

    /// Signing with certificates that only the step sees.
    public init(
        certificate: String, password: String, provisioning: AppStoreKey? = nil, style: Style = .automatic
    ) {
        self.certificate = certificate
        self.password = password
        self.provisioning = provisioning
        self.style = style
    }

    /// The beginnings of the names of certificates; an archive needs a certificate with one of them, or none if this is
    /// empty. Without a key Xcode makes no certificate, and says itself what is missing.
    var identities: [String] { style == .automatic && provisioning != nil ? Self.development : [] }

    /// The same for an export. If Xcode has a key and finds no certificate, it signs with one that Apple keeps for the
    /// team; but it can't do that with given profiles, or for development.
    func identities(for options: ExportOptions) -> [String] {
        let needsOwn = provisioning == nil || !options.profiles.isEmpty || options.method == .debugging
        return needsOwn ? options.method.identities : []
    }

    /// How the names of development certificates begin.
    static let development = ["Apple Development", "iPhone Developer", "Mac Developer"]

    /// What a step holds while it signs. The user's list of keychains has no lock: of two steps that change it at the same
    /// time, one takes out the other's keychain. So one signs after the other, also of several repositories.
    static let keychains = Resource("signing-keychain", capacity: 1)

    /// What `xcodebuild` is told.
    var arguments: [XcodeCommand.Word] {
        guard let provisioning else { return [] }
        return [
            .text("-allowProvisioningUpdates"), .text("-authenticationKeyPath"),
            .variable(StepVariable.secretFile(provisioning.secret)), .text("-authenticationKeyID"),
            .text(provisioning.id),
        ] + (provisioning.issuer.map { [.text("-authenticationKeyIssuerID"), .text($0)] } ?? [])
    }

    /// A step that runs `script` with the certificates in a keychain of its own.
    ///
    /// - Parameter identities: The beginnings of the names of certificates; the step needs a certificate with one of
    ///   them, or none if this is empty.
    func step(_ name: String, needs: [Step], identities: [String], _ script: String) -> Step {
        var step = Step(name, needs: needs, run: "\(keychain)\n\(check(identities))\(script)")
            .secrets(certificate, password).timeout(.hours(1)).neverProved()
            .uses(Self.keychains)
        // Signatures have a time from Apple, and profiles come from there.
        step = step.network(.allowed)
        if let provisioning { step = step.secrets(provisioning.secret) }
        return step
    }

    /// Lines that end the step if the keychain has no valid certificate of these names. An archive would not fail without:
    /// Xcode makes a certificate in each run, until Apple allows no further one.
    ///
    /// Source: security(1). A line of `find-identity` is `1) SHA-1 "Apple Development: NAME (ID)"`.
    private func check(_ identities: [String]) -> String {
        guard !identities.isEmpty else { return "" }
        let patterns = identities.map { "*\("\"\($0): ".shellQuoted)*" }.joined(separator: " | ")
        let names = identities.map { "\"\($0)\"" }.joined(separator: " or ")
        let advice = identities == Self.development ? ", or write style: .manual if the project chooses them" : ""
        let message =
            "the .p12 file in the secret \(certificate) has no valid certificate \(names) with its private key: export "
            + "the certificates for development and for delivery together from Keychain Access, and store the file "
            + "again\(advice)"
        return """
            case $(security find-identity -v -p codesigning "$keychain") in
            \(patterns)) ;;
            *)
                security find-identity -p codesigning "$keychain" >&2 || true
                printf '%s\\n' \(message.shellQuoted) >&2
                exit 1
                ;;
            esac

            """
    }

    /// Lines that make a keychain with a random password, import the certificates, and remove the keychain whenever the
    /// step ends. It is in the step's temporary folder, so that it goes with that after SIGKILL, too.
    ///
    /// Source: security(1). `delete-keychain` also takes it from the search list.
    private var keychain: String {
        """
        keychains=$(mktemp -d)
        keychain="$keychains/run.keychain-db"
        remove_keychain() {
            security delete-keychain "$keychain" >/dev/null 2>&1 || true
            rm -rf "$keychains"
        }
        trap remove_keychain EXIT
        trap 'exit 129' HUP
        trap 'exit 130' INT
        trap 'exit 143' TERM
        keychain_password=$(openssl rand -hex 24)
        security create-keychain -p "$keychain_password" "$keychain"
        security set-keychain-settings -l -u -t 7200 "$keychain"
        security unlock-keychain -p "$keychain_password" "$keychain"
        tr -d '\\n' < "$\(StepVariable.secretFile(certificate))" | openssl base64 -d -A -out "$keychains/certificate.p12"
        security import "$keychains/certificate.p12" -k "$keychain" -f pkcs12 \\
            -P "$(cat "$\(StepVariable.secretFile(password))")" -T /usr/bin/codesign -T /usr/bin/security \\
            -T /usr/bin/productbuild -T /usr/bin/productsign
        rm -f "$keychains/certificate.p12"
        security set-key-partition-list -S apple-tool:,apple:,codesign:,productbuild:,productsign: -s \\
            -k "$keychain_password" "$keychain" >/dev/null
        lines=$(security list-keychains -d user | sed -e 's/^[[:space:]]*"//' -e 's/"$//' |
            while IFS= read -r one; do if [ -e "$one" ]; then printf '%s\\n' "$one"; fi; done)
        IFS='
        '
        set -f
        security list-keychains -d user -s "$keychain" $lines
        set +f
        unset IFS
        """
    }
}
