/* The bound on the threads of a queue: the count, the note, who goes away, who calls another one.
 *
 * Operations are pushed, each with a call unless one is on its way. Workers come for the calls; more than LIMIT of them are
 * one too many.
 *
 * Mapping: step here -> code by name
 *
 *   call                        OperationQueue.callWorkerIfNone: Signal.claimCall, then WorkerPool.request
 *   Pusher                      OperationQueue.push: inbox, signal; the operation is there before the call
 *   Worker: arrival             OperationQueue.work(on:): Signal.workerArrived
 *   enter                       ThreadBound.enter(limit:): add, and if there are too many subtract
 *   mayLeave                    ThreadBound.mayLeave: load, store of the note, load
 *   drain                       OperationQueue.work(in:): claims until there is nothing, calls another before it runs
 *   leave                       ThreadBound.leave: subtract, load and exchange of the note; then callWorkersIfStartable
 *   one too many                OperationQueue.workBeyondLimit(in:): takeResumption until there is none, mayLeave
 *
 * Abstractions, and why they are sound
 *
 *   - What is under the queue's lock is one step: the claim, the look whether something is startable. How an operation comes
 *     through the inbox is in queue.pml; here it is startable when it is pushed.
 *   - The width is no limit: the bound matters only where it is not.
 *   - An operation of the kind that blocks (BLOCKS) waits until the resumption has been run, which is appended, and called for,
 *     when somebody has begun to wait: so all threads that the bound allows may wait for it.
 *
 * Sizes: three workers, LIMIT of them in, OPS operations. MUTANT n: a fault put in, see Scripts/models.
 */
#ifndef MUTANT
#define MUTANT 0
#endif
#ifndef LIMIT
#define LIMIT 1
#endif
#ifndef OPS
#define OPS 3
#endif

/* Signal, ThreadBound. */
bit calling, note;
byte count;
/* The queue. */
byte startable;
bit resumption;
byte pending;

/* Ghosts. */
byte ran;
byte inside;
bit hasResumed, hasBegun;

inline call() {
    if
    :: atomic { !calling -> calling = 1; pending++ }
    :: else
    fi
}

inline callIfStartable() {
    if
    :: startable > 0 || resumption -> call()
    :: else
    fi
}

proctype Pusher() {
    byte pushed;
    do
    :: pushed < OPS -> startable++; call(); pushed++
    :: else -> break
    od
}

#ifdef BLOCKS
/* Who brings the resumption. */
proctype Bringer() {
    hasBegun; resumption = 1; call()
}
#endif

/* Sets `isEnough`. */
inline mayLeave() {
    if
    :: count < LIMIT -> isEnough = 0
    :: else ->
#if MUTANT != 1
        note = 1;
#endif
#if MUTANT == 2
        isEnough = 1
#else
        isEnough = (count >= LIMIT)
#endif
    fi
}

inline enter() {
    atomic { count++; isIn = (count <= LIMIT) };
    if
    :: isIn
    :: else -> count--
    fi
}

inline drain() {
    do
    :: atomic { startable > 0 -> startable--; inside++; assert(inside <= LIMIT) };
#if MUTANT != 5
        callIfStartable();
#endif
#ifdef BLOCKS
        hasBegun = 1; hasResumed;
#endif
        atomic { inside--; ran++ }
    :: atomic { resumption -> resumption = 0; hasResumed = 1 }
    :: atomic { startable == 0 && !resumption -> break }
    od
}

inline leave() {
#if MUTANT == 3
    /* Looks at the note, and then counts itself out. */
    if
    :: note -> note = 0; count--; callIfStartable()
    :: else -> count--
    fi
#else
    count--;
    if
    :: note ->
        if
        :: atomic { note -> note = 0 }; callIfStartable()
        :: else
        fi
    :: else
    fi
#endif
}

proctype Worker() {
    bit isIn, isEnough;
end_sleeps:
    do
    :: atomic { pending > 0 -> pending-- };
        calling = 0;
        enter();
        if
        :: isIn -> drain(); leave()
        :: else ->
#if MUTANT != 4
            do
            :: atomic { resumption -> resumption = 0; hasResumed = 1 }
            :: !resumption -> break
            od;
#endif
            mayLeave();
            if
            :: isEnough
            :: else -> callIfStartable()
            fi
        fi;
        isIn = 0; isEnough = 0
    od
}

proctype Rest() {
    timeout ->
    assert(startable == 0 && !resumption && pending == 0 && count == 0 && ran == OPS);
    skip
}

init {
    atomic {
        run Pusher();
#ifdef BLOCKS
        run Bringer();
#endif
        run Worker(); run Worker(); run Worker();
        run Rest()
    }
}
