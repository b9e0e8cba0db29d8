import Results
import Store
import Archive
import Engine
import Git

extension BoxError {
    /// What a client is told about an error that ended its request; nil for one that this process does not know.
    init?(refusing error: any Error) {
        switch error {
        case let error as BoxError: self = error
        case let error as ArchiveError:
            self.init(
                Code(rawValue: error.code.rawValue), error.description,
                origin: Self.faultsOfBox.contains(error.code) ? .box : .request)
        case let error as GitError: self.init(Code(rawValue: "git"), error.description)
        case let error as EarlyVerdict:
            self.init(
                Code(rawValue: error.verdict.rawValue), error.description,
                origin: error.verdict == .infrastructure ? .box : .request)
        default: return nil
        }
    }

    /// Errors of the store that no other request would avoid.
    private static let faultsOfBox: Set<ArchiveError.Code> = [
        .damagedIndex, .newerIndex, .missingIndex, .unusableIndex, .diskFull, .unusableArchive, .damagedRun,
        .newerReport, .digestMismatch, .unreadableFile,
    ]
}

extension BoxReply {
    /// What a request that was not carried out is answered with.
    static func refused(_ error: BoxError) -> BoxReply {
        .refused(code: error.code.rawValue, message: error.description, origin: error.origin)
    }

    /// The error of a refusal; nil for any other reply.
    public var refusal: BoxError? {
        guard case .refused(let code, let message, let origin) = self else { return nil }
        return BoxError(BoxError.Code(rawValue: code), message, origin: origin ?? .request)
    }
}
