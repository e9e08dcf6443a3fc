// A vendor's library opened at run time.
#pragma once

#include <string>
#include <vector>

namespace assay::device {

// Stays open for the life of the process: thread pools and handlers that libraries leave behind
// don't survive their code.
class SharedLibrary {
  public:
    // Opens the file that environment variable `variable` names, else the first of `names` that
    // can be: a name without a slash is looked for as the system does. Throws Unsupported naming
    // the first file and the loader's reason.
    SharedLibrary(const char* variable, const std::vector<std::string>& names);

    // Throws Unsupported naming the file and the symbol.
    template <class Function>
    void bind(Function*& function, const char* symbol) const {
        function = reinterpret_cast<Function*>(address(symbol));
    }
    // The file that was loaded, links followed.
    const std::string& file() const { return file_; }

  private:
    void* address(const char* symbol) const;

    void* handle_;
    std::string file_;
};

}  // namespace assay::device
