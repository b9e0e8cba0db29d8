internal import Crypto
public import Foundation

/// A request for approval, and the answer once there is one: may this run, or this step of it, continue?
public struct Approval: Sendable, Equatable, Codable {
    /// The answer to a request for approval.
    public enum Decision: String, Sendable, Codable { case approved, rejected }

    /// The step that waits; nil for the run itself, before its first step.
    public var step: String?
    /// Why an approval is needed, in one sentence.
    public var why: String
    /// The pushed commit that the approval is for, hexadecimal.
    public var head: String
    /// The tree id of the `workflows/` that would be used.
    public var definition: String
    /// A digest of what the answer applies to: see ``binding(_:definition:run:)``.
    public var binding: String
    /// When the approval was requested.
    public var askedAt: Date
    /// Nil until somebody has answered.
    public var decision: Decision?
    /// The login name of the person who answered, from the system's user database.
    public var by: String?
    /// The user id of that person, as the kernel reported it.
    public var user: UInt32?
    /// When it was answered.
    public var decidedAt: Date?
    /// The person's reason. Any text.
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

    /// The digest of what an answer applies to: the exact commit, definition, ref, parameters and steps.
    ///
    /// - Parameter run: Set if the answer is for this run only, as for a release. Nil if a rerun or retest of exactly
    ///   the same thing need not ask again.
    /// - Parameter breaches: Rules that the approval is about besides the commit. The answer applies to exactly these.
    public static func binding(
        _ request: RunRequest, definition: String, run: RunID? = nil, breaches: [String] = []
    ) -> String {
        var hash = SHA256()
        func add(_ text: String) {
            // Each part is preceded by its length, so that two different lists of parts never give the same bytes.
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

    /// The command with which one answers.
    public static func command(_ run: RunID, step: String? = nil) -> String {
        guard let step else { return "pipectl approve \(run)" }
        return "pipectl approve \(run) --step \(step.shellWord)"
    }

    /// `approved by ada (user 1000) on 21 Nov 2026, 14:03:22 UTC: looks right`. The comment is untrusted and not
    /// escaped.
    public var inWords: String {
        guard let decision, let decidedAt else { return "waiting since \(Figures.dateAndTime(askedAt))" }
        let who = "\(by ?? "?")\(user.map { " (user \($0))" } ?? "")"
        return "\(decision.rawValue) by \(who) on \(Figures.dateAndTime(decidedAt))" + (comment.map { ": \($0)" } ?? "")
    }
}
