import BuildBox
import Control
import Reports
import Results
import StateFiles

/// The bounded document about one run that an agent can act on, from the daemon or, without one, from the state.
struct BundleSource {
    let state: StateFolder
    let run: RunID

    /// - Parameter bytes: At most so many; fewer than ``BundleDraft/minimumBytes`` count as that.
    func text(_ format: BundleFormat, bytes: Int) async throws -> String {
        let access = try await DaemonAccess.open(
            state, purpose: "bundle", options: BoxSettings.options(in: state), log: Log.quiet)
        let found = BundleText()
        do {
            try await access.ask(.bundle(BundleRequest(run: run, bytes: bytes, format: format))) { reply in
                if case .bundle(let text) = reply { await found.set(text) }
            }
        } catch {
            await access.close()
            throw error
        }
        await access.close()
        guard let text = await found.text else {
            throw CommandEnd(code: 3, message: "the daemon gave no bundle; is it another version of pipectl?")
        }
        return text
    }
}

private actor BundleText {
    private(set) var text: String?
    func set(_ text: String) { self.text = text }
}
