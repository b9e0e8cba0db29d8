/// A file of the repository that tells agents how to work, such as AGENTS.md.
package struct InstructionFile: Sendable, Equatable {
    /// Below the root of the repository.
    package var path: String
    package var text: String
    /// The file whose `@path` brought it; nil: agents find it by its name.
    package var includedBy: String?
    /// Whether only its beginning is here.
    package var isCut: Bool

    package init(path: String, text: String, includedBy: String? = nil, isCut: Bool = false) {
        self.path = path
        self.text = text
        self.includedBy = includedBy
        self.isCut = isCut
    }
}
