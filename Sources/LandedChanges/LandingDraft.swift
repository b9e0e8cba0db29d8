/// What is known about changes without merging: which ones landed for certain, and what a merge must decide.
package struct LandingDraft: Sendable {
    /// A commit that may have landed a change.
    struct Option: Sendable {
        var claim: LandingClaim
        /// The condition for it; nil if there is none left.
        var question: LandingQuestion?
    }

    /// Claims by ancestry.
    var claims: [LandingClaim] = []
    /// For each change that is not in the target's history: the commits that may have landed it, in the order in which
    /// they are tried.
    var options: [(change: ChangeHead, options: [Option])] = []
    /// The changes' names, in the caller's order.
    let names: [String]
    /// The changes' numbers.
    let known: Set<Int>

    init(_ changes: [ChangeHead]) {
        names = changes.map(\.name)
        known = Set(changes.compactMap { NamedChange.number(of: $0.name) })
    }

    /// All questions, each once.
    package var questions: [LandingQuestion] {
        var seen: Set<LandingQuestion> = []
        return options.flatMap(\.options).compactMap(\.question).filter { seen.insert($0).inserted }
    }

    /// The changes that landed, in the caller's order.
    ///
    /// - Parameter holds: Whether the answer is yes. It is called until the first yes for each change.
    package func landings<E: Error>(_ holds: (LandingQuestion) throws(E) -> Bool) throws(E) -> [LandedChange] {
        var found = LandingClaims(claims: claims, known: known)
        for (_, options) in options {
            for option in options {
                if let question = option.question, try !holds(question) { continue }
                found.claims.append(option.claim)
                break
            }
        }
        found.settle()
        found.add(inside: options.map(\.change))
        let order = Dictionary(names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        return found.claims.map(\.landing).sorted { order[$0.change, default: 0] < order[$1.change, default: 0] }
    }

    /// The same, if all answers are known.
    package func landings(confirmed: Set<LandingQuestion>) -> [LandedChange] { landings { confirmed.contains($0) } }
}
