/// An API key of App Store Connect.
public struct AppStoreKey: Sendable, Equatable {
    /// The secret with the `.p8` text.
    public var secret: String
    /// The key's id.
    public var id: String
    /// The issuer's id.
    public var issuer: String

    /// The key in the secret `secret`.
    public init(_ secret: String, id: String, issuer: String) {
        self.secret = secret
        self.id = id
        self.issuer = issuer
    }
}

/// How an archive is signed.
///
/// The certificate with its private key is a `.p12` file, stored as base64, and the file's password is another secret:
///
/// ```
/// base64 -i Certificates.p12 | pipectl secrets set APPLE_CERTIFICATE
/// pipectl secrets set APPLE_CERTIFICATE_PASSWORD
/// ```
public struct XcodeSigning: Sendable, Equatable {
    /// The secret with the certificate and its private key.
    public var certificate: String
    /// The secret with the password of that file.
    public var password: String
    /// The key with which Xcode makes and fetches profiles; nil: the profiles that are on the Mac.
    public var provisioning: AppStoreKey?

    /// Signing with a certificate that only the step sees.
    public init(certificate: String, password: String, provisioning: AppStoreKey? = nil) {
        self.certificate = certificate
        self.password = password
        self.provisioning = provisioning
    }

    /// What a step holds while it signs. The user's list of keychains has no lock: of two steps that change it at the same
    /// time, one takes out the other's keychain. So one signs after the other, also of several repositories.
    static let keychains = Resource("signing-keychain", capacity: 1)

    /// What `xcodebuild` is told.
    var arguments: [XcodeCommand.Word] {
        guard let provisioning else { return [] }
        return [
            .text("-allowProvisioningUpdates"), .text("-authenticationKeyPath"),
            .variable(StepVariable.secretFile(provisioning.secret)), .text("-authenticationKeyID"),
            .text(provisioning.id), .text("-authenticationKeyIssuerID"), .text(provisioning.issuer),
        ]
    }

    /// A step that runs `script` with the certificate in a keychain of its own.
    func step(_ name: String, needs: [Step], _ script: String) -> Step {
        var step = Step(name, needs: needs, run: "\(keychain)\n\(script)")
            .secrets(certificate, password).timeout(.hours(1)).neverProved()
            .uses(Self.keychains)
        // Signatures have a time from Apple, and profiles come from there.
        step = step.network(.allowed)
        if let provisioning { step = step.secrets(provisioning.secret) }
        return step
    }

    /// Lines that make a keychain with a random password, import the certificate, and remove the keychain whenever the
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
            -P "$(cat "$\(StepVariable.secretFile(password))")" -T /usr/bin/codesign -T /usr/bin/security
        rm -f "$keychains/certificate.p12"
        security set-key-partition-list -S apple-tool:,apple:,codesign: -s -k "$keychain_password" "$keychain" >/dev/null
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
