// The real program, run as a user would run it, in a home of its own.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/scratch.h"
#include "record/run.h"
#include "store/store.h"
#include "support/run_program.h"

namespace assay::cli {

// The least that measures something: a product and a memory kernel of small size.
extern const std::vector<std::string> kGemm;
extern const std::vector<std::string> kMemory;

std::vector<std::string> operator+(std::vector<std::string> words,
                                   const std::vector<std::string>& more);

// A test of the real program is called Program...: its name keeps it out of builds where the
// program can't measure (./test).
class Assay : public testing::Test {
  protected:
    Assay();

    // For the caller to refine before run_program().
    Program program(const std::vector<std::string>& arguments) const;
    Ended run(const std::vector<std::string>& arguments) const;

    std::string file(const std::string& name) const { return scratch_ / name; }
    // Writes a file of that name and gives its path.
    std::string file(const std::string& name, const std::string& content) const;

    // The default store, and its newest run.
    std::string store_path() const { return file("data/assay/assay.db"); }
    std::unique_ptr<store::Store> store() const { return store::open_store(store_path()); }
    record::Run stored() const { return store()->load("latest"); }
    // Waits until no process of this home is left; false when one stays.
    bool all_processes_end() const;

    Scratch scratch_;
    std::map<std::string, std::string> environment_;
};

// Standard error holds one line "assay: ..." with `what` in it and, next and last, one indented
// line with `hint` in it; before them stands nothing but progress.
void expect_complaint(const Ended& ended, int status, const std::string& what,
                      const std::string& hint);
// Status 0, no complaint.
void expect_fine(const Ended& ended);

}  // namespace assay::cli
