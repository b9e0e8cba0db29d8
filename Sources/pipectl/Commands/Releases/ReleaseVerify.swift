import ArgumentParser
import Client
import Control
import Delivery
import Results
import Signing

struct ReleaseVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Checks the files of a release as the daemon keeps them.",
        discussion: """
            Does what `pipectl verify` does with a copy of them, and has the same exit codes. The list of a draft is signed \
            when publishing begins: until then its files are compared with the daemon's record, which needs no key.
            """)

    @OptionGroup var release: ReleaseOption
    @OptionGroup var options: VerifyOptions

    func run() async throws {
        let detail = try await release.detail()
        guard detail.release.state == .draft else { return try options.check([detail.folder]) }
        try options.check(draft: ReleaseManifest(detail.release), in: detail.folder)
    }
}
