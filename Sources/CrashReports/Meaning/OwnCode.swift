import ForeignText

/// Tells a program's own code from that of the system, of the language's runtime and of packages.
enum OwnCode {
    /// Whether the image at `path` comes with the system or the tools.
    static func isSystem(path: String) -> Bool {
        if path.contains(".app/") && !path.contains("/Xcode") { return isRuntime(image: path.fileName) }
        return systemFolders.contains { path.hasPrefix($0) } || systemParts.contains { path.contains($0) }
            || isRuntime(image: path.fileName)
    }

    /// Whether an image of this name is a library of the language or of the C library, wherever it lies.
    static func isRuntime(image name: String) -> Bool {
        if name.hasPrefix("libswift") || name.hasPrefix("libclang_rt") || name.hasPrefix("ld-") { return true }
        let stem = name.prefix { $0 != "." }
        return runtimeLibraries.contains(String(stem)) || name == "linux-vdso.so.1" || name == "[vdso]"
            || systemStems.contains { name.hasPrefix($0) }
    }

    /// Whether a source file belongs to the system, the compiler or its runtime.
    static func isSystem(source path: String) -> Bool {
        sourceFolders.contains { path.hasPrefix($0) } || sourceParts.contains { path.contains($0) }
    }

    /// Whether a source file belongs to a package that the program depends on.
    static func isDependency(source path: String) -> Bool {
        dependencyParts.contains { path.contains($0) }
    }

    /// Whether a function belongs to the runtime although its code is in the program's image: inlined, specialised, or
    /// linked statically.
    static func isRuntime(function name: String) -> Bool {
        if functionPrefixes.contains(where: { name.hasPrefix($0) }) || functions.contains(name) { return true }
        if name.contains("thunk for ") || name.contains(" in Swift.") { return true }
        return isOfStandardLibrary(name)
    }

    /// `specialized Array._checkSubscript(_:wasNativeTypeChecked:)`, `Swift.Array.subscript.getter : …`.
    ///
    /// A program's extension of a type of the library looks the same, therefore only names that the library itself has
    /// are taken as its own.
    private static func isOfStandardLibrary(_ name: String) -> Bool {
        var rest = name[...]
        var isSpecialized = false
        while true {
            if let cut = ["generic specialization <", "function signature specialization <"].first(
                where: rest.hasPrefix)
            {
                guard let end = rest.dropFirst(cut.count).byteRange(of: " of ") else { return false }
                rest = rest[end.upperBound...]
                isSpecialized = true
            } else if let cut = ["specialized ", "merged ", "static ", "protocol witness for ", "implicit "].first(
                where: rest.hasPrefix)
            {
                rest = rest.dropFirst(cut.count)
                isSpecialized = true
            } else {
                break
            }
        }
        if rest.hasPrefix("Swift.") { return true }
        let type = rest.prefix { $0 != "." && $0 != "<" && $0 != "(" }
        guard libraryTypes.contains(String(type)) else { return false }
        let member = rest.dropFirst(type.count).drop { $0 != "." }.dropFirst()
        let base = member.prefix { $0 != "(" && $0 != "<" && $0 != " " }
        return base.hasPrefix("_") || (isSpecialized || rest.contains("<")) && libraryMembers.contains(String(base))
            || base.hasPrefix("subscript.")
    }

    private static let systemFolders = [
        "/System/", "/usr/", "/lib/", "/lib64/", "/Library/Apple/", "/Developer/", "/opt/swift", "/bin/", "/sbin/",
        "/Applications/Xcode", "/Library/Developer/", "/private/preboot/", "/vdso", "/apex/", "/system/", "/snap/core",
        "/opt/homebrew/",
    ]
    private static let systemParts = [
        ".simruntime/", "/CoreSimulator/Profiles/", "/usr/lib/swift", "/XcodeDefault.xctoolchain/", "/Cryptexes/",
        "/dyld_sim",
    ]
    private static let systemStems = [
        "libFoundation", "libdispatch", "libBlocksRuntime", "lib_Foundation", "libXCTest",
    ]
    private static let runtimeLibraries: Set<String> = [
        "libc", "libm", "libpthread", "libdl", "libstdc++", "libgcc_s", "libc++", "libc++abi", "librt", "libasan",
        "libtsan", "libubsan", "liblsan", "libSystem", "libobjc", "dyld", "libTesting", "Testing", "XCTest",
        "XCTestCore", "libTestingInterop", "lib_TestingInterop", "linux-vdso", "linux-gate", "libdyld",
        "libsystem_kernel", "libsystem_pthread", "libsystem_c", "libsystem_malloc", "libsystem_platform", "???",
        "CoreFoundation", "Foundation", "UIKit", "UIKitCore", "AppKit", "SwiftUI", "CoreData", "QuartzCore",
        "GraphicsServices", "FrontBoardServices", "BaseBoard", "CFNetwork", "Security", "libswift_Concurrency",
    ]
    private static let sourceFolders = [
        "/usr/", "/lib/", "Swift/", "_Concurrency/", "Foundation/", "FoundationEssentials/", "Dispatch/", "<", "//<",
        "/build/glibc", "/build/gcc", "../sysdeps/", "./nptl/", "./csu/", "../csu/", "./stdlib/", "./malloc/",
        "./string/", "./signal/", "./debug/", "./assert/", "/rustc/", "libio/", "/AppleInternal/",
        "_StringProcessing/", "Synchronization/", "Observation/", "Distributed/",
    ]
    private static let sourceParts = [
        "compiler-rt/lib/", "/sysdeps/", "/libsanitizer/", "/c++/v1/", "/libcxx/", "/libcxxabi/", "/libstdc++-v3/",
        "/glibc-2", "/swift/stdlib/", "/swift-corelibs-", "/swift-foundation/", "/swift-build/swift/", "/libFuzzer/",
        "/llvm/projects/", "/lib/fuzzer/", "/lib/Fuzzer/", "/XcodeDefault.xctoolchain/", "/usr/include/",
        "<compiler-generated>",
        "/lib/asan/", "/lib/sanitizer_common/", "/usr/lib/", "/third_party/libc++", "/centipede/",
    ]
    private static let dependencyParts = [
        "/.build/checkouts/", "/SourcePackages/checkouts/", "/Pods/", "/Carthage/", "/.build-swiftbuild/checkouts/",
        "/node_modules/", "/.cargo/registry/", "/checkouts/",
    ]
    private static let functions: Set<String> = [
        "_start", "start", "abort", "raise", "gsignal", "__libc_start_main", "__libc_start_call_main", "_dyld_start",
        "start_thread", "clone", "clone3", "_pthread_start", "thread_start", "start_wqthread", "malloc", "calloc",
        "realloc", "free", "memcpy", "memmove", "memset", "strlen", "strcpy", "strcmp", "strdup", "memcmp", "memchr",
        "posix_memalign", "aligned_alloc", "strncpy", "strcat", "printf", "snprintf", "vsnprintf", "pthread_create",
        "mprotect", "mmap", "munmap", "read", "write", "pthread_mutex_lock", "pthread_mutex_unlock", "<unknown>",
        "<null>", "<unavailable>", "???", "__assert_fail", "__assert_fail_base", "strtol", "atoi", "sprintf", "exit",
        "<deduplicated_symbol>", "linux-gate.so.1", "__kernel_vsyscall",
        "closure #1 in closure #1 in _assertionFailure(_:_:file:line:flags:)", "__clone_internal",
        "wcslen", "strchr", "strnlen", "strncmp", "__memcpy_avx_unaligned_erms", "__memmove_avx_unaligned_erms",
        "pthread_kill", "__pthread_kill", "__pthread_kill_implementation", "__pthread_kill_internal",
    ]
    private static let functionPrefixes = [
        "__asan_", "__interceptor_", "___interceptor_", "__sanitizer", "__tsan_", "__ubsan_", "__msan_", "__lsan_",
        "__hwasan_", "__cfi_", "wrap_", "fuzzer::", "operator new", "operator delete", "std::", "__gnu_cxx::", "__cxa_",
        "__GI_", "__cxx_", "asan_", "__asan::", "__tsan::", "__sanitizer::", "__ubsan::", "__msan::", "__lsan::",
        "swift_", "_swift_", "Swift runtime failure", "_assertionFailure", "_fatalErrorMessage", "assertionFailure(",
        "fatalError(", "preconditionFailure(", "_preconditionFailure", "specialized _fatalErrorMessage",
        "specialized _assertionFailure", "swift::", "_objc_", "objc_", "std::__", "void std::", "bool std::",
        "_platform_", "__scanf", "scanf_common", "printf_common", "generic specialization <> of Swift._",
        "__rust_", "rust_", "core::", "alloc::", "libunwind", "_Unwind_", "__stack_chk_fail", "__chk_fail",
        "__fortify_fail", "__memcpy", "__memmove", "__memset", "__str", "__libc_", "centipede::", "thunk for",
        "type metadata accessor for", "outlined ", "value witness table", "initializeWithCopy for",
        "initializeBufferWithCopyOfBuffer for", "destroy for", "assignWithCopy for", "protocol witness table",
    ]
    private static let libraryTypes: Set<String> = [
        "Array", "ContiguousArray", "ArraySlice", "_ArrayBuffer", "_ContiguousArrayBuffer", "_SliceBuffer",
        "Dictionary",
        "_NativeDictionary", "__RawDictionaryStorage", "Set", "_NativeSet", "String", "Substring", "Character",
        "Optional",
        "Sequence", "Collection", "BidirectionalCollection", "RandomAccessCollection", "MutableCollection",
        "RangeReplaceableCollection", "LazyMapSequence", "LazySequence", "UnsafePointer", "UnsafeMutablePointer",
        "UnsafeRawPointer", "UnsafeMutableRawPointer", "UnsafeBufferPointer", "UnsafeMutableBufferPointer",
        "UnsafeRawBufferPointer", "Range", "ClosedRange", "FixedWidthInteger", "BinaryInteger", "Result", "Task",
        "UnsafeContinuation", "CheckedContinuation", "_StringGuts", "_StringObject", "Int", "UInt", "Double", "Float",
        "Slice", "EnumeratedSequence", "Zip2Sequence", "StringProtocol", "DefaultStringInterpolation", "Unicode",
        "MainActor", "Numeric", "SignedNumeric", "SignedInteger", "UnsignedInteger", "Strideable", "Comparable",
    ]
    private static let libraryMembers: Set<String> = [
        "subscript", "init", "append", "remove", "insert", "removeFirst", "removeLast", "removeAll", "removeSubrange",
        "replaceSubrange", "reserveCapacity", "map", "compactMap", "flatMap", "filter", "reduce", "forEach", "contains",
        "first", "last", "index", "sorted", "sort", "reversed", "joined", "split", "prefix", "suffix", "dropFirst",
        "dropLast", "withUnsafeBytes", "withUnsafeBufferPointer", "withUnsafeMutableBufferPointer", "enumerated", "min",
        "max", "advanced", "distance", "formIndex", "isEmpty", "count", "lowercased", "uppercased", "hasPrefix",
        "hasSuffix", "merge", "merging", "mapValues", "updateValue", "removeValue", "union", "intersection", "subtract",
        "copy", "makeIterator", "next", "resume", "assumeIsolated", "copyAndResize", "resize", "get", "allocate",
        "deallocate", "initialize", "deinitialize", "assign", "update", "move",
    ]
}
