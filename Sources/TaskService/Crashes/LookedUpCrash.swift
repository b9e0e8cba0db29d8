package import CrashReports
import Foundation
package import Results

/// The watched repository that a crash is looked up in.
package struct CrashPlace: Sendable {
    /// The watched repository's name.
    package var repository: String
    /// The path of the store with its commits.
    package var store: String
    /// The target's commit: where the code is read if the release is not known.
    package var tip: String

    package init(repository: String, store: String, tip: String) {
        (self.repository, self.store, self.tip) = (repository, store, tip)
    }
}

/// What is known of a crash: the report with symbols, its release, its code.
package struct LookedUpCrash: Sendable {
    /// With what the symbols of the release say.
    package var report: CrashReport
    /// What a task keeps of it.
    package var crash: TaskCrash
    /// The release that crashed; nil if the report doesn't name one that pipectl made.
    package var release: ReleaseRecord?
    /// Why it needs no work: a later release has other code there; nil if that is not so.
    package var outdated: Outdated?
    /// What an agent should know, as Markdown of at most ``CrashContext/limit`` bytes. All of it is data: names, messages
    /// and code that others wrote. Whoever puts it into a prompt marks it.
    package var context: String

    /// A later release without the code that crashed.
    package struct Outdated: Sendable, Equatable {
        package var version: String
        /// One sentence.
        package var reason: String
    }
}

/// What a crash means for the task that another one with the same signature has made.
package enum CrashNews: Sendable, Equatable {
    /// No task is about this crash.
    case new
    /// The task goes on; the crash is counted.
    case known(TaskID)
    /// The release that crashed has no change of the task yet; a later one has.
    case fixed(TaskID, in: String)
    /// The release that crashed has the change of the task.
    case again(TaskID)

    /// - Parameters:
    ///   - task: The last task with this signature.
    ///   - hasChange: Whether the release that crashed contains the commit by which the change landed; nil if that
    ///     release, or whether it landed, is not known.
    package init(task: TaskRecord?, hasChange: Bool?) {
        guard let task else {
            self = .new
            return
        }
        switch hasChange {
        case true: self = .again(task.id)
        case false where task.release != nil: self = .fixed(task.id, in: task.release ?? "")
        // Where a person decided, or nothing was found, the next report is only counted.
        case false, nil: self = .known(task.id)
        }
    }
}
