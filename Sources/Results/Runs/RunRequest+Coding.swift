internal import Pipeline

/// The JSON of a request lies in the store and is read by the next version: keys stay. The kind's payload has keys of its
/// own beside the others, so that SQL finds them.
extension RunRequest: Codable {
    private enum Key: String, CodingKey {
        case repository, workflow, event, ref, branch, head, definitionCommit, previous, change, mergedChanges
        case parameters, onlySteps, onlyTests, nonce, subject, concurrency, runsAtMostOnce, source
        case refusesProofs, isForeground, isClean, isForAgent, machine, askedBy
        case kind, rerunOf, origin, repetition, resumes, upkeep, isMissed, warmRun, warmFailed, learning, fix,
            landing,
            task
    }

    /// A kind of which nothing but its name is written.
    private enum PlainKind: String, Codable { case triggered, manual }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        self.init(
            repository: try values.decode(String.self, forKey: .repository),
            workflow: try values.decode(String.self, forKey: .workflow),
            event: try values.decode(Trigger.Event.self, forKey: .event),
            ref: try values.decode(String.self, forKey: .ref),
            branch: try values.decodeIfPresent(String.self, forKey: .branch),
            head: try values.decode(String.self, forKey: .head),
            definitionCommit: try values.decode(String.self, forKey: .definitionCommit),
            previous: try values.decodeIfPresent(String.self, forKey: .previous),
            change: try values.decodeIfPresent(Change.self, forKey: .change),
            mergedChanges: try values.decode([MergedChange].self, forKey: .mergedChanges),
            parameters: try values.decode([String: String].self, forKey: .parameters),
            onlySteps: try values.decodeIfPresent([String].self, forKey: .onlySteps),
            nonce: try values.decode(String.self, forKey: .nonce),
            subject: try values.decode(String.self, forKey: .subject),
            concurrency: try values.decode(Concurrency.self, forKey: .concurrency),
            runsAtMostOnce: try values.decode(Bool.self, forKey: .runsAtMostOnce))
        onlyTests = try values.decodeIfPresent([KnownTest].self, forKey: .onlyTests)
        source = try values.decodeIfPresent(String.self, forKey: .source)
        func isSet(_ key: Key) throws -> Bool { try values.decodeIfPresent(Bool.self, forKey: key) ?? false }
        options.refusesProofs = try isSet(.refusesProofs)
        options.isForeground = try isSet(.isForeground)
        options.isClean = try isSet(.isClean)
        options.isForAgent = try isSet(.isForAgent)
        options.machine = try values.decodeIfPresent(String.self, forKey: .machine)
        options.askedBy = try values.decodeIfPresent(String.self, forKey: .askedBy)
        kind = try Self.kind(values, event, nonce)
    }

    private static func kind(
        _ values: KeyedDecodingContainer<Key>, _ event: Trigger.Event, _ nonce: String
    ) throws -> RunKind {
        if let role = try values.decodeIfPresent(FixRole.self, forKey: .fix) { return .fix(role) }
        if let role = try values.decodeIfPresent(TaskRole.self, forKey: .task) { return .task(role) }
        if let changes = try values.decodeIfPresent([MergedChange].self, forKey: .landing) { return .landing(changes) }
        switch try values.decodeIfPresent(BackgroundRun.self, forKey: .upkeep) {
        case .warmUp: return .warmUp(isMissed: try values.decodeIfPresent(Bool.self, forKey: .isMissed) ?? false)
        case .cleanBuild:
            return .cleanBuild(
                of: try values.decodeIfPresent(RunID.self, forKey: .warmRun),
                hasFailed: try values.decodeIfPresent(Bool.self, forKey: .warmFailed) ?? false)
        case .bisect: return .bisect
        case .flakeProbe: return .flakeProbe(try values.decodeIfPresent(Int.self, forKey: .learning) ?? 1)
        case nil: break
        }
        if let run = try values.decodeIfPresent(RunID.self, forKey: .rerunOf) {
            return .rerun(
                RunKind.Rerun(
                    of: run, origin: try values.decodeIfPresent(RunID.self, forKey: .origin),
                    number: try values.decodeIfPresent(Int.self, forKey: .repetition) ?? 2,
                    resumes: try values.decodeIfPresent(RunID.self, forKey: .resumes) != nil))
        }
        switch try values.decodeIfPresent(PlainKind.self, forKey: .kind) {
        case .triggered: return .triggered
        case .manual: return .manual
        // Written before requests named their kind: only the nonce of a run by hand is none of these.
        case nil:
            let isTriggered =
                event == .schedule || nonce.isEmpty || nonce.hasPrefix("onto ") || nonce.hasPrefix("after run ")
            return isTriggered ? .triggered : .manual
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(repository, forKey: .repository)
        try values.encode(workflow, forKey: .workflow)
        try values.encode(event, forKey: .event)
        try values.encode(ref, forKey: .ref)
        try values.encodeIfPresent(branch, forKey: .branch)
        try values.encode(head, forKey: .head)
        try values.encode(definitionCommit, forKey: .definitionCommit)
        try values.encodeIfPresent(previous, forKey: .previous)
        try values.encodeIfPresent(change, forKey: .change)
        try values.encode(mergedChanges, forKey: .mergedChanges)
        try values.encode(parameters, forKey: .parameters)
        try values.encodeIfPresent(onlySteps, forKey: .onlySteps)
        try values.encodeIfPresent(onlyTests, forKey: .onlyTests)
        try values.encode(nonce, forKey: .nonce)
        try values.encode(subject, forKey: .subject)
        try values.encode(concurrency, forKey: .concurrency)
        try values.encode(runsAtMostOnce, forKey: .runsAtMostOnce)
        try values.encodeIfPresent(source, forKey: .source)
        try values.encode(flag: options.refusesProofs, forKey: .refusesProofs)
        try values.encode(flag: options.isForeground, forKey: .isForeground)
        try values.encode(flag: options.isClean, forKey: .isClean)
        try values.encode(flag: options.isForAgent, forKey: .isForAgent)
        try values.encodeIfPresent(options.machine, forKey: .machine)
        try values.encodeIfPresent(options.askedBy, forKey: .askedBy)
        try encodeKind(&values)
    }

    private func encodeKind(_ values: inout KeyedEncodingContainer<Key>) throws {
        try values.encodeIfPresent(background, forKey: .upkeep)
        try values.encodeIfPresent(resumes, forKey: .resumes)
        switch kind {
        case .triggered: try values.encode(PlainKind.triggered, forKey: .kind)
        case .manual: try values.encode(PlainKind.manual, forKey: .kind)
        case .rerun(let rerun):
            try values.encode(rerun.of, forKey: .rerunOf)
            try values.encode(rerun.origin, forKey: .origin)
            try values.encode(rerun.number, forKey: .repetition)
        case .warmUp(let isMissed): try values.encode(flag: isMissed, forKey: .isMissed)
        case .cleanBuild(let run, let hasFailed):
            try values.encodeIfPresent(run, forKey: .warmRun)
            try values.encode(flag: hasFailed, forKey: .warmFailed)
        case .bisect: break
        case .flakeProbe(let number): try values.encode(number, forKey: .learning)
        case .fix(let role): try values.encode(role, forKey: .fix)
        case .landing(let changes): try values.encode(changes, forKey: .landing)
        case .task(let role): try values.encode(role, forKey: .task)
        }
    }
}

extension KeyedEncodingContainer {
    /// Writes a flag that is set; one that is not has no key.
    fileprivate mutating func encode(flag: Bool, forKey key: Key) throws {
        if flag { try encode(true, forKey: key) }
    }
}
