import Engine

/// That workspaces can be laid over layers on this machine, and with what.
struct Layering: Sendable {
    let stepInit: String
}
