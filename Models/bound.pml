/* The bound on the threads of a queue: the count, who goes away, who calls another one.
 *
 * Operations are pushed, each with a call unless one is on its way. Workers come for the calls; more than LIMIT of them are
 * one too many.
 *
 * Mapping: step here -> code by name
 *
 *   call                        OperationQueue.callWorkerIfNone: Signal.claimCall, then WorkerPool.request
 *   Pusher                      OperationQueue.push: inbox, signal; the operation is there before the call
 *   Worker: arrival             OperationQueue.work(on:): Signal.workerArrived
 *   enter                       ThreadBound.enter(limit:): compare-and-exchange in a loop
 *   drain                       OperationQueue.work(in:): claims until there is nothing, calls another before it runs
 *   leave                       ThreadBound.leave(limit:): subtract; then callWorkersIfStartable
 *   one too many                OperationQueue.workBeyondLimit(in:): takeResumption until there is none
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
bit calling;
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

inline enter() {
#if MUTANT == 2
    /* Counts itself, and takes that back. */
    atomic { count++; isIn = (count <= LIMIT) };
    if
    :: isIn
    :: else -> count--
    fi
#else
    atomic {
        if
        :: count < LIMIT -> count++; isIn = 1
        :: else -> isIn = 0
        fi
    }
#endif
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
    /* Looks at the count, and then counts itself out. */
    wasFull = (count >= LIMIT); count--;
#else
    atomic { wasFull = (count >= LIMIT); count-- };
#endif
#if MUTANT == 1
    wasFull = 0;
#endif
    if
    :: wasFull -> wasFull = 0; callIfStartable()
    :: else
    fi
}

proctype Worker() {
    bit isIn, wasFull;
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
            od
#else
            skip
#endif
        fi;
        isIn = 0
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
