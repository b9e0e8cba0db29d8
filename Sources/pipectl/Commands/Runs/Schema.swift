import ArgumentParser
import Client
import Reports

/// The documents whose schema `pipectl schema` prints.
enum SchemaName: String, CaseIterable, ExpressibleByArgument {
    case bundle

    var text: String {
        switch self {
        case .bundle: BundleSchema.text
        }
    }
}

struct Schema: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Prints the JSON Schema of a document that pipectl writes.")

    @Argument(help: "bundle.") var document: SchemaName

    func run() { Terminal.put(document.text) }
}
