#include "store/sqlite/log_check.h"

#include <bit>
#include <cstring>
#include <vector>

#include "store/sqlite/log_layer.h"
#include "store/sqlite/page_checksum.h"

namespace cairn::sqlite {

namespace {

constexpr std::uint32_t log_magic = 0x377f0682;  // its last bit selects the byte order of checksums

class LogCheck {
 public:
  LogCheck(sqlite3_file* file, bool repair) : file_(file), repair_(repair) {}

  LogFindings run() {
    sqlite3_int64 size = 0;
    if (found_.code = file_->pMethods->xFileSize(file_, &size); found_.code != SQLITE_OK) return std::move(found_);
    if (size < static_cast<sqlite3_int64>(log_header_bytes + frame_header_bytes + 512)) return std::move(found_);
    if (!read(header_, log_header_bytes, 0)) return std::move(found_);
    if (!header_holds() && !mend_header()) return std::move(found_);
    measure();
    count_ = (size - static_cast<sqlite3_int64>(log_header_bytes)) / static_cast<sqlite3_int64>(frame_.size());
    check_frames();
    return std::move(found_);
  }

 private:
  bool read(std::uint8_t* into, std::size_t size, sqlite3_int64 at) {
    found_.code = file_->pMethods->xRead(file_, into, static_cast<int>(size), at);
    return found_.code == SQLITE_OK;
  }
  bool write(const std::uint8_t* from, std::size_t size, sqlite3_int64 at) {
    if (repair_) found_.code = file_->pMethods->xWrite(file_, from, static_cast<int>(size), at);
    return found_.code == SQLITE_OK;
  }

  bool header_holds() const {
    const std::uint32_t magic = read_big_endian(header_);
    const std::uint32_t size = read_big_endian(header_ + 8);
    if ((magic & ~std::uint32_t{1}) != log_magic || size < 512 || size > 65536 || !std::has_single_bit(size)) {
      return false;
    }
    return log_sum({}, header_, 24, (magic & 1) != 0) == read_sum(header_ + 24);
  }

  // A header is synced before the first frame is written, and no disk tears 32 bytes. Several bits may explain a wrong
  // checksum; the right one is the one that matches the first frame.
  bool mend_header() {
    bool empty = true;
    for (const std::uint8_t byte : header_) empty = empty && byte == 0;
    if (empty) return false;
    std::vector<std::size_t> explain;
    for (std::size_t bit = 0; bit < log_header_bytes * 8; ++bit) {
      turn(header_[bit / 8], bit % 8);
      if (header_holds() && first_frame_holds()) explain.push_back(bit);
      turn(header_[bit / 8], bit % 8);
    }
    if (explain.size() != 1) {
      found_.damage = "its header is damaged: none of its commits can be read";
      return false;
    }
    turn(header_[explain[0] / 8], explain[0] % 8);
    ++found_.repaired;
    return write(header_, log_header_bytes, 0);
  }

  static void turn(std::uint8_t& byte, std::size_t bit) { byte = static_cast<std::uint8_t>(byte ^ (1u << bit)); }

  bool first_frame_holds() {
    measure();
    last_ = read_sum(header_ + 24);
    return read(frame_.data(), frame_.size(), place(0)) && frame_holds();
  }

  void measure() {
    big_endian_ = (read_big_endian(header_) & 1) != 0;
    page_bytes_ = read_big_endian(header_ + 8);
    frame_.resize(frame_header_bytes + page_bytes_);
  }

  sqlite3_int64 place(sqlite3_int64 frame) const {
    return static_cast<sqlite3_int64>(log_header_bytes) + frame * static_cast<sqlite3_int64>(frame_.size());
  }
  bool salt_holds(const std::uint8_t* head) const { return std::memcmp(head + 8, header_ + 16, 8) == 0; }
  LogSum sum_of(const std::vector<std::uint8_t>& frame) const {
    return log_sum(log_sum(last_, frame.data(), 8, big_endian_), frame.data() + frame_header_bytes, page_bytes_,
                   big_endian_);
  }
  bool frame_holds() const { return salt_holds(frame_.data()) && sum_of(frame_) == read_sum(frame_.data() + 16); }

  void check_frames() {
    last_ = read_sum(header_ + 24);
    std::map<std::uint32_t, sqlite3_int64> open;  // of a transaction whose end was not seen yet
    for (sqlite3_int64 frame = 0; frame < count_; ++frame) {
      if (!read(frame_.data(), frame_.size(), place(frame))) return;
      if (!frame_holds()) {
        if (!mend_frame(frame)) return look_behind(frame);
        ++found_.repaired;
        if (!write(frame_.data(), frame_.size(), place(frame))) return;
      }
      last_ = read_sum(frame_.data() + 16);
      open[read_big_endian(frame_.data())] = place(frame);
      if (read_big_endian(frame_.data() + 4) == 0) continue;
      for (const auto& [page, at] : open) found_.pages[page] = at;
      open.clear();
    }
  }

  // Repairs one wrong bit in any part of the frame.
  bool mend_frame(sqlite3_int64 number) {
    const std::uint8_t* const salt = header_ + 16;
    int wrong = 0;
    for (std::size_t i = 0; i < 8; ++i) wrong += std::popcount(static_cast<unsigned>(frame_[8 + i] ^ salt[i]));
    if (wrong > 1) return false;  // probably a frame of an older log
    if (wrong == 1) {
      std::memcpy(frame_.data() + 8, salt, 8);
      return frame_holds();
    }
    const LogSum made = sum_of(frame_);
    const LogSum stored = read_sum(frame_.data() + 16);
    if (std::popcount(made.first ^ stored.first) + std::popcount(made.second ^ stored.second) == 1) {
      write_big_endian(frame_.data() + 16, made.first);
      write_big_endian(frame_.data() + 20, made.second);
      return true;
    }
    return flip_wrong_bit(number, {stored.first - made.first, stored.second - made.second});
  }

  // The checksums are linear: a bit changes them by its value times a factor that depends on how many words follow. So
  // each bit is compared with the difference, from the last word to the first. For the high bits of a word the factors
  // repeat. Then one bit is certainly wrong, but it is unknown which.
  bool flip_wrong_bit(sqlite3_int64 number, LogSum missing) {
    struct Bit {
      std::uint8_t* byte;
      std::size_t bit;
    };
    std::vector<Bit> explain;
    const auto try_word = [&](std::uint8_t* word, LogSum factor) {
      for (std::size_t bit = 0; bit < 32; ++bit) {
        std::uint8_t* const byte = word + (big_endian_ ? 3 - bit / 8 : bit / 8);
        const std::uint32_t value = std::uint32_t{1} << bit;
        const std::uint32_t change = (*byte >> bit % 8 & 1) == 0 ? value : 0u - value;
        if (factor.first * change == missing.first && factor.second * change == missing.second) {
          explain.push_back({byte, bit % 8});
        }
      }
    };
    LogSum first{1, 1};   // the effect of the first word of a pair on the sums
    LogSum second{0, 1};  // the effect of the second
    for (std::size_t pair = 1 + page_bytes_ / 8; pair-- > 0;) {
      std::uint8_t* const words = pair == 0 ? frame_.data() : frame_.data() + frame_header_bytes + 8 * (pair - 1);
      try_word(words, first);
      try_word(words + 4, second);
      for (LogSum* const factor : {&first, &second}) {
        factor->first += factor->second;
        factor->second += factor->first;
      }
    }
    if (explain.size() > 1) {
      found_.damage = "one bit of frame " + std::to_string(number + 1) + " is wrong, but which one is unknown";
    }
    if (explain.size() != 1) return false;
    turn(*explain[0].byte, explain[0].bit);
    return frame_holds();
  }

  // A frame was acknowledged if more commits follow it than can be unsynced. A power failure may have torn only the
  // unsynced commits and the one that was being written.
  void look_behind(sqlite3_int64 bad) {
    if (!found_.damage.empty()) return;
    std::uint8_t head[frame_header_bytes];
    std::uint64_t ends = 0;
    for (sqlite3_int64 frame = bad; frame < count_; ++frame) {
      if (!read(head, frame_header_bytes, place(frame))) return;
      if (!salt_holds(head)) continue;
      if (ends > unsynced_max) {
        found_.damage =
            "frame " + std::to_string(bad + 1) + " is damaged, and commits that were acknowledged lie behind it";
        return;
      }
      if (read_big_endian(head + 4) != 0) ++ends;
    }
  }

  sqlite3_file* file_;
  bool repair_;
  LogFindings found_;
  std::uint8_t header_[log_header_bytes] = {};
  std::vector<std::uint8_t> frame_;
  std::uint32_t page_bytes_ = 0;
  bool big_endian_ = false;
  sqlite3_int64 count_ = 0;
  LogSum last_;  // of the previous frame
};

}  // namespace

LogFindings check_log(sqlite3_file* file, bool repair) { return LogCheck(file, repair).run(); }

}  // namespace cairn::sqlite
