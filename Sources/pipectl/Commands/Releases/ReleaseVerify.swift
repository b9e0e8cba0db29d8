import ArgumentParser
import Client
import Control

struct ReleaseVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Checks the files of a release as the daemon keeps them.",
        discussion: "Does what `pipectl verify` does with a copy of them, and has the same exit codes.")

    @OptionGroup var release: ReleaseOption
    @OptionGroup var options: VerifyOptions

    func run() async throws { try options.check([try await release.detail().folder]) }
}
