/* Timers and the sleep of the monitor: the timers, the time of the next look, cancellations, the phase.
 *
 * Two threads start one timer each, with the deadlines D0 and D1. CANCEL: a third thread cancels a timer at any time. REQUEST:
 * a thread requests a worker. The monitor takes timers, fires them, and sleeps until the next look.
 *
 * Mapping: step here -> code by name
 *
 *   add                      Timers.add: the insertion and the load of `nextLook`, one section of the lock
 *   cancel                   Timers.cancel: one section of the lock
 *   unpark, park             Parker.unpark, Parker.park
 *   takeDue                  Timers.takeDue: one section of the lock for all due timers
 *   wait: store              Timers.beginWait: the store of `nextLook`; Timers.endWait
 *   request, wake            WorkerPool.request with the grant `wait`, then Monitor.wakeIfAsleep
 *   sleep                    Monitor.sleep: the store of the phase, the survey, the loop
 *
 * Abstractions, and why they are sound
 *
 *   - Time is a number from 0 to 2 that advances at any time. A deadline is 1, 2 or never. A sleep ends at its time, or by a token.
 *   - The heaps are one set. Their order is tested without threads.
 *   - A cancellation removes the timer, as if it were always the one that exceeds a third.
 *   - A look while the monitor is awake is one step, and may be followed by another one, or by sleep.
 *
 * MUTANT n: a fault put in, see Scripts/models.
 */
#ifndef MUTANT
#define MUTANT 0
#endif

#define NEVER 9
#define LAST 2

byte now;
byte nextLook = NEVER;          /* 0: the monitor is going to look */
bit token;

byte deadline[2];
bit inHeap[2];
bit over[2];
byte fired[2];
bit cancelled[2];

bit request;
bit isAwake = 1;
byte ended;
byte running;

inline unpark() { token = 1 }

#if MUTANT == 4
#define enters(me) 1
#else
#define enters(me) !over[me]
#endif

proctype Adder(byte me) {
    byte look;
#if MUTANT == 1
    look = nextLook;
    d_step { deadline[me] = (me == 0 -> D0 : D1); inHeap[me] = enters(me) };
#else
    d_step { deadline[me] = (me == 0 -> D0 : D1); inHeap[me] = enters(me); look = nextLook };
#endif
    if
    :: deadline[me] < look -> unpark()
    :: else
    fi;
    ended++
}

/* Cancels the timer 0 before, during or after its start. */
proctype Canceller() {
    d_step {
        if
        :: !over[0] ->
            over[0] = 1; cancelled[0] = 1;
#if MUTANT != 2
            inHeap[0] = 0
#endif
        :: else
        fi
    };
    ended++
}

proctype Requester() {
    bit was;
    request = 1;
    if
    :: !isAwake ->
        d_step { was = isAwake; isAwake = 1 };
        if :: !was -> unpark() :: else fi
    :: else
    fi;
    ended++
}

inline fireIfDue(me) {
    if
    :: inHeap[me] && deadline[me] <= now ->
        inHeap[me] = 0;
        if :: over[me] :: else -> over[me] = 1; fired[me]++ fi
    :: else
    fi
}

inline takeDue() { d_step { fireIfDue(0); fireIfDue(1) } }

/* until: the time of the sleep. */
inline beginWait() {
    d_step {
        until = NEVER;
        if :: inHeap[0] && deadline[0] < until -> until = deadline[0] :: else fi;
        if :: inHeap[1] && deadline[1] < until -> until = deadline[1] :: else fi
#if MUTANT == 3
    };
    d_step {
#else
        ;
#endif
        nextLook = until
    }
}

inline park(atMostTick) {
    if
    :: true ->
end:    atomic { token || until <= now || atMostTick -> token = 0 };
        nextLook = 0
    fi
}

proctype Monitor() {
    byte until;
    do
    :: /* A look while awake. */
        request = 0;
        takeDue();
        if
        :: beginWait(); park(1)
        :: true -> /* Sleep. */
#if MUTANT == 5
            if :: request -> goto awake :: else fi;
            isAwake = 0;
#else
            isAwake = 0;
            if :: request -> goto awake :: else fi;
#endif
            do
            :: isAwake -> break
            :: else -> takeDue(); beginWait(); park(0)
            od;
awake:      isAwake = 1
        fi
    od
}

proctype Time() {
    do
    :: now < LAST -> now++
    :: now == LAST -> break
    od;
    ended++
}

/* At rest, no process can take a step: the monitor sleeps, and all others have ended. */
proctype Rest() {
    timeout ->
    assert(ended == running);
    assert(!request);
    assert(fired[0] + cancelled[0] == 1 && fired[1] == 1);
    assert(!inHeap[0] && !inHeap[1])
}

init {
    atomic {
        run Monitor(); run Adder(0); run Adder(1); run Time(); running = 3;
#ifdef CANCEL
        run Canceller(); running++;
#endif
#ifdef REQUEST
        run Requester(); running++;
#endif
        run Rest()
    }
}
