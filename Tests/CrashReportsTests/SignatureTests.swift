import Testing

@testable import CrashReports

struct SignatureTests {
    private func read(_ text: String) throws -> CrashReport { try CrashReport.read(Array(text.utf8)) }

    @Test func equalCrashesHaveOneSignatureWhateverTheFormat() throws {
        let texts = [
            Samples.ips(), Samples.crash, Samples.backtrace, Samples.friendly, Samples.swiftJSON, Samples.legacy,
            Samples.package,
        ]
        let signatures = try Set(texts.map { try read($0).signature })
        #expect(signatures.count == 1)
        let one = try #require(signatures.first)
        #expect(one.utf8.count == 32)
        #expect(one.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    }

    @Test func aBuildOrALineMakesNoDifference() throws {
        let first = try read(Samples.ips()).signature
        #expect(try read(Samples.ips(base: 0x1_0777_0000, build: "400", line: 57)).signature == first)
    }

    @Test func anotherFunctionOrReasonIsAnotherCrash() throws {
        let first = try read(Samples.ips()).signature
        #expect(try read(Samples.ips().replacing("Cart.total(at:)", with: "Cart.count(at:)")).signature != first)
        #expect(
            try read(
                Samples.ips().replacing("EXC_BREAKPOINT", with: "EXC_BAD_ACCESS").replacing("SIGTRAP", with: "SIGSEGV")
            )
            .signature != first)
    }

    @Test func theDepthOfARecursionMakesNoDifference() throws {
        func report(_ depth: Int) -> CrashReport {
            let frame = CrashReport.Frame(image: "Shop", function: "Tree.walk(_:)", isOwn: true)
            let rest = CrashReport.Frame(image: "Shop", function: "Tree.sum()", isOwn: true)
            return CrashReport(
                format: .swiftBacktrace, reason: "Bad pointer dereference",
                frames: Array(repeating: frame, count: depth) + [rest])
        }
        #expect(report(3).signature == report(90).signature)
    }

    @Test func withoutNamesOnlyOneBuildIsEqual() throws {
        func report(_ offset: UInt64, _ build: String) -> CrashReport {
            CrashReport(
                format: .appleJSON, reason: "EXC_CRASH (SIGABRT)",
                frames: [CrashReport.Frame(image: "Shop", offset: offset, isOwn: true)],
                images: [CrashReport.Image(name: "Shop", identifier: build)])
        }
        #expect(report(10, "aa").signature == report(10, "aa").signature)
        #expect(report(10, "aa").signature != report(11, "aa").signature)
        #expect(report(10, "aa").signature != report(10, "bb").signature)
    }

    @Test(
        arguments: [
            ("Cart.total(in:)", "Cart.total"),
            ("static Shop.Cart.total(in: Shop.Currency) throws -> Swift.Int", "Cart.total"),
            ("specialized Cart.total<A>(in:)", "Cart.total"),
            ("closure #2 in closure #1 in Cart.total(in:)", "closure in Cart.total"),
            ("closure #1 (Swift.Int) -> () in Shop.Cart.total(in: Swift.Int) -> ()", "closure in Cart.total"),
            ("partial apply for closure #1 in Cart.total()", "closure in Cart.total"),
            ("protocol witness for Payable.pay() in conformance Cart", "Payable.pay"),
            ("@objc ViewController.viewDidLoad()", "ViewController.viewDidLoad"),
            ("Shop.Cart.(hidden in _B82A8C0ED7C90484)(signal: Swift.Int32) -> ()", "Cart.hidden"),
            ("generic specialization <Swift.Int> of Shop.Cart.total(Swift.Int) -> ()", "Cart.total"),
            ("(1) await resume partial function for Cart.total()", "Cart.total"),
            ("Shop.Cart.total.getter : Swift.Int", "Cart.total.getter"),
            ("-[UIView(Private) _didMove:to:]", "-[UIView _didMove:to:]"),
            ("__64-[UIScene scene:update:]_block_invoke.215", "-[UIScene scene:update:] block"),
            ("ns::Cart<int, std::vector<int> >::total(int (*)(char)) const", "ns::Cart::total"),
            ("void ns::copy<int>(int*)", "ns::copy"),
            ("(anonymous namespace)::total(int) [clone .cold]", "total"),
            ("operator<(Cart const&, Cart const&)", "operator<"),
            ("Cart.operator->() const", "Cart.operator->"),
            ("main", "main"), ("", ""), (")))(((<<<>>>", ""),
        ])
    func partsThatStay(_ name: String, _ stable: String) {
        #expect(FunctionName.stable(name, image: "Shop") == stable)
    }

    @Test func titles() throws {
        #expect(try read(Samples.ips()).title == "EXC_BREAKPOINT in Cart.total(at:)")
        #expect(try read(Samples.undefined).title == "undefined-behavior at cart.c:14")
    }
}
