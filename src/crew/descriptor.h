// File descriptors that close themselves, and pipes that no other child inherits.
#pragma once

#include <utility>

namespace assay::crew {

class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor() { close(); }

    int number() const { return number_; }  // -1 when closed, which poll() passes over
    bool open() const { return number_ >= 0; }
    void close();

  private:
    int number_ = -1;
};

// A copy of `number` that is closed on exec and numbered 10 or higher, clear of the numbers that a
// child's own descriptors get. Throws Error.
Descriptor duplicate(int number);

struct Pipe {
    Descriptor read;
    Descriptor write;
};

// Both ends as from duplicate(). Throws Error.
Pipe make_pipe();

// Reads and writes of this end return at once. Throws Error.
void set_nonblocking(const Descriptor& descriptor);

}  // namespace assay::crew
