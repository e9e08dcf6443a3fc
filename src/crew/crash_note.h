// One line on standard error that names the library a crash happened in.
#pragma once

namespace assay::crew {

// For SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT, where nobody (a sanitizer) handles them already.
// The process then dies of the signal as it would have. An abort is put down to the first caller
// that is neither the C nor the C++ run-time library.
void install_crash_note();

}  // namespace assay::crew
