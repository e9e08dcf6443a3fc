// Ctrl-C and SIGTERM as a flag that loops look at.
#pragma once

namespace assay {

// Installs handlers for SIGINT, SIGTERM and SIGHUP. The first signal sets the flag; a second one
// ends the program at once with status 130. SIGPIPE is ignored: writing reports it as an error.
void install_interrupt_handlers();

bool interrupted() noexcept;
// Throws Interrupted when the flag is set.
void throw_if_interrupted();
// For tests and for a child told to stop over its pipe.
void set_interrupted(bool value) noexcept;

}  // namespace assay
