@testable import ForgeConnection
import Testing

@testable import Forges

@Suite struct AddressTests {
    @Test(arguments: [
        ("https://github.com/octo/hello", ForgeKind.github, "https://api.github.com", "octo/hello"),
        ("https://github.com/octo/hello.git", .github, "https://api.github.com", "octo/hello"),
        ("git@github.com:octo/hello.git", .github, "https://api.github.com", "octo/hello"),
        ("https://github.example.org/octo/hello/", .github, "https://github.example.org/api/v3", "octo/hello"),
        ("https://gitlab.com/a/b/c", .gitlab, "https://gitlab.com/api/v4", "a/b/c"),
        ("https://codeberg.org/o/n", .forgejo, "https://codeberg.org/api/v1", "o/n"),
        ("https://gitea.example.org:3000/o/n", .gitea, "https://gitea.example.org:3000/api/v1", "o/n"),
    ])
    func `a repository's page tells the forge, its API and the project`(
        text: String, kind: ForgeKind, api: String, project: String
    ) throws {
        let address = try ForgeAddress(text)
        #expect(address.kind == kind)
        #expect(address.api == api)
        #expect(address.project == project)
        #expect(try ForgeAddress(json: address.json()) == address)
    }

    @Test(arguments: [
        "", "octo/hello", "https://github.com", "https://github.com/octo", "https://github.com/octo/hello/pulls/1",
        "http://github.com/octo/hello", "https://user:secret@github.com/octo/hello",
        "https://github.com/octo/hello?x=1",
        "https://git.example.org/o/n", "https://github.com/../hello", "https://github.com/octo/%2e%2e",
        "ftp://github.com/octo/hello", "https://github.com/octo/he llo", "https://github.com/o%0a/n", "https:///o/n",
        "file:///etc/passwd", "https://gitlab.com/a//..",
    ])
    func `what is not the address of one repository is refused`(text: String) {
        #expect { try ForgeAddress(text) } throws: { ($0 as? ForgeError)?.code == .badAddress }
    }

    @Test func `a refusal does not repeat a password`() {
        #expect {
            try ForgeAddress("https://user:hunter2@github.com/octo/hello")
        } throws: { !"\($0)".contains("hunter2") }
    }
}

@Suite struct CredentialTests {
    @Test func `a token and an App are read as they are kept`() throws {
        let app = ForgeCredential.app(
            id: "1001", privateKey: "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\n")
        #expect(try ForgeCredential(text: app.text) == app)
        #expect(try ForgeCredential(text: "ghp_abcdefgh\n") == .token("ghp_abcdefgh"))
    }

    @Test(arguments: [
        "", "\n", "short", "a b\u{7}cdefghij\u{e9}", "app 1\nnot a key", String(repeating: "x", count: 5_000),
    ])
    func `what can't be a credential is refused`(text: String) {
        #expect { try ForgeCredential(text: text) } throws: { ($0 as? ForgeError)?.code == .badCredential }
    }

    @Test func `a credential is shown nowhere`() {
        let all: [ForgeCredential] = [.token("ghp_secret1"), .app(id: "7", privateKey: "ghp_secret1")]
        for credential in all {
            var dumped = ""
            dump(credential, to: &dumped)
            for text in ["\(credential)", String(reflecting: credential), dumped, "\([credential])"] {
                #expect(!text.contains("ghp_secret1"))
            }
        }
    }
}
