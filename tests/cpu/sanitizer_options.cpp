// LeakSanitizer (GCC 12) reads beyond the thread-local storage of libraries that are opened at run
// time, as oneDNN and libgomp are, when it follows __tls_get_addr; without that it still finds
// leaks.
extern "C" const char* __asan_default_options() {  // NOLINT(bugprone-reserved-identifier)
    return "intercept_tls_get_addr=0";
}
