/// The settings lack what they must have for a command.
package struct MissingSettings: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable {
        /// The file that the call or the environment names is missing.
        case file
        /// Neither the call nor the file names a repository.
        case repositories
    }

    package let code: Code
    package let description: String

    init(_ code: Code, _ description: String) { (self.code, self.description) = (code, description) }
}
