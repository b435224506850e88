#ifndef CPROFILE_H
#define CPROFILE_H

/// Sets the counters of the functions that have run to zero. Does nothing in a build without counters.
void cprofile_reset(void);
/// Writes the counters to the file that the variable `LLVM_PROFILE_FILE` names.
void cprofile_write(void);

#endif
