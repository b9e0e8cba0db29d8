internal import CGit
internal import Foundation

/// What a libgit2 call could not do, or why it was not attempted.
public struct GitError: Error, Sendable, Equatable {
    /// libgit2's result code (`git2/errors.h`). A raw value, because later versions may add more.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int32
        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// Any failure without a code of its own.
        public static let failed = Code(rawValue: -1)
        /// There is no such object, ref, file or repository.
        public static let notFound = Code(rawValue: -3)
        /// The object exists already.
        public static let exists = Code(rawValue: -4)
        /// An abbreviated id matches several objects.
        public static let ambiguous = Code(rawValue: -5)
        /// A callback of ours stopped the call.
        public static let user = Code(rawValue: -7)
        /// The call needs a work tree, and the repository is bare.
        public static let bareRepository = Code(rawValue: -8)
        /// A push would lose commits of the remote branch.
        public static let nonFastForward = Code(rawValue: -11)
        /// A name of a ref or a path is not allowed.
        public static let invalidName = Code(rawValue: -12)
        /// A conflict prevents the call.
        public static let conflict = Code(rawValue: -13)
        /// Another process holds the lock file.
        public static let locked = Code(rawValue: -14)
        /// A ref no longer has the value that the caller expected.
        public static let modified = Code(rawValue: -15)
        /// The server accepted none of the credentials.
        public static let auth = Code(rawValue: -16)
        /// The server's certificate is not valid.
        public static let certificate = Code(rawValue: -17)
        /// The input has an invalid form.
        public static let invalid = Code(rawValue: -21)
        /// The repository belongs to another user.
        public static let owner = Code(rawValue: -36)
        /// Not from libgit2: a form of repository that pipectl does not support.
        public static let unsupported = Code(rawValue: -1001)
        /// Not from libgit2: an object or a difference exceeds what is read into memory.
        public static let tooLarge = Code(rawValue: -1002)
    }

    /// The libgit2 function, or the method of this module, that failed.
    public var call: String
    /// The kind of failure.
    public var code: Code
    /// A sentence for people: what is wrong and, if known, what to do next.
    public var message: String?
    /// What the system said (`errno`), where that is known: always for files that this module writes itself, and
    /// `ENOSPC` or `EDQUOT` for those that libgit2 writes.
    public var systemError: Int32?

    public init(call: String, code: Code, message: String?, systemError: Int32? = nil) {
        self.call = call
        self.code = code
        self.message = message
        self.systemError = systemError
    }
}

extension GitError {
    /// The system error of a failure that libgit2 reports, if it says that the disk is full.
    ///
    /// libgit2 keeps a class of its errors (`git_error_t`) and clears `errno`. For the class of system errors it ends the
    /// message with the system's text for `errno` (`git_error_set`), so that is compared, as the system has it here.
    static func systemError(class number: Int32, message: String?) -> Int32? {
        guard number == Int32(GIT_ERROR_OS.rawValue), let message else { return nil }
        return [ENOSPC, EDQUOT].first { message.hasSuffix(String(cString: strerror($0))) }
    }

    /// `ENOSPC` if an error of Foundation says so.
    static func systemError(of error: any Error) -> Int32? {
        (error as? CocoaError)?.code == .fileWriteOutOfSpace ? ENOSPC : nil
    }
}

extension GitError {
    /// Whether an object is missing, has another kind, can't be parsed, or is too large. Repeating the call does not
    /// help until it is pushed again.
    public var isAboutObjects: Bool { [.failed, .notFound, .invalid, .tooLarge].contains(code) }
}

extension GitError: CustomStringConvertible {
    public var description: String {
        let facts = message ?? "\(call) failed with code \(code.rawValue) and gave no reason."
        guard let hint else { return facts }
        return facts.hasSuffix(".") ? "\(facts) \(hint)" : "\(facts). \(hint)"
    }

    /// The next step, for failures that libgit2 reports without one.
    private var hint: String? {
        switch code {
        case .locked:
            """
            If no Git command is running on this repository, a process ended and left its ".lock" file: \
            remove that file, then try again.
            """
        case .auth:
            """
            pipectl tries the SSH agent, then ~/.ssh/id_ed25519, id_ecdsa and id_rsa without a passphrase; for https a \
            token in PIPECTL_GIT_TOKEN, then ~/.netrc and ~/.git-credentials. Set up one of them, then try again.
            """
        case .certificate:
            """
            For SSH, add the host to ~/.ssh/known_hosts: connect once by hand ("ssh <host>") and compare the \
            fingerprint. For https, add its certificate authority to the system's store.
            """
        default: nil
        }
    }
}
