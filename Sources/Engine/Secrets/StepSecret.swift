package import Sandbox

/// A secret that a step is given.
package struct StepSecret: Sendable {
    package enum Content: Sendable {
        /// The value of the variable.
        case text(String)
        /// A file in memory, whose path is the value of the variable.
        case file(SecretFile)
    }

    package var variable: String
    package var content: Content

    package init(variable: String, content: Content) {
        self.variable = variable
        self.content = content
    }
}

extension StepSecret: CustomStringConvertible, CustomReflectable {
    package var description: String { "secret in \(variable)" }
    package var customMirror: Mirror { Mirror(self, children: ["variable": variable]) }
}
