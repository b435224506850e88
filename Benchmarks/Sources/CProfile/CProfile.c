#include "CProfile.h"

// Weak, because only a build with `-profile-generate` has them.
extern void __llvm_profile_reset_counters(void) __attribute__((weak));
extern int __llvm_profile_write_file(void) __attribute__((weak));

void cprofile_reset(void) {
    if (__llvm_profile_reset_counters) __llvm_profile_reset_counters();
}

void cprofile_write(void) {
    if (__llvm_profile_write_file) __llvm_profile_write_file();
}
