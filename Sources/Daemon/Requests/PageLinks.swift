import Listening
import Control
import Forges
import Results

/// Where the pages of runs are.
struct PageLinks: Sendable {
    /// For people at the terminals of this machine; nil where no pages are shown, or where only the kernel knows the port.
    let root: String?
    /// For others, such as readers of a check; nil where they can't open it.
    let outside: String?

    init(_ settings: ListenSettings) {
        guard settings.showsPages, let listen = try? settings.options() else {
            (root, outside) = (nil, nil)
            return
        }
        root = listen.url != nil || listen.address.port != 0 ? listen.root : nil
        outside = listen.url
    }

    func page(of run: RunID) -> String? { root.map { Self.page(of: run, at: $0) } }

    /// The page that somebody elsewhere can open.
    func outsidePage(of run: RunID) -> String? { outside.map { Self.page(of: run, at: $0) } }

    private static func page(of run: RunID, at root: String) -> String { "\(root)/runs/\(run)" }

    /// The state with the pages of its runs.
    func named(_ state: WaitState) -> WaitState {
        guard root != nil else { return state }
        var state = state
        for place in state.runs.indices { state.runs[place].page = page(of: state.runs[place].id) }
        return state
    }

    func named(_ run: LiveRun) -> LiveRun {
        var run = run
        run.page = page(of: run.id)
        return run
    }
}
