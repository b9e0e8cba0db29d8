import SwiftParser
import SwiftSyntax
import TestIntegrity

/// Makes the facts of one file.
enum FileReading {
    static func facts(of source: SwiftSource) -> Result<SwiftFileFacts, UnreadableSource> {
        do {
            let file = try ParsedFile(source.bytes)
            var facts = SwiftFileFacts()
            switch source.scope {
            case .tests:
                let reader = DeclarationReader(file)
                reader.walk(file.tree)
                (facts.tests, facts.helpers) = (reader.tests, reader.helpers)
                OutlineReader.read(file, into: &facts)
            case .outline: OutlineReader.read(file, into: &facts)
            case .manifest: facts.testTargets = ManifestReader.targets(of: file)
            }
            return .success(facts)
        } catch {
            return .failure(error)
        }
    }
}

/// The syntax tree of a file that is valid Swift throughout and not too deep for the readers.
struct ParsedFile {
    /// The deepest nesting of expressions and statements; the parser gives up beyond it.
    static let nestingLimit = 256
    /// The deepest tree of nodes. A chain such as `a.b.c` makes a deep tree without nesting.
    static let depthLimit = 5_000
    /// The deepest nesting of `#if`; the most branches of one; the longest condition in bytes.
    static let conditionDepth = 32
    static let branchLimit = 64
    static let conditionLength = 512

    let tree: SourceFileSyntax
    private let lineStarts: [Int]

    init(_ bytes: [UInt8]) throws(UnreadableSource) {
        tree = bytes.withUnsafeBufferPointer { Parser.parse(source: $0, maximumNestingLevel: Self.nestingLimit) }
        lineStarts = [0] + bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
        if tree.hasError {
            throw UnreadableSource(line: line(firstError), "it is not valid Swift there, or nested too deep")
        }
        try checkDepth()
    }

    /// The line of a node's first token, from 1.
    func line(_ node: some SyntaxProtocol) -> Int {
        let place = node.positionAfterSkippingLeadingTrivia.utf8Offset
        var (low, high) = (0, lineStarts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= place { low = middle } else { high = middle }
        }
        return low + 1
    }

    /// The innermost node of the first error.
    private var firstError: Syntax {
        var node = Syntax(tree)
        while let child = node.children(viewMode: .all).first(where: \.hasError) { node = child }
        return node
    }

    /// Uses no recursion, since it is what makes recursion safe.
    private func checkDepth() throws(UnreadableSource) {
        var open: [(node: Syntax, depth: Int, conditions: Int)] = [(Syntax(tree), 0, 0)]
        while let (node, depth, outer) = open.popLast() {
            guard depth < Self.depthLimit else { throw UnreadableSource(line: line(node), "it is nested too deep") }
            var conditions = outer
            if let block = node.as(IfConfigDeclSyntax.self) {
                conditions += 1
                let isLong = block.clauses.contains {
                    $0.condition.map { $0.totalLength.utf8Length > Self.conditionLength } ?? false
                }
                guard conditions <= Self.conditionDepth, block.clauses.count <= Self.branchLimit, !isLong else {
                    throw UnreadableSource(
                        line: line(block), "#if is nested too deep, has too many branches, or is too long")
                }
            }
            for child in node.children(viewMode: .sourceAccurate) where !child.is(TokenSyntax.self) {
                open.append((child, depth + 1, conditions))
            }
        }
    }
}
