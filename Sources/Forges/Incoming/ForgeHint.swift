import ForgeConnection
import Foundation

/// What a delivery tells: where to look. What is true is fetched.
enum ForgeHint: Sendable, Equatable {
    /// Refs may have moved.
    case refs
    /// Something about a change is new; `push` where it says who pushed which head.
    case change(Int, push: ForgePush?)
    /// A change has a comment that may hold a command.
    case comment(change: Int)
    /// An issue is new, was labelled, or has a comment; `by` is who did it where the delivery says so.
    case issue(Int, by: ForgeUser?)
    /// Somebody pressed a button of a check. Only the delivery itself tells, so what it says is taken, once.
    case button(ForgeButton)
    /// Nothing of concern.
    case nothing
}

/// Who pushed a head.
struct ForgePush: Sendable, Equatable {
    var head: String
    var by: ForgeUser
}

/// A button that somebody pressed at a check.
struct ForgeButton: Sendable, Equatable, Codable {
    /// The run whose check it is; nil for all runs of ``head``.
    var run: Int64?
    var head: String
    /// `rerun`, `rerun-failed` or `approve`.
    var identifier: String
    var by: ForgeUser
    /// Names this press of the button.
    var key: String
}

extension ForgeHint {
    /// Reads a delivery whose signature holds.
    ///
    /// Which event it is follows from the body, which is signed, and not from a header, which is not.
    ///
    /// - Parameters:
    ///   - key: Names this delivery.
    ///   - project: The connected repository at the forge; deliveries about others tell nothing.
    /// - Throws: ``ForgeError`` with `.badAnswer` where it is not what the forge's API describes.
    init(_ body: Data, kind: ForgeKind, project: String, key: String) throws {
        let payload: Payload
        do {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            payload = try decoder.decode(Payload.self, from: body)
        } catch {
            throw ForgeError(.badAnswer, "the delivery is not what the forge's API describes")
        }
        guard let name = payload.projectName, name.lowercased() == project.lowercased() else {
            self = .nothing
            return
        }
        self = kind == .gitlab ? payload.gitlabHint : payload.hint(key: key, project: project)
    }
}

/// The few fields of deliveries that are read.
private struct Payload: Decodable {
    var action: String?
    var number: Int?
    var ref: String?
    var repository: Repository?
    var pullRequest: PullRequest?
    var issue: Issue?
    var comment: Comment?
    var review: Empty?
    var checkRun: CheckRun?
    var checkSuite: CheckSuite?
    var requestedAction: RequestedAction?
    var sender: Sender?
    // GitLab
    var objectKind: String?
    var project: Project?
    var objectAttributes: ObjectAttributes?
    var mergeRequest: MergeRequest?
    var changes: Changes?
    var user: Sender?

    struct Repository: Decodable { var fullName: String? }
    struct PullRequest: Decodable {
        var number: Int?
        var head: Head?
        struct Head: Decodable { var sha: String? }
    }
    struct Issue: Decodable {
        var number: Int?
        /// GitLab's number.
        var iid: Int?
        var pullRequest: Empty?
    }
    struct Empty: Decodable {}
    struct Comment: Decodable { var id: Int? }
    struct CheckRun: Decodable {
        var externalId: String?
        var headSha: String?
    }
    struct CheckSuite: Decodable { var headSha: String? }
    struct RequestedAction: Decodable { var identifier: String? }
    struct Sender: Decodable {
        var login: String?
        var username: String?
        var id: Int?
    }
    struct Project: Decodable { var pathWithNamespace: String? }
    struct ObjectAttributes: Decodable {
        var iid: Int?
        var action: String?
        var noteableType: String?
        var oldrev: String?
        var lastCommit: LastCommit?
        struct LastCommit: Decodable { var id: String? }
    }
    struct MergeRequest: Decodable { var iid: Int? }
    struct Changes: Decodable { var labels: Empty? }

    var projectName: String? { project?.pathWithNamespace ?? repository?.fullName }

    private func person(_ sender: Sender?) -> ForgeUser? {
        guard let name = sender?.login ?? sender?.username, !name.isEmpty, name.utf8.count <= 255 else { return nil }
        return ForgeUser(login: name, id: sender?.id)
    }

    private static func commit(_ text: String?) -> String? {
        guard let text, [40, 64].contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        return text
    }

    private func number(_ found: Int?) -> Int? { found.flatMap { $0 > 0 && $0 <= Int32.max ? $0 : nil } }

    private func push(_ head: String?, by sender: Sender?) -> ForgePush? {
        guard let head = Self.commit(head), let person = person(sender) else { return nil }
        return ForgePush(head: head, by: person)
    }

    /// GitHub, Gitea and Forgejo.
    func hint(key: String, project: String) -> ForgeHint {
        if checkRun != nil || checkSuite != nil { return button(key: key, project: project) }
        if let pullRequest, let number = number(pullRequest.number ?? number) {
            if comment != nil || review != nil { return .comment(change: number) }
            // Only these two bring commits; who edits a title has pushed nothing.
            let pushes = ["opened", "synchronize", "synchronized", "reopened"].contains(action ?? "")
            return .change(number, push: pushes ? push(pullRequest.head?.sha, by: sender) : nil)
        }
        if let issue, let number = number(issue.number) {
            if issue.pullRequest != nil { return comment != nil ? .comment(change: number) : .nothing }
            // Who writes a comment has set no label.
            return .issue(number, by: comment == nil ? person(sender) : nil)
        }
        return ref != nil ? .refs : .nothing
    }

    private func button(key: String, project: String) -> ForgeHint {
        guard let person = person(sender) else { return .nothing }
        if let checkRun, let head = Self.commit(checkRun.headSha) {
            let identifier = action == "requested_action" ? requestedAction?.identifier : "rerun"
            // Checks that are not pipectl's own have another id.
            let prefix = "\(project) run "
            guard action == "requested_action" || action == "rerequested", let identifier,
                ["rerun", "rerun-failed", "approve"].contains(identifier), let external = checkRun.externalId,
                external.lowercased().hasPrefix(prefix.lowercased()), let run = Int64(external.dropFirst(prefix.count)),
                run > 0
            else { return .nothing }
            return .button(ForgeButton(run: run, head: head, identifier: identifier, by: person, key: key))
        }
        guard action == "rerequested", checkRun == nil, let head = Self.commit(checkSuite?.headSha) else {
            return .nothing
        }
        return .button(ForgeButton(run: nil, head: head, identifier: "rerun", by: person, key: key))
    }

    var gitlabHint: ForgeHint {
        switch objectKind {
        case "merge_request":
            guard let number = number(objectAttributes?.iid) else { return .nothing }
            let pushes =
                objectAttributes?.action == "open" || objectAttributes?.action == "reopen"
                || objectAttributes?.oldrev != nil
            return .change(number, push: pushes ? push(objectAttributes?.lastCommit?.id, by: user) : nil)
        case "note":
            if objectAttributes?.noteableType == "MergeRequest", let number = number(mergeRequest?.iid) {
                return .comment(change: number)
            }
            guard objectAttributes?.noteableType == "Issue", let number = number(issue?.iid) else { return .nothing }
            return .issue(number, by: nil)
        case "issue":
            guard let number = number(objectAttributes?.iid) else { return .nothing }
            let labels = objectAttributes?.action == "open" || changes?.labels != nil
            return .issue(number, by: labels ? person(user) : nil)
        case "push", "tag_push": return .refs
        default: return .nothing
        }
    }
}
