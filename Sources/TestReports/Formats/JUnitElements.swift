/// The elements of a JUnit report that are open, by what they mean. Those below the deepest that is read are only
/// counted.
struct JUnitElements {
    enum Element {
        case group(name: String), test, outcome(name: String), stackTrace(name: String), output(name: String)
        case other(name: String)
        var name: String {
            switch self {
            case .group(let name), .outcome(let name), .stackTrace(let name), .output(let name), .other(let name): name
            case .test: "testcase"
            }
        }
    }

    private let depth: Int
    private var elements: [Element] = []
    private var deeper = 0
    private(set) var sawAny = false

    init(depth: Int) { self.depth = depth }

    var last: Element? { elements.last }
    var isTooDeep: Bool { deeper > 0 }

    /// Whether the element that starts is read; otherwise it is counted.
    mutating func mayStart() -> Bool {
        sawAny = true
        guard deeper == 0, elements.count < depth else {
            deeper += 1
            return false
        }
        return true
    }

    mutating func open(_ element: Element) { elements.append(element) }

    /// Whether an element of this name can end here.
    func mayEnd(_ name: String) -> Bool { deeper > 0 || elements.last?.name == name }

    /// The element that ends; nil for one that was only counted.
    mutating func close() -> Element? {
        guard deeper == 0 else {
            deeper -= 1
            return nil
        }
        return elements.popLast()
    }
}
