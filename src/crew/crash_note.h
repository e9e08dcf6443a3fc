// One line on standard error that names the library a crash happened in.
#pragma once

namespace assay::crew {

// For SIGSEGV, SIGBUS, SIGILL and SIGFPE, where nobody (a sanitizer) handles them already. The
// process then dies of the signal as it would have.
void install_crash_note();

}  // namespace assay::crew
