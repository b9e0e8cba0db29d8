/// The version of the messages. Both sides must have the same one.
package enum MachineProtocolVersion {
    package static let current = 5
}

/// What the daemon says first.
package struct DaemonGreeting: Sendable, Codable, Equatable {
    package var version = MachineProtocolVersion.current
    /// How long the daemon may say nothing before the agent ends everything, in seconds.
    package var silence: Double
    /// How long the agent may live, in seconds.
    package var lifetime: Double

    package init(silence: Double, lifetime: Double) {
        self.silence = silence
        self.lifetime = lifetime
    }
}

/// What an agent says first: what its machine is.
package struct AgentGreeting: Sendable, Codable, Equatable {
    package var version = MachineProtocolVersion.current
    /// `linux` or `macos`.
    package var platform: String
    /// `x86_64` or `arm64`.
    package var architecture: String
    package var cores: Int
    /// In bytes.
    package var memory: Int
    /// What encloses steps there; nil if nothing does.
    package var sandbox: String?
    /// Why there is no sandbox.
    package var sandboxObstacle: String?

    package init(
        platform: String, architecture: String, cores: Int, memory: Int, sandbox: String? = nil,
        sandboxObstacle: String? = nil
    ) {
        self.platform = platform
        self.architecture = architecture
        self.cores = cores
        self.memory = memory
        self.sandbox = sandbox
        self.sandboxObstacle = sandboxObstacle
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        version = try fields.decode(Int.self, forKey: .version)
        platform = try fields.decode(String.self, forKey: .platform)
        architecture = try fields.decode(String.self, forKey: .architecture)
        cores = try fields.decode(.cores, in: 1...65_536)
        // A pebibyte.
        memory = try fields.decode(.memory, in: 0...(1 << 50))
        sandbox = try fields.decodeIfPresent(String.self, forKey: .sandbox)
        sandboxObstacle = try fields.decodeIfPresent(String.self, forKey: .sandboxObstacle)
    }
}
