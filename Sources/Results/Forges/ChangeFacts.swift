/// What a forge says about a change.
public struct ChangeFacts: Sendable, Equatable, Codable {
    public var title: String
    /// The login of who opened it.
    public var author: String
    /// The newest commit, as the forge knows it.
    public var head: String
    /// The branch that it is to be merged into.
    public var target: String
    public var isOpen: Bool
    public var isDraft: Bool
    /// Sorted.
    public var labels: [String]
    /// Owner and name of the repository that it comes from, where that is another one.
    public var headRepository: String?
    /// Who pushed ``head``, and what that person may do; nil where the forge did not say.
    public var pusher: Contributor?

    public init(
        title: String, author: String, head: String, target: String, isOpen: Bool = true, isDraft: Bool = false,
        labels: [String] = [], headRepository: String? = nil, pusher: Contributor? = nil
    ) {
        self.title = title
        self.author = author
        self.head = head
        self.target = target
        self.isOpen = isOpen
        self.isDraft = isDraft
        self.labels = labels
        self.headRepository = headRepository
        self.pusher = pusher
    }
}

/// Somebody at a forge who brings code, and what that person may do in the repository.
public struct Contributor: Sendable, Equatable, Codable {
    /// What somebody may do, or has done.
    public enum Standing: String, Sendable, Codable, CaseIterable {
        /// May push to the repository.
        case writer
        /// May not push, and has had a change merged before.
        case contributor
        /// Neither.
        case newcomer
        /// The forge did not say.
        case unknown
    }

    public var login: String
    public var standing: Standing

    public init(login: String, standing: Standing) { (self.login, self.standing) = (login, standing) }
}
