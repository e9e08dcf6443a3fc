// Numbers on the command line. Each throws UsageError with the option's name and what it takes.
#pragma once

#include <cstdint>
#include <string>

namespace assay::cli {

// "8192" or "8K", up to 2^31 - 1.
std::int64_t count_option(const std::string& text, const char* option);
// 1 to 100,000,000.
std::int64_t device_count_option(const std::string& text, const char* option);
double number_option(const std::string& text, const char* option, double least, double most);
// Above 0.
double positive_option(const std::string& text, const char* option);
// The same with k, M, B, T for thousand, million, billion, trillion: tokens are counted so.
double token_count_option(const std::string& text, const char* option);
// "378ms", above 0; in seconds.
double time_option(const std::string& text, const char* option);

}  // namespace assay::cli
