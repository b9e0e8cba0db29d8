public import Pipeline
public import Results
public import Settings

/// What the daemon answers.
public enum DaemonReply: Sendable, Codable {
    /// The action that was asked for is done or under way.
    case completed(CompletedAction)
    case status(DaemonStatus)
    case settings([SettingRecord])
    /// The run that was accepted; `isNew` is false when the same run existed already.
    case accepted(RunID, isNew: Bool)
    case progress(RunProgress)
    case waiting(WaitState)
    case runs([RunSummary])
    case run(RunDetail)
    case found(RunID)
    /// The document in the format that was asked for.
    case bundle(String)
    case appearances([TestAppearance])
    case flaky([FlakyTest])
    case slowest([SlowTest])
    case trends([TestTrend])
    case comparison(Comparison)
    case collected(CollectReply)
    /// Problems found in the archive; empty if there are none.
    case problems([String])
    case repository(RepositoryFacts)
    case integrityPolicy(IntegrityPolicy)
    case parameters([ParameterDeclaration])
    case reasons([StepReasoning])
    case proofs(ProofStatus)
    case forges([ForgeStatus])
    case mergeQueues([MergeQueueStatus])
    /// Newest first.
    case releases([ReleaseRecord])
    case release(ReleaseDetail)
    case bisect(BisectProgress)
    case fix(FixProgress)
    /// A new token: its text, which is not kept, and what is known of it from now on.
    case token(String, TokenStatus)
    case tokens([TokenStatus])
    /// A link that logs one browser in, once, within five minutes.
    case pagesLink(String)
    case task(TaskReply)
    case machines([MachineUse])
    /// The request can't be carried out; `code` is a ``RequestError/Code``. An older daemon sends no origin.
    case refused(code: String, message: String, origin: RequestError.Origin?)
}

extension DaemonReply {
    /// The answer to a request that was not carried out.
    package static func refused(_ error: RequestError) -> DaemonReply {
        .refused(code: error.code.rawValue, message: error.description, origin: error.origin)
    }

    /// The error of a refusal; nil for any other reply.
    public var refusal: RequestError? {
        guard case .refused(let code, let message, let origin) = self else { return nil }
        return RequestError(RequestError.Code(rawValue: code), message, origin: origin ?? .request)
    }
}
