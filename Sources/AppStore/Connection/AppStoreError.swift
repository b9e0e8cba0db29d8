import Delivery

/// Why App Store Connect did not do what it was asked.
struct AppStoreError: Error, Sendable, Equatable, CustomStringConvertible {
    enum Code: Sendable {
        /// The API key can't be read.
        case badKey
        /// No answer, or one that was cut off. The request may have taken effect.
        case unreachable
        /// 5xx. The request may have taken effect.
        case unavailable
        /// 429.
        case limited
        /// 401.
        case unauthorized
        /// 403.
        case forbidden
        /// 404.
        case notFound
        /// 409: the state, or a value, does not allow it.
        case conflict
        /// Any other 4xx.
        case refused
        /// The answer is not as the API's description says.
        case badAnswer
        /// This machine failed.
        case machine
    }

    var code: Code
    var description: String
    /// In seconds: how long Apple wants no request; nil if it did not say.
    var pause: Double?

    init(_ code: Code, _ description: String, pause: Double? = nil) {
        self.code = code
        self.description = description
        self.pause = pause
    }

    /// Whether the same request may succeed later.
    var mayPass: Bool { [.unreachable, .unavailable, .limited].contains(code) }

    /// The error as a step shows it.
    var problem: DeliveryProblem {
        switch code {
        case .badKey: DeliveryProblem(.refused, "\(description).".capitalizedFirst)
        case .unauthorized:
            DeliveryProblem(
                .refused,
                "App Store Connect does not accept the API key: \(description). Check its id, its issuer and that it is "
                    + "not revoked, under Users and Access, Integrations.")
        case .forbidden:
            DeliveryProblem(
                .refused,
                "The API key may not do this: \(description). Give it the role App Manager or Developer, under Users and "
                    + "Access, Integrations; an account holder may also have to accept new agreements.")
        case .unreachable, .unavailable, .limited, .badAnswer:
            DeliveryProblem(
                .unreachable, "App Store Connect did not answer as it should: \(description). Run the step again later."
            )
        case .notFound, .conflict, .refused:
            DeliveryProblem(.invalid, "App Store Connect refused a request: \(description).")
        case .machine: DeliveryProblem(.machine, "\(description).".capitalizedFirst)
        }
    }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
