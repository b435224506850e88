/* Waiting for an operation: the bit `hasWaiters`, the list of waiters under the attachments' lock, the parker.
 *
 * Two threads wait for an operation that a third one finishes. Thread 1 then waits for a second operation, with the same
 * parker: so an `unpark` too many would show.
 *
 * Mapping: step here -> code by name
 *
 *   wait: first look            Operation.waitForFinish: `guard !hasLeft`
 *   wait: looks again           Operation.waitForFinish: `Processor.spin(until: { hasLeft })`, a free choice to stop
 *   own: load, swap             Operation.ownAttachments: AttachmentsReference.load, storeIfNil
 *   enlist                      Operation.enlist: Attachments.withLock (SpinLock), `word.update` with `hasWaiters`, append
 *   park                        Parker.park: mutex, `while !isSignalled { pthread_cond_wait }`, mutex
 *   unpark                      Parker.unpark: mutex, `isSignalled = true`, pthread_cond_signal, mutex; Waiter.wake
 *   Finisher: swap              Operation.markFinished: `word.update { $0.finished() }`, which answers the word before
 *   Finisher: load, take        Operation.complete, wakeWaiters: `attachments?`, `withLock { take the waiters }`
 *   Finisher: release           the queue's reference, given back after `complete` (Operation.depart, OperationQueue.depart)
 *
 * Abstractions, and why they are sound
 *
 *   - A swap of the word is one step (see queue.pml). Of the word there are two bits: finished, `hasWaiters`.
 *   - A condition variable lets the mutex go and sleeps in one step, wakes one sleeper for a signal, and may wake without one, here once a thread:
 *     more often brings nothing new, and a thread that wakes for ever would hide that nobody else moves.
 *   - A waiter holds a reference to the operation while it waits, as its caller does in Swift; so the memory is there.
 *   - `suspendUntilFinished` takes the same way with a continuation in place of the parker: it may be resumed once only,
 *     which is the property that a waiter is woken exactly once.
 *   - `abandon` takes a task's waiter from the list under the lock, as the finisher does, and resumes it. Whoever takes it, wakes it.
 *     A thread whose limit is over takes its own waiter likewise, and parks again if another thread has taken it.
 *   - checkWait and Worker.block touch nothing of this and are left out.
 *
 * Sizes: two waiters, two operations, two finishers. MUTANT n: a fault put in, see Scripts/models.
 */
#ifndef MUTANT
#define MUTANT 0
#endif

/* Operation n: its word, its reference to attachments (0: none made), and theirs: lock and waiters. */
bit finished[3];
bit hasWaiters[3];
byte attachments[3];
bit lock[7];
bit waits[21];                  /* [attachments * 3 + thread] */

/* Parker of thread n. */
bit mutex[3];
bit isSignalled[3];
bit sleeps[3];

/* Ghosts. */
bit isBack[6];                  /* [thread * 2 + operation - 1] */
byte wakes[6];
bit enlisted[6];
#define at(thread, operation) ((thread) * 2 + (operation) - 1)
#define of(id, thread) ((id) * 3 + (thread))

inline own(x, me) {
    id = attachments[x];
    if
    :: id == 0 ->
#if MUTANT == 1
        attachments[x] = x * 2 + me - 1; id = x * 2 + me - 1
#else
        atomic {
            if
            :: attachments[x] == 0 -> attachments[x] = x * 2 + me - 1
            :: else
            fi;
            id = attachments[x]
        }
#endif
    :: else
    fi
}

inline enlist(x, me) {
    own(x, me);
#if MUTANT != 2
    atomic { !lock[id] -> lock[id] = 1 };
#endif
#if MUTANT == 3
    /* Does not look whether it has finished. */
    hasWaiters[x] = 1; isEarly = 1;
#else
    atomic { isEarly = !finished[x]; hasWaiters[x] = hasWaiters[x] || isEarly };
#endif
    if
    :: isEarly -> atomic { waits[of(id, me)] = 1; enlisted[at(me, x)] = 1 }
    :: else
    fi;
#if MUTANT != 2
    lock[id] = 0;
#endif
    id = 0
}

inline park(me) {
    atomic { !mutex[me] -> mutex[me] = 1 };
    do
    :: isSignalled[me] -> break
    :: !isSignalled[me] ->
        atomic { sleeps[me] = 1; mutex[me] = 0 };
        if
        :: atomic { !sleeps[me] && !mutex[me] -> mutex[me] = 1 }
        /* Woken by nobody: once, for otherwise nobody would ever be at rest. */
        :: atomic { sleeps[me] && !mutex[me] && !isRestless -> isRestless = 1; sleeps[me] = 0; mutex[me] = 1 }
        fi
    od;
    isSignalled[me] = 0;
    mutex[me] = 0
}

inline parkWithoutLoop(me) {
    /* Mutant: sleeps without having looked at the flag under the mutex. */
    isEarly = isSignalled[me];
    if
    :: isEarly
    :: else -> sleeps[me] = 1; !sleeps[me]
    fi;
    isSignalled[me] = 0; isEarly = 0
}

inline unpark(thread) {
    atomic { !mutex[thread] -> mutex[thread] = 1 };
    isSignalled[thread] = 1;
    sleeps[thread] = 0;
    mutex[thread] = 0
}

inline wait(x, me) {
    if
    :: finished[x]
    :: !finished[x] ->
        if
        :: finished[x]
        :: true ->
            enlist(x, me);
            if
            :: isEarly ->
                isEarly = 0;
#if MUTANT == 4
                parkWithoutLoop(me)
#else
                park(me)
#endif
            :: else
            fi
        fi
    fi;
    assert(finished[x]);
    isBack[at(me, x)] = 1
}

proctype Waiting(byte me) {
    byte id;
    bit isEarly, isRestless;
    wait(1, me);
    if
    :: me == 1 -> wait(2, me)
    :: else
    fi
}

proctype Finisher(byte x) {
    byte id, taken;
    bit had;
#if MUTANT == 5
    /* Looks at the bit before it swaps the word. */
    had = hasWaiters[x]; finished[x] = 1;
#else
    atomic { had = hasWaiters[x]; assert(!finished[x]); finished[x] = 1 };
#endif
#if MUTANT == 6
    /* Does not look at the bit. */
    had = 0;
#endif
    if
    :: had ->
        id = attachments[x];
        assert(id != 0);
        atomic { !lock[id] -> lock[id] = 1 };
        atomic {
            taken = waits[of(id, 1)] + 2 * waits[of(id, 2)];
            waits[of(id, 1)] = 0; waits[of(id, 2)] = 0
        };
        lock[id] = 0; id = 0;
        if
        :: taken & 1 -> wakes[at(1, x)]++; unpark(1)
        :: else
        fi;
        if
        :: taken & 2 -> wakes[at(2, x)]++; unpark(2)
        :: else
        fi;
        taken = 0
    :: else
    fi
}

/* Nobody moves any more: no waiter sleeps for ever, each that enlisted was woken once, nobody is left in the list. */
proctype Rest() {
    byte n;
    timeout ->
    assert(isBack[at(1, 1)] && isBack[at(2, 1)] && isBack[at(1, 2)]);
    n = 0;
    do
    :: n < 6 -> assert(wakes[n] == enlisted[n]); n++
    :: else -> break
    od;
    n = 0;
    do
    :: n < 21 -> assert(!waits[n]); n++
    :: else -> break
    od
}

init {
    atomic {
        run Waiting(1); run Waiting(2);
        run Finisher(1); run Finisher(2);
        run Rest()
    }
}
