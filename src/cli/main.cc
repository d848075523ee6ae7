#include <csignal>
#include <exception>
#include <iostream>

#include "base/memory.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/safe_output.h"
#include "cli/table.h"

int main(int argc, char** argv) {
  // A closed pipe must fail the write instead of ending the process.
  std::signal(SIGPIPE, SIG_IGN);
  std::ios::sync_with_stdio(false);
  cairn::keep_free_memory();
  try {
    const std::vector<std::string> args(argv + 1, argv + argc);
    const cairn::cli::SafeOutput safe_out(std::cout), safe_err(std::cerr);
    const int code = cairn::cli::run_cairn(args, std::cin, std::cout, std::cerr);
    std::cout.flush();
    if (!std::cout) {
      // `cairn list | head` closes the pipe early; that is not an error.
      if (cairn::cli::stdout_is_closed()) return code;
      std::cerr << "cairn: the output could not be written\n";
      return code == cairn::cli::exit_done ? cairn::cli::exit_failed : code;
    }
    return code;
  } catch (const std::exception& failure) {
    std::cerr << "cairn: unexpected failure: " << failure.what() << "\n";
    return cairn::cli::exit_failed;
  }
}
