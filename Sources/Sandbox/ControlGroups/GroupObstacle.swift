/// Why control groups can't limit all processes of a step together.
public enum GroupObstacle: Error, Sendable, Equatable, CustomStringConvertible {
    /// The system has no control groups, or has them where pipectl does not look.
    case noHierarchy
    /// The group of this process belongs to another user.
    case notDelegated(_ folder: String)
    /// The group has not been given these controllers.
    case lacks(_ controllers: [String], _ folder: String)
    /// The group is of a kind in which no child group can limit memory.
    case kind(_ name: String, _ folder: String)
    /// Other programs are in the same group.
    case shared(_ processes: Int, _ folder: String)
    /// The kernel refused an operation that should have been allowed.
    case refused(_ said: String)
    /// systemd was asked for a group and did not give one.
    case noScope(_ said: String)

    /// The obstacle in words, without a full stop.
    public var description: String {
        switch self {
        case .noHierarchy: "this system has no control groups at /sys/fs/cgroup"
        case .notDelegated(let folder): "\(folder) is not delegated to this user"
        case .lacks(let controllers, let folder):
            "\(folder) has no controller for \(controllers.joined(separator: " and "))"
        case .kind(let name, let folder): "\(folder) is a group of kind \"\(name)\""
        case .shared(let processes, let folder):
            processes == 1
                ? "another process is in \(folder), too" : "\(processes) other processes are in \(folder), too"
        case .refused(let said): said
        case .noScope(let said): "systemd gave pipectl no group: \(said)"
        }
    }
}
