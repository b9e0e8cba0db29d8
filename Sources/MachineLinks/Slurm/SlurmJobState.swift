/// How far a job of Slurm is, as `squeue` tells it.
package enum SlurmJobState: Sendable, Equatable {
    /// It waits in Slurm's queue, for the reason that Slurm names.
    case waiting(reason: String)
    /// It would wait until a person does something.
    case stuck(reason: String)
    case running(node: String)
    /// Its processes are being ended.
    case ending
    case ended(End)

    /// Why a job ended.
    package enum End: Sendable, Equatable {
        case completed, failed, cancelled, timedOut, nodeLost, outOfMemory, preempted
        /// An end that no version of Slurm that we know has.
        case other(String)
    }

    /// - Parameters:
    ///   - state: squeue's `%T`: "RUNNING".
    ///   - node: squeue's `%N`, empty while there is none.
    ///   - reason: squeue's `%r`: "Resources".
    package init(state: String, node: String, reason: String) {
        switch state {
        case "PENDING", "REQUEUED", "REQUEUE_FED", "SPECIAL_EXIT", "REQUEUE_HOLD", "RESV_DEL_HOLD":
            let isStuck = state.hasSuffix("HOLD") || state == "SPECIAL_EXIT" || Self.isStuck(reason)
            self = isStuck ? .stuck(reason: reason) : .waiting(reason: reason)
        // Its processes exist, and go on later.
        case "RUNNING", "SUSPENDED", "STOPPED", "RESIZING", "SIGNALING", "STAGE_OUT": self = .running(node: node)
        case "CONFIGURING": self = .waiting(reason: reason)
        case "COMPLETING": self = .ending
        case "COMPLETED": self = .ended(.completed)
        case "CANCELLED", "REVOKED": self = .ended(.cancelled)
        case "FAILED", "LAUNCH_FAILED": self = .ended(.failed)
        case "TIMEOUT", "DEADLINE": self = .ended(.timedOut)
        case "NODE_FAIL", "BOOT_FAIL": self = .ended(.nodeLost)
        case "OUT_OF_MEMORY": self = .ended(.outOfMemory)
        case "PREEMPTED": self = .ended(.preempted)
        default: self = .ended(.other(state))
        }
    }

    /// Whether a waiting job with this reason never starts by itself.
    private static func isStuck(_ reason: String) -> Bool {
        let plain = reason.lowercased()
        return plain.contains("held") || plain.contains("never") || isOfRequest(reason)
    }

    /// Whether a job with this reason waits for something that Slurm will never give to it, and may give to others.
    static func isOfRequest(_ reason: String) -> Bool {
        let plain = reason.lowercased()
        return plain.hasPrefix("bad") || plain.hasPrefix("invalid") || plain.contains("perjob")
            || [
                "partitionconfig", "partitionnodelimit", "partitiontimelimit", "accountnotallowed", "qosnotallowed",
            ].contains(plain)
    }

    /// Whether the job has nodes or may get some.
    var isAlive: Bool {
        switch self {
        case .waiting, .stuck, .running: true
        case .ending, .ended: false
        }
    }
}

/// A job as a line of `squeue` tells it.
package struct SlurmJob: Sendable, Equatable {
    package let id: Int
    package let name: String
    package let comment: String
    package let state: SlurmJobState

    /// squeue's format of the lines that are read here. The reason is last, since it may contain anything.
    static let format = "%i|%j|%T|%N|%k|%r"

    /// - Returns: Nil if the line is no job.
    init?(line: Substring) {
        let parts = line.split(separator: "|", maxSplits: 5, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 6, let id = Int(parts[0]) else { return nil }
        self.id = id
        name = parts[1]
        comment = parts[4]
        state = SlurmJobState(state: parts[2], node: parts[3], reason: parts[5])
    }
}

/// A node as a line of `sinfo` tells it.
package struct SlurmNode: Sendable, Equatable {
    package let name: String
    /// Whether this line is about the cluster's default partition.
    let isOfDefault: Bool
    /// "idle", "mix", "alloc", "down", "drain"; with a sign behind it if the node does not answer.
    package let state: String
    package let features: [String]
    package let cpus: Int
    /// In megabytes.
    package let memory: Int
    /// Why it can't be used, as whoever drained it wrote; empty if nothing was written.
    package let reason: String

    static let format = "%N|%P|%t|%f|%c|%m|%E"

    /// - Returns: Nil if the line is no node.
    package init?(line: Substring) {
        let parts = line.split(separator: "|", maxSplits: 6, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 7, !parts[0].isEmpty, let cpus = Int(parts[4]),
            let memory = Int(parts[5].prefix { $0.isNumber })
        else { return nil }
        name = parts[0]
        isOfDefault = parts[1].hasSuffix("*")
        state = parts[2]
        features = parts[3] == "(null)" ? [] : parts[3].split(separator: ",").map(String.init)
        self.cpus = cpus
        self.memory = memory
        reason = parts[6] == "none" ? "" : parts[6]
    }

    /// Whether new jobs can run on it, now or when others have ended.
    package var isUsable: Bool { ["idle", "mix", "alloc", "comp"].contains(state) }

    /// Whether no job starts on it until somebody does something. A node that is switched off until a job needs it is not
    /// out of service.
    package var isOut: Bool {
        state.hasSuffix("*")
            || ["down", "drain", "drng", "fail", "failg", "error", "unk", "inval", "maint"].contains(
                String(state.prefix { $0.isLetter }))
    }

    /// Why no job starts on any of these nodes, as the rest of a sentence; nil if one may, or if there are none.
    package static func outage(of nodes: [SlurmNode]) -> String? {
        guard !nodes.isEmpty, nodes.allSatisfy(\.isOut) else { return nil }
        let words = nodes.prefix(3).map { node in
            "\(node.name): \(node.state)"
                + (node.reason.isEmpty ? "" : ", \(ReachProblem.lastWords(of: node.reason))")
        }
        let more = nodes.count > 3 ? "; and \(nodes.count - 3) more" : ""
        return "Slurm has all its nodes out of service (\(words.joined(separator: "; "))\(more)); `sinfo -R` says more"
    }
}
