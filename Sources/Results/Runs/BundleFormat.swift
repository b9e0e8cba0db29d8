/// The format of a bundle: what must change before a run passes.
public enum BundleFormat: String, Sendable, Codable, CaseIterable {
    case json, markdown
}
