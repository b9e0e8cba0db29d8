import Foundation

@testable import Signing

/// Keys that other programs made for these tests. They protect nothing.
enum KeySamples {
    /// Of `minisign -G -W`.
    static let minisignSecret = """
        untrusted comment: minisign encrypted secret key
        RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAT6eiL7WBcKdYr0h1788YSy/7bEpN4spTH0i4MK9hE9O7Rv31jR5aPlfM9GUcdnoL84Y3y5ZtTylUl+VlmMaLDc0PY75Bu6QrAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=

        """
    /// The same key with a passphrase, with less memory than minisign takes, which minisign reads, too.
    static let encryptedSecret = """
        untrusted comment: minisign encrypted secret key
        RWRTY0IyAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8AAAgAAAAAAAAAAAEAAAAAuhAkYIkEc2xO/a7S8J1g9OAKrP9hfdj/Y3+cpL1gG7QkU0QiRGAWGui3RnqFsugV/cD4rhAgzbc/bMsODjWY/Y0XoE0OmfMx6oUyaBPefDh046dWztJqw+eEFamtRsC9keJmLmKf9+s=

        """
    static let passphrase = "correct horse"
    static let minisignPublic = """
        untrusted comment: minisign public key A77081B52FA2A74F
        RWRPp6IvtYFwp1fM9GUcdnoL84Y3y5ZtTylUl+VlmMaLDc0PY75Bu6Qr

        """

    /// Of `openssl genpkey`.
    static let p256Secret = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgPTmVhsAECqblBqzl
        TlgUGhqxMYbA8aqmTr/rkch558ehRANCAAT5gDFaJ+oamVSVAU0Cxs6xmg20bsFr
        H23LkKPgDCLMaPhaV1fAaSuZ7tBkeHTljm4rYxoO5SF8bWAb+UNiEE/9
        -----END PRIVATE KEY-----
        """
    /// Of `openssl ec`: the same key.
    static let p256SEC1 = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEID05lYbABAqm5Qas5U5YFBoasTGGwPGqpk6/65HIeefHoAoGCCqGSM49
        AwEHoUQDQgAE+YAxWifqGplUlQFNAsbOsZoNtG7Bax9ty5Cj4AwizGj4WldXwGkr
        me7QZHh05Y5uK2MaDuUhfG1gG/lDYhBP/Q==
        -----END EC PRIVATE KEY-----
        """
    static let p256Public = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE+YAxWifqGplUlQFNAsbOsZoNtG7B
        ax9ty5Cj4AwizGj4WldXwGkrme7QZHh05Y5uK2MaDuUhfG1gG/lDYhBP/Q==
        -----END PUBLIC KEY-----
        """
    static let ed25519Secret = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEILexkz3vAREwsMXFEpu2rqkoE3xKGL2RXqi6gZZ/Wia4
        -----END PRIVATE KEY-----
        """
    static let ed25519Public = """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VwAyEAQCB/25WbOGVPPIE9ggYZ1VQ7i+d3HGCOdllf1XZfJyI=
        -----END PUBLIC KEY-----
        """

    /// The key of the examples in minisign's manual, with signatures of `test` that its author published.
    static let publishedKey = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
    static let publishedSignature = """
        untrusted comment: signature from minisign secret key
        RUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9CuhV3EMhHoN1mGTkUidF/z7SrlQgXdy8ofjb7bNJJylDOocrCo8KLzZwo=
        trusted comment: timestamp:1556193335\tfile:test
        y/rUw2y8/hOUYjZU71eHp/Wo1KZ40fGy2VJEDl34XMJM+TX48Ss/17u3IvIfbVR1FkZZSNCisQbuQY+bHwhEBg==

        """
    /// In the form that signs the file itself.
    static let publishedOldSignature = """
        untrusted comment: signature from minisign secret key
        RWQf6LRCGA9i59SLOFxz6NxvASXDJeRtuZykwQepbDEGt87ig1BNpWaVWuNrm73YiIiJbq71Wi+dP9eKL8OC351vwIasSSbXxwA=
        trusted comment: timestamp:1555779966\tfile:test
        QtKMXWyYcwdpZAlPF7tE2ENJkRd1ujvKjlj1m9RtHTBnZPa5WKU5uWRs5GoP5M/VqE81QFuMKI5k/SfNQUaOAA==

        """
}

/// The code of the ``SigningError`` that `body` throws; nil if it throws nothing.
func code(of body: () async throws -> Void) async -> SigningError.Code? {
    do {
        try await body()
        return nil
    } catch { return (error as? SigningError)?.code ?? SigningError.Code(rawValue: "\(error)") }
}
