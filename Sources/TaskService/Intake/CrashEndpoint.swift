import Crypto
package import Foundation

/// Takes crash reports of other services over HTTP, each for a repository that declares it. It knows no HTTP.
package struct CrashEndpoint: Sendable {
    /// The name of the secret that is the endpoint's token.
    package static let tokenName = "CRASH_TOKEN"
    /// The path; a repository's name may follow after a slash.
    package static let path = "/api/crashes"
    /// Bytes of a report.
    static let mostBytes = 4 << 20
    /// Bytes of a body: as JSON, a report may take twice as many, and has words beside it.
    static let mostBodyBytes = 2 * mostBytes + (64 << 10)
    /// Bytes of the words beside a report.
    static let mostWords = 16 << 10

    /// What a service sent.
    package struct Delivery: Sendable, Equatable {
        package var repository: String
        package var report: Data
        /// What somebody says to it.
        package var text: String?
        /// The version that crashed, if the service knows it.
        package var version: String?
    }

    /// What became of a report.
    package struct Taken: Sendable, Equatable {
        package var task: Int64
        package var isNew: Bool
        /// How many reports of this crash came.
        package var count: Int
        package var state: String

        package init(task: Int64, isNew: Bool, count: Int, state: String) {
            (self.task, self.isNew, self.count, self.state) = (task, isNew, count, state)
        }
    }

    /// Why a report makes no task, for who sent it: a sentence.
    package struct Refusal: Error, Sendable, Equatable {
        package var sentence: String
        package init(_ sentence: String) { self.sentence = sentence }
    }

    /// What a request is answered with.
    struct Answer: Sendable, Equatable {
        /// The HTTP status.
        var status: Int
        /// JSON.
        var body: String
        /// Seconds until another request makes sense.
        var retryAfter: Int?
        /// Whether what is left of the body is not read.
        var closes = false
    }

    let gate: CrashGate
    /// The repositories that take reports, by their names, with their tokens; nil: none is set.
    private let repositories: @Sendable () async throws -> [String: [UInt8]?]
    private let take: @Sendable (Delivery) async throws -> Taken

    /// - Parameters:
    ///   - repositories: Those that declare the endpoint, and their tokens.
    ///   - take: Makes a task, or counts the report; throws ``Refusal`` where it is none.
    package init(
        repositories: @escaping @Sendable () async throws -> [String: [UInt8]?],
        take: @escaping @Sendable (Delivery) async throws -> Taken
    ) {
        self.init(gate: CrashGate(), repositories: repositories, take: take)
    }

    init(
        gate: CrashGate, repositories: @escaping @Sendable () async throws -> [String: [UInt8]?],
        take: @escaping @Sendable (Delivery) async throws -> Taken
    ) {
        (self.gate, self.repositories, self.take) = (gate, repositories, take)
    }

    /// Whether a request is for this endpoint.
    package static func isMeant(_ target: String?) -> Bool {
        let path = (target ?? "").prefix { $0 != "?" }
        return path == Self.path || path.hasPrefix(Self.path + "/")
    }

    /// Decides about a request before its body is read.
    ///
    /// - Parameters:
    ///   - headers: By their names in lower case.
    ///   - address: Of the other end.
    /// - Returns: The repository that the report is for, or the refusal.
    func admit(
        method: String, target: String, headers: [String: String], address: String
    ) async -> Result<String, AnswerError> {
        guard let name = Self.name(target) else { return .failure(.refused(404, "no repository has this name")) }
        guard method == "POST" else { return .failure(.refused(405, "send the report as the body of a POST")) }
        if let pause = gate.pause(for: address) {
            return .failure(.refused(429, "too many wrong tokens; try again in a minute", retryAfter: pause))
        }
        let known: [String: [UInt8]?]
        do {
            known = try await repositories()
        } catch {
            return .failure(
                .refused(503, "the build box can't tell now which repositories take crash reports", retryAfter: 30))
        }
        // Who does not know a token does not learn which repositories there are.
        let token = Self.token(headers["authorization"])
        let matching = known.filter { repository, wanted in
            (name.isEmpty || repository == name) && Self.isEqual(token, wanted)
        }
        guard let repository = matching.keys.min() else {
            gate.noteFailure(of: address)
            return .failure(
                .refused(
                    401,
                    "the token is wrong, or nobody takes crash reports here; declare .crashEndpoint, and set it with "
                        + "`pipectl secrets set \(Self.tokenName)`"))
        }
        guard matching.count == 1 else {
            return .failure(
                .refused(400, "several repositories have this token; send the report to \(Self.path)/REPOSITORY"))
        }
        if let length = headers["content-length"], Int(length).map({ $0 > Self.mostBodyBytes || $0 < 0 }) ?? true {
            return .failure(.tooLarge)
        }
        if let pause = gate.take(repository) {
            return .failure(
                .refused(
                    429, "more than \(CrashGate.mostReports) reports came within a minute; send it again later",
                    retryAfter: pause))
        }
        return .success(repository)
    }

    /// Takes the report of an admitted request.
    func answer(_ body: Data, for repository: String) async -> Answer {
        guard body.count <= Self.mostBodyBytes, let delivery = Self.delivery(body, for: repository) else {
            return AnswerError.tooLarge.answer
        }
        guard delivery.report.contains(where: { $0 > 0x20 }) else {
            return AnswerError.refused(400, "the body has no crash report").answer
        }
        do {
            let taken = try await take(delivery)
            return Answer(
                status: taken.isNew ? 201 : 200,
                body: Self.json(
                    ["task": taken.task, "isNew": taken.isNew, "count": taken.count, "state": taken.state]))
        } catch let refusal as Refusal {
            return AnswerError.refused(422, refusal.sentence).answer
        } catch {
            return AnswerError.refused(503, "the report can't be taken now; send it again later", retryAfter: 30).answer
        }
    }

    /// Why a request is refused.
    enum AnswerError: Error, Equatable {
        case refused(Int, String, retryAfter: Int? = nil)

        static var tooLarge: AnswerError {
            .refused(413, "a crash report may have \(CrashEndpoint.mostBytes >> 20) MiB; send it without other threads")
        }

        var answer: Answer {
            guard case .refused(let status, let sentence, let retryAfter) = self else {
                return Answer(status: 500, body: "")
            }
            return Answer(
                status: status, body: CrashEndpoint.json(["error": sentence]), retryAfter: retryAfter, closes: true)
        }
    }

    // MARK: Reading

    /// The name in the path; empty without one; nil if it can be none.
    private static func name(_ target: String) -> String? {
        let path = target.prefix { $0 != "?" }
        guard path.utf8.count <= 2_000, path.hasPrefix(Self.path) else { return nil }
        let rest = path.dropFirst(Self.path.count)
        guard rest.hasPrefix("/"), rest.count > 1 else { return rest.isEmpty || rest == "/" ? "" : nil }
        let name = rest.dropFirst()
        return name.contains("/") ? nil : String(name).removingPercentEncoding
    }

    private static func token(_ header: String?) -> [UInt8] {
        guard let header, header.utf8.count <= 4_096, header.prefix(7).lowercased() == "bearer " else { return [] }
        return Array(header.dropFirst(7).trimmingCharacters(in: .whitespaces).utf8)
    }

    /// Compared under a key of this moment: it takes the same time whatever differs.
    private static func isEqual(_ token: [UInt8], _ wanted: [UInt8]?) -> Bool {
        guard let wanted else { return false }
        var trimmed = wanted[...]
        while let last = trimmed.last, [0x0A, 0x0D, 0x20].contains(last) { trimmed.removeLast() }
        guard trimmed.count >= 16, !token.isEmpty else { return false }
        let key = SymmetricKey(size: .bits256)
        let code = HMAC<SHA256>.authenticationCode(for: Data(token), using: key)
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Data(trimmed), using: key)
    }

    /// A body is the report, or a JSON object with the report and words beside it; nil if the report is too large.
    static func delivery(_ body: Data, for repository: String) -> Delivery? {
        struct Envelope: Decodable {
            var report: String
            var text: String?
            var version: String?
        }
        var delivery = Delivery(repository: repository, report: body)
        // Reports of Apple's newer form are JSON, too, without such a field.
        if let envelope = try? JSONDecoder().decode(Envelope.self, from: body) {
            delivery.report = Data(envelope.report.utf8)
            delivery.text = envelope.text.map { String(decoding: $0.utf8.prefix(mostWords), as: UTF8.self) }
            delivery.version = envelope.version.map { String($0.unicodeScalars.prefix(100)) }
        }
        return delivery.report.count <= mostBytes ? delivery : nil
    }

    private static func json(_ values: [String: Any]) -> String {
        let data = try? JSONSerialization.data(withJSONObject: values, options: [.sortedKeys, .withoutEscapingSlashes])
        return data.map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
