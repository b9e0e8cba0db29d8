package import Foundation

/// A user, from the system's own records: passwd(5), or what stands for it. The environment is never read.
package struct SystemUser: Sendable, Equatable {
    package var name: String
    /// The number of the user's primary group.
    package var group: gid_t

    package init(name: String, group: gid_t) {
        self.name = name
        self.group = group
    }

    /// The user with this number; nil if there is none.
    package static func find(_ id: uid_t) -> SystemUser? { find { getpwuid_r(id, $0, $1, $2, $3) } }

    /// The user with this name; nil if there is none.
    package static func find(named name: String) -> SystemUser? { find { getpwnam_r(name, $0, $1, $2, $3) } }

    private typealias Record = UnsafeMutablePointer<passwd>

    private static func find(
        _ read: (Record, UnsafeMutablePointer<CChar>, Int, UnsafeMutablePointer<Record?>) -> Int32
    ) -> SystemUser? {
        var entry = passwd()
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: recordSize) { room in
            guard let start = room.baseAddress else { return nil }
            var found: Record?
            guard read(&entry, start, room.count, &found) == 0, found != nil, let name = entry.pw_name
            else { return nil }
            return SystemUser(name: String(cString: name), group: entry.pw_gid)
        }
    }
}

/// A group of users: group(5).
package struct SystemGroup: Sendable, Equatable {
    package var name: String
    /// The names of the users who are in it beside those whose primary group it is.
    package var members: [String]

    package init(name: String, members: [String]) {
        self.name = name
        self.members = members
    }

    /// The group with this number; nil if there is none, or if its list of members is longer than 16 KiB.
    package static func find(_ id: gid_t) -> SystemGroup? {
        var entry = group()
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: recordSize) { room in
            guard let start = room.baseAddress else { return nil }
            var found: UnsafeMutablePointer<group>?
            guard getgrgid_r(id, &entry, start, room.count, &found) == 0, found != nil, let name = entry.gr_name
            else { return nil }
            var members: [String] = []
            var next = entry.gr_mem
            while let place = next, let member = place.pointee {
                members.append(String(cString: member))
                next = place + 1
            }
            return SystemGroup(name: String(cString: name), members: members)
        }
    }

    /// Whether this is the group that the system made for one user alone, with the user's name.
    ///
    /// Debian makes one for each user, and lets it write to the user's files by default: pam_umask(8), `usergroups`.
    /// Who makes it the primary group of another account gives that account the same right, and is not noticed.
    package func isPrivate(of user: SystemUser) -> Bool {
        name == user.name && members.allSatisfy { $0 == user.name }
    }
}

/// More than a record takes, in bytes.
private let recordSize = 16 << 10
