/// Small reports in each format, all of a crash of the same made-up program.
enum Samples {
    /// A version of the report: other addresses, another build.
    static func ips(base: UInt64 = 0x1_0223_0000, build: String = "317", line: Int = 42) -> String {
        """
        {"app_name":"Shop","timestamp":"2026-11-26 15:28:37.00 +0100","app_version":"1.4.2","build_version":"\(build)",\
        "bundleID":"com.example.shop","bug_type":"309","os_version":"iPhone OS 18.1 (22B83)","name":"Shop"}
        {
          "captureTime" : "2026-11-26 15:28:37.3451 +0100",
          "cpuType" : "ARM-64",
          "procName" : "Shop",
          "procPath" : "\\/private\\/var\\/containers\\/Bundle\\/Application\\/0A0A\\/Shop.app\\/Shop",
          "bundleInfo" : {"CFBundleShortVersionString":"1.4.2","CFBundleVersion":"\(build)","CFBundleIdentifier":"com.example.shop"},
          "exception" : {"codes":"0x0000000000000001, 0x000000018a98520c","rawCodes":[1,6620205580],"type":"EXC_BREAKPOINT","signal":"SIGTRAP"},
          "termination" : {"flags":0,"code":5,"namespace":"SIGNAL","indicator":"Trace\\/BPT trap: 5"},
          "asi" : {"libswiftCore.dylib":["Shop\\/Cart.swift:42: Fatal error: Index out of range"]},
          "faultingThread" : 1,
          "threads" : [{"id":1,"frames":[{"imageOffset":1000,"symbol":"mach_msg2_trap","symbolLocation":8,"imageIndex":0}]},
            {"triggered":true,"id":2,"queue":"com.apple.main-thread","frames":[
              {"imageOffset":229900,"symbol":"_assertionFailure(_:_:file:line:flags:)","symbolLocation":312,"imageIndex":0},
              {"imageOffset":25788,"symbol":"specialized Array._checkSubscript(_:wasNativeTypeChecked:)","imageIndex":1},
              {"imageOffset":25900,"symbol":"Cart.total(at:)","symbolLocation":60,"imageIndex":1,"sourceFile":"Cart.swift","sourceLine":\(line)},
              {"imageOffset":26000,"symbol":"closure #1 in Checkout.pay()","symbolLocation":8,"imageIndex":1,"sourceFile":"Checkout.swift","sourceLine":9},
              {"imageOffset":100,"symbol":"main","symbolLocation":8,"imageIndex":1}]}],
          "usedImages" : [
            {"source":"P","arch":"arm64e","base":6620000000,"size":5000000,"uuid":"11111111-2222-3333-4444-555555555555","path":"\\/usr\\/lib\\/swift\\/libswiftCore.dylib","name":"libswiftCore.dylib"},
            {"source":"P","arch":"arm64","base":\(base),"size":49152,"uuid":"82d13d98-219e-3040-b62a-07a297007a7c","path":"\\/private\\/var\\/containers\\/Bundle\\/Application\\/0A0A\\/Shop.app\\/Shop","name":"Shop"}]
        }
        """
    }

    static let crash = """
        Incident Identifier: 0A0A0A0A-0000-0000-0000-000000000000
        Process:             Shop [455]
        Path:                /private/var/containers/Bundle/Application/0A0A/Shop.app/Shop
        Identifier:          com.example.shop
        Version:             1.4.2 (317)
        Code Type:           ARM-64 (Native)
        Date/Time:           2026-11-26 15:28:37.3451 +0100
        OS Version:          iPhone OS 18.1 (22B83)

        Exception Type:  EXC_BREAKPOINT (SIGTRAP)
        Exception Codes: 0x0000000000000001, 0x000000018a98520c
        Triggered by Thread:  1

        Application Specific Information:
        Shop/Cart.swift:42: Fatal error: Index out of range

        Thread 0:
        0   libsystem_kernel.dylib        \t0x00000001d0246644 mach_msg2_trap + 8

        Thread 1 name:   Dispatch queue: com.apple.main-thread
        Thread 1 Crashed:
        0   libswiftCore.dylib            \t0x000000018a98520c _assertionFailure(_:_:file:line:flags:) + 312
        1   Shop                          \t0x00000001022364bc specialized Array._checkSubscript(_:wasNativeTypeChecked:) + 20
        2   Shop                          \t0x000000010223652c Cart.total(at:) + 60 (Cart.swift:42)
        3   Shop                          \t0x0000000102236590 closure #1 in Checkout.pay() + 8 (Checkout.swift:9)
        4   Shop                          \t0x0000000102230064 main + 8

        Thread 1 crashed with ARM Thread State (64-bit):
            x0: 0x0000000000000000   x1: 0x0000000000000000

        Binary Images:
               0x102230000 -        0x10223bfff Shop arm64  <82d13d98219e3040b62a07a297007a7c> /private/var/containers/Bundle/Application/0A0A/Shop.app/Shop
               0x18a94d000 -        0x18ad2ffff libswiftCore.dylib arm64e  <11111111222233334444555555555555> /usr/lib/swift/libswiftCore.dylib
        """

    static let backtrace = """
        Shop/Cart.swift:42: Fatal error: Index out of range

        *** Signal 4: Backtracing from 0x7fcb9d56df7f... done ***

        *** Program crashed: Illegal instruction at 0x00007fcb9d56df7f ***

        Platform: x86_64 Linux (Debian GNU/Linux 12 (bookworm))

        Thread 0 "shop":

        0  0x00007f8605a96177 __poll + 71 in libc.so.6

        Thread 1 "worker" crashed:

        0                        0x00007fcb9d56df7f _assertionFailure(_:_:file:line:flags:) + 302 in libswiftCore.so
        1 [ra] [inlined] [system] 0x00005600be4ba0f1 Array.subscript.getter in Shop at /<compiler-generated>
        2 [ra]                   0x00005600be4ba111 Cart.total(at:) + 64 in Shop at /home/dev/shop/Sources/Shop/Cart.swift:42:54
        3 [ra]                   0x00005600be4b98b0 closure #1 in Checkout.pay() + 47 in Shop at /home/dev/shop/Sources/Shop/Checkout.swift:9:96
        4 [ra] [system]          0x00005600be4ba009 static Main.$main() + 8 in Shop at //<compiler-generated>
        ...

        Registers:

        rax 0x0000000000000000  0

        Images (12 omitted):

        0x00005600be4b8000\u{2013}0x00005600be4ba9b8 9c9b64f5530bbb2e2747f63ddd62eaa2e7207352 Shop            /home/dev/shop/.build/debug/Shop
        0x00007fcb9d400000\u{2013}0x00007fcb9d9d2d40 b521f25fdeacf504eca83d97c7308e8fc11be729 libswiftCore.so /usr/lib/swift/linux/libswiftCore.so

        Backtrace took 0.04s
        """

    /// The same with colours and source.
    static let friendly = """
        Shop/Cart.swift:42: Fatal error: Index out of range

        \u{1F4A3} \u{1B}[91mProgram crashed: Signal 4: Backtracing from 0x7f042616df7f...\u{1B}[0m\r\u{1B}[0K\u{1F4A3} \
        \u{1B}[91mProgram crashed: Illegal instruction at 0x00007f042616df7f\u{1B}[39m

        Thread 0 \u{1B}[90m"Shop"\u{1B}[39m crashed:

        \u{1B}[90m0\u{1B}[39m \u{1B}[32m0x00007f042616df7f\u{1B}[39m \u{1B}[96m_assertionFailure(_:_:file:line:flags:)\u{1B}[39m + 302 in libswiftCore.so
        1 \u{1B}[96mCart.total(at:)\u{1B}[39m\u{1B}[37m + 64\u{1B}[39m in \u{1B}[36mShop\u{1B}[39m at \u{1B}[33m/home/dev/shop/Sources/Shop/Cart.swift:42:54\u{1B}[39m

            41\u{2502} func total(at i: Int) -> Int {
            42\u{2502}     items[i] in Cart at /tmp/x.swift:1
              \u{2502}          \u{25B2}

        2 closure #1 in Checkout.pay() + 47 in Shop at /home/dev/shop/Sources/Shop/Checkout.swift:9:96

        Backtrace took 0.61s
        """

    static let swiftJSON = """
        { "timestamp": "2026-11-26T15:03:07.805391Z", "kind": "crashReport", "description": "Illegal instruction",
          "faultAddress": "0x00007fcf5316df7f", "platform": "Linux (Debian GNU/Linux 12 (bookworm))", "architecture": "x86_64",
          "threads": [ { "name": "Shop", "crashed": true, "registers": {"rax": "0x0"}, "frames": [
            { "kind": "programCounter", "address": "0x00007fcf5316df7f", "symbol": "$ss17_assertionFailure", "offset": 623,
              "description": "_assertionFailure(_:_:file:line:flags:) + 623", "image": "libswiftCore.so" },
            { "kind": "returnAddress", "address": "0x00005600be4ba111", "symbol": "$s4Shop4CartV5total2atS2i_tF", "offset": 64,
              "description": "Cart.total(at:) + 64", "image": "Shop",
              "sourceLocation": { "file": "/home/dev/shop/Sources/Shop/Cart.swift", "line": 42, "column": 54 } },
            { "kind": "returnAddress", "address": "0x00005600be4b98b0", "description": "closure #1 in Checkout.pay() + 47", "image": "Shop",
              "sourceLocation": { "file": "/home/dev/shop/Sources/Shop/Checkout.swift", "line": 9, "column": 96 } } ] } ],
          "images": [ { "name": "Shop", "buildId": "9c9b64f5530bbb2e2747f63ddd62eaa2e7207352", "path": "/home/dev/shop/Shop",
            "baseAddress": "0x00005600be4b8000", "endOfText": "0x00005600be4ba9b8" } ], "backtraceTime": 0.008 }
        """

    /// What Swift printed before 5.9.
    static let legacy = """
        Fatal error: Index out of range: file Shop/Cart.swift, line 42
        Current stack trace:
        0    libswiftCore.so                    0x00007f83289f0ea0 swift_reportError + 50
        1    libswiftCore.so                    0x00007f8328985eee <unavailable> + 3514094
        2    Shop                               0x0000560f8239a4c0 Shop.Cart.total(at: Swift.Int) -> Swift.Int + 60
        3    Shop                               0x0000560f82396204 closure #1 () -> () in Shop.Checkout.pay() -> () + 8
        4    libc.so.6                          0x00007f8325f01ab0 __libc_start_main + 231
        Illegal instruction (core dumped)
        """

    static let package = """
        Received signal 4. Backtrace:
        0x55f9abdef472, Backtrace.(printBacktrace in _B82A8C0ED7C904841114FDF244F9E58E)(signal: Swift.Int32) -> () at /home/dev/.build/checkouts/swift-backtrace/Sources/Backtrace/Backtrace.swift:66
        0x7f66da7c741f
        0x55f9ab8f1485, Shop.Cart.total(at: Swift.Int) -> Swift.Int at /home/dev/shop/Sources/Shop/Cart.swift:42
        0x55f9ab8dc82b, closure #1 () -> () in Shop.Checkout.pay() -> () at /home/dev/shop/Sources/Shop/Checkout.swift:9
        """

    static let address = """
        INFO: a line before it
        =================================================================
        ==1234==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010 at pc 0x0000004a1b2c bp 0x7ffe sp 0x7ffd
        READ of size 4 at 0x602000000010 thread T0
            #0 0x4a1b2c in __asan_memcpy (/home/dev/shop+0x4a1b2c) (BuildId: 0011223344556677)
            #1 0x4c3f10 in cart::total(int, char const*) const /home/dev/shop/src/cart.cc:12:5
            #2 0x4c4000 in operator/(cart const&, int) /home/dev/shop/src/my cart.cc:3
            #3 0x4c4100 in main src/main.cc:7:9
            #4 0x7f12 in __libc_start_main (/lib/x86_64-linux-gnu/libc.so.6+0x29d8f)

        0x602000000010 is located 0 bytes inside of 4-byte region
        freed by thread T0 here:
            #0 0x4a0 in free (/home/dev/shop+0x4a0)
            #1 0x4c5 in cart::clear() /home/dev/shop/src/cart.cc:99:1

        SUMMARY: AddressSanitizer: heap-use-after-free /home/dev/shop/src/cart.cc:12:5 in cart::total(int, char const*) const
        """

    static let thread = """
        ==================
        WARNING: ThreadSanitizer: data race (pid=99)
          Write of size 8 at 0x7b04 by thread T1:
            #0 Cart.total.setter Cart.swift:5 (shop+0x1234) (BuildId: 00112233445566778899)
            #1 thread_main /home/dev/shop/Sources/Shop/main.swift:9 (shop+0x99)

          Previous read of size 8 at 0x7b04 by main thread:
            #0 Cart.total.getter Cart.swift:4 (shop+0x1200)
        ==================
        """

    static let undefined = """
        /home/dev/shop/src/cart.c:14:9: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'
        SUMMARY: UndefinedBehaviorSanitizer: undefined-behavior /home/dev/shop/src/cart.c:14:9
        """
}
