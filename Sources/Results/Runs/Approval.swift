internal import Crypto
public import Foundation

/// A question to a person, and the answer once there is one: may this run, or this step of it, go on?
public struct Approval: Sendable, Equatable, Codable {
    public enum Decision: String, Sendable, Codable { case approved, rejected }

    /// The step that waits; nil for the run itself, before its first step.
    public var step: String?
    /// Why a person is asked, in one sentence.
    public var why: String
    /// The pushed commit that is asked about, hexadecimal.
    public var head: String
    /// The tree id of the `workflows/` that would run.
    public var definition: String
    /// What the answer holds for, as a digest: see ``binding(_:definition:run:)``.
    public var binding: String
    public var askedAt: Date
    /// Nil while nobody has answered.
    public var decision: Decision?
    /// The login name of who answered, from the system's user database.
    public var by: String?
    /// Their user id, as the kernel told it.
    public var user: UInt32?
    public var decidedAt: Date?
    /// Their reason, as they wrote it: any text.
    public var comment: String?

    public init(
        step: String? = nil, why: String, head: String, definition: String, binding: String, askedAt: Date,
        decision: Decision? = nil, by: String? = nil, user: UInt32? = nil, decidedAt: Date? = nil,
        comment: String? = nil
    ) {
        self.step = step
        self.why = why
        self.head = head
        self.definition = definition
        self.binding = binding
        self.askedAt = askedAt
        self.decision = decision
        self.by = by
        self.user = user
        self.decidedAt = decidedAt
        self.comment = comment
    }

    /// What an answer is bound to: the exact commit, definition, ref, parameters and steps.
    ///
    /// - Parameter run: Set where the answer is for this run alone, as for a release; nil where another run of the very
    ///   same thing, a rerun or a retest, need not ask again.
    /// - Parameter breaches: What is asked about beside the commit itself: the answer holds for these and no others.
    public static func binding(
        _ request: RunRequest, definition: String, run: RunID? = nil, breaches: [String] = []
    ) -> String {
        var hash = SHA256()
        func add(_ text: String) {
            // The length first: no two lists of parts give the same bytes.
            hash.update(data: Data("\(text.utf8.count):".utf8))
            hash.update(data: Data(text.utf8))
        }
        for part in [request.repository, request.workflow, request.ref, request.head, definition] { add(part) }
        for (name, value) in request.parameters.sorted(by: { $0.key < $1.key }) { add("\(name)=\(value)") }
        add("steps")
        for step in request.onlySteps?.sorted() ?? [] { add(step) }
        add("run \(run ?? 0)")
        for breach in breaches.sorted() { add("breach \(breach)") }
        return hash.finalize().map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }

    /// The command that answers.
    public static func command(_ run: RunID, step: String? = nil) -> String {
        guard let step else { return "pipectl approve \(run)" }
        return "pipectl approve \(run) --step \(step.shellWord)"
    }

    /// `approved by ada (user 1000) on 21 Nov 2026, 14:03:22 UTC: looks right`; the comment is not cleaned.
    public var inWords: String {
        guard let decision, let decidedAt else { return "waiting since \(Figures.dateAndTime(askedAt))" }
        let who = "\(by ?? "?")\(user.map { " (user \($0))" } ?? "")"
        return "\(decision.rawValue) by \(who) on \(Figures.dateAndTime(decidedAt))" + (comment.map { ": \($0)" } ?? "")
    }
}
