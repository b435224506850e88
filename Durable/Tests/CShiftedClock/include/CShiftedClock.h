#ifndef CSHIFTEDCLOCK_H
#define CSHIFTEDCLOCK_H

/// Moves the clock of the process by a number of seconds.
///
/// The target defines `clock_gettime`, so that all code of the process reads the moved clock.
void shifted_clock_move(long seconds);

#endif
