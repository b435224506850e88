/* A queue: adders, workers, the inbox, the signal, the lock, suspension, the idle waiter; with RESUME the resumptions.
 *
 * One step is one access of an atomic of the real code, or what a lock holder does with data that only lock holders touch.
 *
 * Mapping: step here -> code by name
 *
 *   pushChain: load + link      Inbox.push: `head.load`, `bottom.next = old`. One step: `next` belongs to who set `inInbox`
 *   pushChain: swap             Inbox.push: `weakCompareExchange` of `head`
 *   advise                      Signal.advice: load, then compare-and-exchange in a loop
 *   push                        OperationQueue.push: inbox, advice, `worker.owes`, `workerArrived`, `callWorker`, `withState`
 *   claimCall                   Signal.claimCall (`bitwiseOr`), then OperationQueue.callWorker -> WorkerPool.request
 *   withState                   OperationQueue.withState: lock, drain, event, publish, look again, unlock, `mustCall`
 *   drain: load, exchange       Inbox.takeAll: `isEmpty`, then `head.exchange(0)`. Turning the chain round is one step with
 *                               the exchange: whoever has the lock owns the links of what has `inInbox`
 *   drain: one step a member    OperationQueue.admit: `word.update { $0.drained() }`, Schedule.added / updated
 *   publish: or, and            Signal.publish: `bitwiseOr`, `bitwiseAnd`. The load before is one step with the event, for
 *                               `busy` and `held` change under the lock only
 *   claimFrom                   OperationQueue.claim(from:): Schedule.next with Lifecycle.claimed, else Schedule.heldBack
 *   leave                       OperationQueue.leave(_:claimingNext:) and depart, then Waiter.wake, offerSlot
 *   departure                   OperationQueue.departure(of:_:); Signal.attend, Signal.stopAttending
 *   lastLook                    OperationQueue.lastLook: Signal.claimLingering, spin, Signal.workerArrived, claim
 *   Worker                      OperationQueue.work(on:), run(_:on:_:), completePlainly; Operation.runPlainly (path PLAIN),
 *                               Operation.start with finishIfFinished (path LONG); Worker.willFinish, end, passOnDebt
 *   Handed                      OperationQueue.handOver, HandedOver.work; with ASYNC a thread of the user's: finishIfFinished
 *   Monitor                     WorkerPool.survey: collectDebt, then stopAttending and callWorkerIfNone
 *   Steering                    OperationQueue.setSuspended, steer, exchange
 *   Reorderer                   Operation.reconsiderPriority: Lifecycle.reordered, then push
 *   Waiting                     OperationQueue.waitForAll, enlist
 *   tell                        Operation.tellDependents ... askWhetherReady: `answered` says `push`
 *
 * With RESUME:
 *
 *   ring, resumptions           Resumptions.waiting, Resumptions.count
 *   hasResumptions              OperationQueue.hasResumptions: one load of the count
 *   resume                      OperationQueue.resume: Resumptions.append (ring, then count), `worker.owes`, the call
 *   claimCallForResumption      Signal.claimCallForResumption: load, compare-and-exchange in a loop; callWorker
 *   takeResumption              OperationQueue.takeResumption: `isEmpty`, then Resumptions.takeFirst (ring, then count)
 *   claimUnlessResuming         OperationQueue.claimUnlessResuming; before claimingNext: mayClaimBlindly
 *   callIfStartable             OperationQueue.callWorkerIfStartable (without RESUME too)
 *   runResumption               OperationQueue.run(_ resumption:on:_:)
 *   runLone                     Resumption.runAlone: a job of the runtime, part of no operation
 *   goOn                        OperationTask.launch or run(_:): until the task suspends, or to the end: finishIfFinished
 *   Handed                      a thread of the user's, or a timer: OperationTask.enqueue
 *   wakeSecond                  WAKES 1: Operation.wakeWaiters, 2: Bound.vacate, by which operation 2 goes on, on this thread
 *   Once                        OperationQueue.workOnce, `run(_ resumption:)` of DispatchWorkers: threads that are no workers
 *
 * Abstractions, and why they are sound
 *
 *   - A swap of the word is one step: the transition is a function of the word read, and the exchange succeeds only on
 *     the same value. A spurious failure of a weak exchange reads again and changes nothing.
 *   - The word has three parts here: phase, `inInbox` (pin), `ready`. How `isReady` is asked is in `operation.pml`; here a
 *     dependent becomes ready in one step.
 *   - `Pace`, the clock and `shouldYield` are a free choice after every operation. That covers all timings and more.
 *   - `Processor.spin` is a free choice to stop. `leave` tries again only when something has changed: a try before that
 *     would do nothing.
 *   - The pool is a number of requests; any free worker takes one. Threads that the system refuses are not modelled.
 *   - Priorities: the lowest number goes first. Which of the ready ones starts changes nothing that is checked.
 *   - `Locked.withLock` in callWorker reads constants and is left out.
 *   - `debt` belongs to one worker; only the Monitor touches it from outside, so plain stores are one step each.
 *   - The lock of the ring guards an append and a removal, nothing else: each is one step. The count changes in another one.
 *   - The reference to the resumptions is set once, before the first append: until then the count is 0 here.
 *   - An operation has one resumption at a time. Child tasks would have more; LONE is another one that comes at any time.
 *     A resumption may come before the part that suspends has returned to its worker: so it is with tasks.
 *   - A thread that awaits and finds that what it waits for has come goes on without suspending; see `waiter.pml` for how.
 *
 * Sizes: NOPS operations (2 or 3), two adders, two workers, one queue. WIDTH 1 or 2. See Scripts/models.
 *
 * Switches: WIDTH; OPS; PACE (1: free departures and attending; 2: attending only; 3: attending always); PATHS (1 plain,
 *   2 long, 3 either); SUSPEND; WAITER; REORDER;
 *   BATCH (the first adder adds in one push); DEP (operation 2 depends on operation 1);
 *   BARRIER (one adder: 1 and 2 in one push, then 3, a barrier);
 *   ASYNC (with PATHS 2: `start()` returns, and another thread announces the end);
 *   BLOCKS 1: the body of operation 1 waits for operation 2; 2: its completion block does, set before it ran;
 *          3: the same, but the block is set at the last moment (short way to the end);
 *          4: the body of operation 3 waits until operation 2 is finished; 5: the resumption LONE waits for operation 2.
 *   MONITOR 1: it collects a debt while that body waits; 2: at any moment.
 *   RESUME 1: operation 1 is async; 2: operation 2; 3: both; 0: none. PARTS: how often operation 1 suspends.
 *   IN_TURN (one adder adds all, one after the other, or with BATCH in one push);
 *   BOTH (two threads bring resumptions); LONER (the adder brings LONE after operation 1);
 *   WAKES (operation 2 waits for 1: see wakeSecond); DISPATCH (threads of Dispatch in place of workers).
 *   FINDING n: the code with a fault that this model has found; see README.md. MUTANT n: a fault put in, see Scripts/models.
 */
#ifndef WIDTH
#define WIDTH 1
#endif
#ifndef OPS
#define OPS 2
#endif
#ifndef PATHS
#define PATHS 1
#endif
#ifndef PACE
#define PACE 0
#endif
#ifndef BLOCKS
#define BLOCKS 0
#endif
#ifndef MUTANT
#define MUTANT 0
#endif
#ifndef FINDING
#define FINDING 0
#endif
#ifndef WAKES
#define WAKES 0
#endif

#define CALLING 1
#define BUSY 2
#define HELD 4
#define ATTENDED 8
#define without(flags) (15 - (flags))

/* Signal.bits, Inbox.head, Operation.next, the queue's lock. */
byte bits, head, next[4];
bit lock;

/* The words. */
#define IDLE 0
#define ENQUEUED 1
#define STARTING 2
#define EXECUTING 3
#define FINISHING 4
#define FINISHED 5
byte phase[4];
bit pin[4];
bit ready[4];
bit dependencyFinished;

/* Schedule; only who has the lock touches it. */
#define NONE 0
#define WAITS 1
#define READY 2
#define RUNS 3
#define GONE 4
byte member[4];
byte running, count;
bit suspended, idleWaiter;
#if MUTANT == 4
/* Does not ask whether it is suspended. */
#define hasRoom (running < WIDTH)
#else
#define hasRoom (!suspended && running < WIDTH)
#endif
#ifdef BARRIER
/* Operation 3 is the gate of the second segment. */
#define isOpen (running == 0 && (member[1] == NONE || member[1] == GONE) && (member[2] == NONE || member[2] == GONE))
#else
#define isOpen true
#endif
#define hasReady (member[1] == READY || member[2] == READY || (member[3] == READY && isOpen))
#define hasStartable (hasRoom && hasReady)

/* Workers. 0 is any thread that is no worker. */
bit debt[3];
byte pending;
chan handed = [3] of { byte };

#ifdef RESUME
/* Resumptions: the ring, by the number of the operation; LONE is part of none. And `count`. */
#define LONE 4
chan ring = [4] of { byte };
short resumptions;
#define hasResumptions (resumptions != 0)
/* Somebody is between a step in the ring and the count; or nobody is, and what is counted is there: no looking for ever. */
#define lags (hasResumptions && between != 0)
#define hasArrivals (head != 0 || hasResumptions)
#define isThere atomic { hasResumptions && between == 0 -> assert(resumptions == len(ring)) }
#define isAsync(x) ((RESUME >> ((x) - 1)) & 1)
/* How often operation 1 suspends; 2 and 3 do once. */
#ifndef PARTS
#define PARTS 1
#endif
byte suspensions[4];
bit isOdd;
/* WAKES: operation 2 waits for the end of 1, or for the place that it leaves. */
bit hasCome, awaits;
#else
#define hasResumptions false
#define hasArrivals (head != 0)
#define isAsync(x) false
#endif

/* Ghosts: for the properties only. */
bit inside[4];                  /* in the inbox */
bit joined[4];                  /* addOperation has returned */
bit ran[4];
byte executing;
bit mustNotStart;               /* isSuspended = true has returned */
bit parker, waiterIsBack;
byte stuck;                     /* the worker that runs an operation that waits for another, meanwhile */
bit due[5];                     /* has been appended to the resumptions, and has not run */
byte between;                   /* threads between a step in the ring and the count */
bit loneRan;

#define LOCALS byte old, node, o, want, got, cur, ev; bit changed, late, more, wakes, mustCall, claimingNext, done, startable

/* --- Signal and Inbox ------------------------------------------------------------------------------------------------ */

inline callWorker() { atomic { assert(pending == 0); pending++ } }

inline claimCall() {
    atomic { old = bits & CALLING; bits = bits | CALLING };
    if
    :: atomic { old == 0 -> callWorker() }
    :: else -> old = 0
    fi
}

inline pushChain(top, bottom) {
    do
    :: atomic { old = head; next[bottom] = old };
       if
       :: atomic {
            head == old ->
            head = top; old = 0;
            assert(!inside[top] && !inside[bottom]);
            inside[top] = 1; inside[bottom] = 1
          };
          break
       :: else
       fi
    od
}

/* Sets `want`: 0 nothing, 1 callWorker, 2 takeLock. */
inline advise() {
    old = bits;
    do
    :: atomic { old & HELD -> want = 2; old = 0 }; break
    :: atomic { !(old & HELD) && old != 0 -> want = 0; old = 0 }; break
    :: atomic { old == 0 ->
            if
            :: bits == 0 -> bits = CALLING; want = 1
            :: else -> old = bits
            fi
       };
       if
       :: want == 1 -> break
       :: else
       fi
    od
}

/* --- Under the lock ---------------------------------------------------------------------------------------------------- */

#define CLAIM 1
#define LEAVE 2
#define LOOK 3
#define SUSPENDS 4
#define RESUMES 5
#define ENLISTS 6

inline admit() {
    atomic {
        /* The queue's reference is there. */
        assert(phase[o] != FINISHED);
        pin[o] = 0;
        if
        :: member[o] == NONE -> count++; member[o] = (phase[o] == ENQUEUED && ready[o] -> READY : WAITS)
        :: member[o] == WAITS || member[o] == READY -> member[o] = (phase[o] == ENQUEUED && ready[o] -> READY : WAITS)
        :: else
        fi
    }
}

inline drain() {
    if
    :: head != 0 ->
        d_step {
            /* takeAll: exchange, and turn the chain round. */
            node = head; head = 0; o = 0;
            do
            :: node != 0 -> inside[node] = 0; old = next[node]; next[node] = o; o = node; node = old
            :: else -> break
            od;
            node = o; o = 0; old = 0
        };
        do
        :: node != 0 ->
#if MUTANT == 2
            /* The link is read when the pin is off. */
            o = node; admit(); node = next[node]; o = 0
#else
            atomic { o = node; node = next[node]; admit(); o = 0 }
#endif
        :: else -> break
        od
    :: else
    fi
}

inline claimFrom() {
    do
    :: atomic {
        hasStartable ->
        if
        :: member[1] == READY -> o = 1
        :: member[1] != READY && member[2] == READY -> o = 2
        :: else -> o = 3
        fi;
        if
#if MUTANT == 3
        :: phase[o] == ENQUEUED && ready[o] ->
#else
        :: phase[o] == ENQUEUED && ready[o] && !pin[o] ->
#endif
            assert(!mustNotStart);
            phase[o] = STARTING; member[o] = RUNS; running++;
            got = o; o = 0; more = hasStartable;
        :: else -> member[o] = WAITS; o = 0
        fi };
        if
        :: got != 0 -> break
        :: else
        fi
    :: else -> break
    od
}

/* `ev` says what happens under the lock; LEAVE is about `cur`. Answers: got, more, done, startable.
 * The event happens in the first round; the others are for what came late. */
inline withState() {
    atomic { lock == 0 -> lock = 1 };
    do
    :: drain();
        atomic {
            if
            :: ev == 0 || ev == CLAIM
            :: ev == LEAVE ->
                if
#if MUTANT == 3
                :: true ->
#else
                :: !pin[cur] ->
#endif
                    assert(member[cur] != GONE && member[cur] != NONE);
                    if
                    :: member[cur] == RUNS -> running--
                    :: else
                    fi;
                    member[cur] = GONE; count--; done = 1;
                    if
                    :: count == 0 -> wakes = idleWaiter; idleWaiter = 0; ev = 0
                    :: count != 0 && claimingNext -> ev = CLAIM
                    :: else -> startable = hasStartable; ev = 0
                    fi
                :: else -> ev = 0
                fi
            :: else ->
                if
                :: ev == SUSPENDS -> suspended = 1
                :: ev == RESUMES -> suspended = 0
                :: ev == ENLISTS && count != 0 -> idleWaiter = 1; done = 1
                :: else
                fi;
                startable = hasStartable; ev = 0
            fi
        };
        if
        :: ev == CLAIM -> claimFrom(); ev = 0
        :: else
        fi;
        atomic {
            /* Signal.publish: what it is to be, and the load. */
            if
            :: !hasRoom && running > 0 -> want = BUSY
            :: !hasRoom && running == 0 -> want = HELD
            :: else -> want = 0
            fi;
            changed = ((bits & (BUSY | HELD)) != want)
        };
        if
        :: !changed -> want = 0; break
        :: changed ->
            if
            :: want != 0 -> bits = bits | want
            :: else
            fi;
            atomic { bits = bits & (want | without(BUSY | HELD)); want = 0; changed = 0 };
#if MUTANT == 5
            break
#else
            if
            :: head == 0 -> break
            :: else -> late = 1
            fi
#endif
        fi
    od;
    atomic { mustCall = (late && hasStartable); late = 0; lock = 0 };
#if MUTANT == 6
    mustCall = 0;
#endif
    if
    :: mustCall -> mustCall = 0; claimCall()
    :: else
    fi
}

inline claim() { ev = CLAIM; withState() }

inline act(me) {
    if
    :: want == 0
    :: want == 1 ->
        want = 0;
        if
        :: debt[me] -> bits = bits & without(CALLING)
        :: else -> callWorker()
        fi
    :: want == 2 -> want = 0; ev = LOOK; withState()
    fi
}

inline push(top, bottom, me) {
#if MUTANT == 1
    advise(); pushChain(top, bottom);
#else
    pushChain(top, bottom); advise();
#endif
    act(me)
}

inline offerSlot(me) {
    if
    :: startable ->
        startable = 0;
        if
        :: debt[me]
        :: else -> claimCall()
        fi
    :: else
    fi
}

/* callWorkerIfStartable */
inline callIfStartable() {
#ifdef RESUME
    if
    :: hasResumptions -> startable = 1
    :: else -> ev = LOOK; withState()
    fi;
#else
    ev = LOOK; withState();
#endif
    if
    :: startable -> startable = 0; claimCall()
    :: else
    fi
}

#ifdef RESUME

/* Sets `want` for an instant only. */
inline claimCallForResumption() {
#if MUTANT == 14
    /* As for a push: where there is no room nobody is called. */
    advise();
    if
    :: want == 1 -> want = 0; callWorker()
    :: else -> want = 0
    fi
#else
    old = bits;
    do
    :: atomic { old & (CALLING | ATTENDED) -> old = 0 }; break
    :: atomic { !(old & (CALLING | ATTENDED)) ->
            if
            :: bits == old -> bits = bits | CALLING; old = 0; want = 1
            :: else -> old = bits
            fi
       };
       if
       :: atomic { want == 1 -> want = 0; callWorker() }; break
       :: else
       fi
    od
#endif
}

/* The thread `me` has `x` go on. */
inline resume(x, me) {
    atomic { assert(!due[x] && nfull(ring)); due[x] = 1; between++; ring ! x };
#if MUTANT != 16
    atomic { resumptions++; between-- };
#endif
    if
    :: debt[me]
    :: else -> claimCallForResumption()
    fi;
#if MUTANT == 16
    /* Counts when it has called. */
    atomic { resumptions++; between-- }
#endif
}

/* Answers in `got`. */
inline takeResumption() {
    if
    :: hasResumptions ->
        if
        :: atomic { nempty(ring) -> ring ? got; assert(due[got]); due[got] = 0; between++ };
#if MUTANT == 17
            /* Is counted for ever. */
            between--
#else
            atomic { resumptions--; between-- }
#endif
        :: empty(ring)
        fi
    :: else
    fi
}

/* Operation 1 has ended, or its place is free: operation 2, if it waits for that, goes on. */
inline wakeSecond(me) {
    atomic { hasCome = 1; node = awaits; awaits = 0 };
    if
    :: node -> node = 0; resume(2, me)
    :: else
    fi
}

#endif

inline claimUnlessResuming() {
#ifdef RESUME
    if
    :: hasResumptions
    :: else -> claim()
    fi
#else
    claim()
#endif
}

/* Leaves with `cur`. The answers of the claim are in got and more. */
inline leave(me) {
    do
    :: ev = LEAVE; withState();
        if
        :: done -> done = 0; break
        /* Pinned: look again when that may have changed. */
        :: else -> (head != 0 || !pin[cur])
        fi
    od;
    claimingNext = 0;
    if
    :: wakes -> wakes = 0; parker = 1
    :: else
    fi;
#if WAKES == 2
    /* Errands: Bound.vacate */
    if
    :: cur == 1 -> wakeSecond(me)
    :: else
    fi;
#endif
#if MUTANT == 7
    startable = 0;
#endif
    offerSlot(me)
}

/* The finishing of operation 1 makes operation 2 ready. */
inline tell(me) {
    skip;
#ifdef DEP
    if
    :: cur == 1 ->
        atomic {
            dependencyFinished = 1;
            if
            :: phase[2] == ENQUEUED -> ready[2] = 1; node = !pin[2]; pin[2] = 1
            :: else
            fi };
        if
        :: node -> node = 0; push(2, 2, me)
        :: else
        fi
    :: else
    fi
#endif
}

/* --- Threads ----------------------------------------------------------------------------------------------------------- */

inline enqueue(x) {
    atomic {
        assert(phase[x] == IDLE);
#ifdef DEP
        ready[x] = (x != 2 || dependencyFinished);
#else
        ready[x] = 1;
#endif
        phase[x] = ENQUEUED; pin[x] = 1
    }
}

#if defined(BARRIER) || BLOCKS != 0 || defined(IN_TURN)
#define ONE_ADDER
#endif

#ifdef IN_TURN
proctype Adder(byte first; byte second) {
    LOCALS;
#ifdef BATCH
    enqueue(1); enqueue(2); next[2] = 1;
#if OPS == 3
    enqueue(3); next[3] = 2;
#endif
    push(OPS, 1, 0);
    joined[1] = 1; joined[2] = 1; joined[3] = 1
#else
    enqueue(1); push(1, 1, 0); joined[1] = 1;
#ifdef LONER
    resume(LONE, 0);
#endif
    enqueue(2); push(2, 2, 0); joined[2] = 1;
#if OPS == 3
    enqueue(3); push(3, 3, 0); joined[3] = 1
#endif
#endif
}
#elif BLOCKS != 0
/* One after the other: who runs operation 1 may be an attendant by then. */
proctype Adder(byte first; byte second) {
    LOCALS;
    enqueue(3); push(3, 3, 0); joined[3] = 1;
    enqueue(1); push(1, 1, 0); joined[1] = 1;
    enqueue(2); push(2, 2, 0); joined[2] = 1
}
#elif defined(BARRIER)
/* Two operations in one push, then a barrier. */
proctype Adder(byte first; byte second) {
    LOCALS;
    enqueue(1); enqueue(2); next[2] = 1; push(2, 1, 0); joined[1] = 1; joined[2] = 1;
    enqueue(3); push(3, 3, 0); joined[3] = 1
}
#else
proctype Adder(byte first; byte second) {
    LOCALS;
    enqueue(first);
#ifdef BATCH
    if
    :: second != 0 ->
        /* Chain.append: the last added stands first. */
        enqueue(second); next[second] = first; push(second, first, 0); joined[second] = 1
    :: else -> push(first, first, 0)
    fi;
    joined[first] = 1
#else
    push(first, first, 0); joined[first] = 1;
    if
    :: second != 0 -> enqueue(second); push(second, second, 0); joined[second] = 1
    :: else
    fi
#endif
}
#endif

inline begin() {
    atomic {
        assert(phase[cur] == STARTING && !ran[cur]);
        phase[cur] = EXECUTING; executing++; ran[cur] = 1;
        assert(executing <= WIDTH)
    }
}

inline body(me) {
    skip;
#if BLOCKS == 1
    if
    :: cur == 1 -> stuck = me; ran[2]; stuck = 0
    :: else
    fi
#endif
#if BLOCKS == 4
    if
    :: cur == 3 -> stuck = me; phase[2] == FINISHED; stuck = 0
    :: else
    fi
#endif
}

inline claimEnd() { atomic { assert(phase[cur] == EXECUTING); phase[cur] = FINISHING; executing-- } }

inline stopAttending() {
    if
    :: attends -> atomic { bits = bits & without(ATTENDED); attends = 0 }
    :: else
    fi
}

#define GOES 0
#define YIELDS 1
#define LEAVES 2

inline departure() {
    skip;
#if PACE
    if
#if PACE == 3
    :: attends
#else
    :: leaving = GOES
#endif
#if PACE == 1
    :: leaving = YIELDS
    :: stopAttending()
#endif
    :: !attends ->
        atomic {
            if
            :: bits & ATTENDED -> leaving = LEAVES
            :: else -> bits = bits | ATTENDED; attends = 1
            fi
        }
    fi
#endif
}

inline lastLook() {
    if
    :: attends ->
        if
        :: hasArrivals -> claimUnlessResuming()
        :: true
        fi;
        if
        :: got == 0 ->
#ifdef RESUME
            if
            :: lags -> progress_2: skip
            :: isThere
            :: !hasResumptions ->
#if MUTANT == 15
                /* Looks, and then says that it looks no more. */
                claim();
                stopAttending()
#else
                stopAttending();
                claimUnlessResuming()
#endif
            fi
#else
            stopAttending();
#if MUTANT != 8
            claim()
#endif
#endif
        :: else
        fi
    :: !attends ->
        if
        :: atomic { bits == 0 -> bits = CALLING };
#if MUTANT == 9
            /* Claims only if it has seen something. */
            if
            :: head != 0 -> bits = bits & without(CALLING); claim()
            :: true -> bits = bits & without(CALLING)
            fi
#else
#if MUTANT == 10
            /* Looks, and then says that it looks no more. */
            claim(); bits = bits & without(CALLING)
#else
            bits = bits & without(CALLING); claimUnlessResuming()
#endif
#endif
        :: else
        fi
    fi
}

/* The way of an operation that goes through `start()`. */
inline goLong(me) {
#if !defined(ASYNC) && !defined(RESUME)
    begin();
#endif
    body(me); claimEnd();
    if
    :: me != 0 -> debt[me] = 1
    :: else
    fi;
    tell(me); leave(me);
    phase[cur] = FINISHED;
#if WAKES == 1
    /* wakeWaiters */
    if
    :: cur == 1 -> wakeSecond(me)
    :: else
    fi;
#endif
#if BLOCKS == 2
    if
    :: cur == 1 ->
        /* passOnDebt */
        if
        :: atomic { debt[me] -> debt[me] = 0 };
#if MUTANT != 12
            bits = bits & without(ATTENDED);
#endif
            callIfStartable()
        :: else
        fi;
        ran[2]
    :: else
    fi
#endif
}

#ifdef RESUME
/* The next part of `cur`: until it suspends, or to its end. Operation 2 waits for operation 1 with WAKES. */
inline goOn(me) {
    if
#if WAKES != 0
    :: atomic { cur == 2 && !hasCome && !awaits -> awaits = 1 }
#endif
    :: atomic { !(WAKES != 0 && cur == 2) && suspensions[cur] < (cur == 1 -> PARTS : 1) ->
            suspensions[cur]++; handed ! cur }
    :: else -> goLong(me)
    fi
}
#endif

/* completePlainly: whoever set the completion block did so after `endedPlainly`. */
inline completePlainly() {
    phase[cur] = FINISHED;
#if BLOCKS == 3
    if
    :: cur == 1 ->
        if
        :: got != 0 -> handed ! got; got = 0
        :: else
        fi;
        more = 0;
#if FINDING != 2
        stopAttending();
        callIfStartable();
#endif
        ran[2];
        if
        :: leaving == GOES -> claimUnlessResuming()
        :: else
        fi
    :: else
    fi
#endif
}

#ifdef RESUME
/* run(_ resumption: Resumption, ...) on `cur`. Sets `leaving`. */
inline runResumption(me) {
    if
#ifdef LONER
    :: cur == LONE ->
#if FINDING != 6
        stopAttending();
#endif
        callIfStartable();
        runLone(me)
#endif
    :: cur != LONE ->
        if
        :: attends -> debt[me] = 1
        :: !attends ->
            if
            :: bits & ATTENDED
#if MUTANT == 19
            /* Calls nobody for what else there is. */
            :: else
#else
            :: else -> callIfStartable()
#endif
            fi
        fi;
        goOn(me);
        debt[me] = 0
    fi;
    departure()
}

/* A job of the runtime: part of no operation. */
inline runLone(me) {
    atomic { assert(!loneRan); loneRan = 1 };
#if BLOCKS == 5
    ran[2]
#endif
}
#endif

proctype Worker(byte me) {
    LOCALS;
    bit attends;
    byte leaving;
end_sleeps:
    do
    :: atomic { pending > 0 -> pending-- };
        bits = bits & without(CALLING); claimUnlessResuming();
        do
        :: got == 0 ->
#ifdef RESUME
            takeResumption();
            if
            :: got != 0 ->
                cur = got; got = 0;
                runResumption(me);
                cur = 0;
                if
                :: leaving == YIELDS -> leaving = GOES; stopAttending(); claimCall(); break
                :: leaving == LEAVES -> leaving = GOES; break
                :: else -> claim()
                fi
            :: else ->
                lastLook();
                if
                :: got != 0
#if FINDING == 4
                :: got == 0 && !hasResumptions -> stopAttending(); break
                :: got == 0 && hasResumptions
#else
                :: got == 0 && attends
#if MUTANT == 18
                /* Leaves without a look at what is to go on. */
                :: got == 0 && !attends -> break
#else
                :: got == 0 && !attends ->
                    if
                    :: !hasResumptions -> break
                    :: lags -> progress_1: skip
                    :: isThere
                    fi
#endif
#endif
                fi
            fi
#else
            lastLook();
            if
            :: got == 0 -> break
            :: else
            fi
#endif
        :: got != 0 ->
            cur = got; got = 0;
            if
            :: attends -> more = 0; debt[me] = 1
#if defined(RESUME) && FINDING != 5
            :: !attends && (more || hasResumptions) ->
#else
            :: !attends && more ->
#endif
                more = 0;
                if
                :: !(bits & ATTENDED) -> claimCall()
                :: else
                fi
            :: else
            fi;
            if
#if PATHS != 2
            :: (BLOCKS != 2 || cur != 1) && !isAsync(cur) ->
                begin(); body(me); claimEnd();
                debt[me] = 1;
                tell(me);
                departure();
#ifdef RESUME
                /* mayClaimBlindly */
                if
                :: leaving == GOES -> claimingNext = !hasResumptions
                :: else
                fi;
#else
                claimingNext = (leaving == GOES);
#endif
                leave(me);
                debt[me] = 0;
#if FINDING != 1
                /* Who attended has gone in between: nobody else looks. */
                if
                :: leaving == LEAVES && !(bits & ATTENDED) -> callIfStartable()
                :: else
                fi;
#endif
                completePlainly();
#if WAKES == 1
                if
                :: cur == 1 -> wakeSecond(me)
                :: else
                fi;
#endif
#ifdef RESUME
                if
                :: leaving == GOES && got == 0 -> claimUnlessResuming()
                :: else
                fi
#endif
#endif
#if PATHS != 1 || defined(RESUME)
            :: (BLOCKS != 3 || cur != 1) && (PATHS != 1 || isAsync(cur)) ->
#ifdef ASYNC
                begin(); handed ! cur;
#elif defined(RESUME)
                begin();
                if
                :: isAsync(cur) -> goOn(me)
#if PATHS != 1
                :: !isAsync(cur) -> goLong(me)
#endif
                fi;
#else
                goLong(me);
#endif
                debt[me] = 0;
                departure();
                if
                :: leaving == GOES -> claimUnlessResuming()
                :: else
                fi
#endif
            fi;
            cur = 0;
            if
            :: leaving == YIELDS -> leaving = GOES; stopAttending(); claimCall(); break
            :: leaving == LEAVES -> leaving = GOES; break
            :: else
            fi
        od;
        assert(!debt[me] && got == 0);
        more = 0
    od
}

/* A thread for what was handed over, or (ASYNC) one of the user's that announces the end. */
proctype Handed() {
    LOCALS;
end_sleeps:
    do
#ifdef RESUME
    :: handed ? cur -> resume(cur, 0); cur = 0
#else
    :: handed ? cur -> goLong(0); cur = 0
#endif
    od
}

#if MONITOR == 2
#define isDue(worker) true
#else
#define isDue(worker) (stuck == worker)
#endif

#if MUTANT == 20
/* Calls nobody. */
#define collected() bits = bits & without(ATTENDED)
#else
#define collected() bits = bits & without(ATTENDED); claimCall()
#endif

proctype Monitor() {
    byte old;
end_sleeps:
    do
    :: atomic { debt[1] && isDue(1) -> debt[1] = 0 }; collected()
    :: atomic { debt[2] && isDue(2) -> debt[2] = 0 }; collected()
    od
}

#ifdef DISPATCH
/* A thread of Dispatch: workOnce. It is no worker: 0. */
proctype Once() {
    LOCALS;
end_sleeps:
    do
    :: atomic { pending > 0 -> pending-- };
        bits = bits & without(CALLING);
        if
        :: hasResumptions -> atomic { isOdd = !isOdd; changed = isOdd }
        :: else
        fi;
        if
        :: changed -> changed = 0; takeResumption()
        :: else
        fi;
        if
        :: got == 0 ->
            claim();
            if
            :: got != 0 ->
                /* claim.wantsMore || hasResumptions */
#if MUTANT == 21
                /* Calls nobody for what is to go on. */
                if
                :: more -> claimCall()
#else
                if
                :: more || hasResumptions -> claimCall()
#endif
                :: else
                fi;
                more = 0; cur = got; got = 0;
                begin();
                if
                :: isAsync(cur) -> goOn(0)
                :: else -> goLong(0)
                fi;
                cur = 0
            :: else -> takeResumption()
            fi
        :: else
        fi;
        if
        :: got != 0 ->
            cur = got; got = 0;
            callIfStartable();
            goOn(0);
            cur = 0
        :: else
        fi
    od
}
#endif

proctype Steering() {
    LOCALS;
    ev = SUSPENDS; withState();
    startable = 0; mustNotStart = 1;
    mustNotStart = 0;
    ev = RESUMES; withState();
#if MUTANT != 11
    if
    :: startable -> startable = 0; claimCall()
    :: else
    fi
#endif
}

proctype Reorderer(byte x) {
    LOCALS;
    if
    :: atomic {
#if MUTANT == 13
        /* Pushes without the right to. */
        phase[x] == ENQUEUED ->
#else
        phase[x] == ENQUEUED && !pin[x] ->
#endif
        pin[x] = 1 }; push(x, x, 0)
    :: phase[x] == ENQUEUED && pin[x]
    :: phase[x] > ENQUEUED
    fi
}

proctype Waiting() {
    LOCALS;
    bit before[4];
    atomic { before[1] = joined[1]; before[2] = joined[2]; before[3] = joined[3] };
    ev = ENLISTS; withState();
    if
    :: done -> parker
    :: else
    fi;
    waiterIsBack = 1;
    assert(!before[1] || member[1] == GONE);
    assert(!before[2] || member[2] == GONE);
    assert(!before[3] || member[3] == GONE)
}

/* Nobody moves any more. */
proctype Rest() {
    timeout ->
    assert(lock == 0 && pending == 0 && head == 0 && executing == 0 && running == 0 && count == 0);
    assert(!(bits & (CALLING | ATTENDED)));
    assert(ran[1] && member[1] == GONE && phase[1] == FINISHED);
    assert(ran[2] && member[2] == GONE && phase[2] == FINISHED);
#if OPS == 3
    assert(ran[3] && member[3] == GONE && phase[3] == FINISHED);
#endif
#ifdef WAITER
    assert(waiterIsBack);
#endif
#ifdef RESUME
    assert(resumptions == 0 && empty(ring) && !due[1] && !due[2] && !due[3] && !due[LONE]);
#endif
#ifdef LONER
    assert(loneRan);
#endif
    skip
}

init {
    atomic {
        run Adder(1, (OPS == 3 -> 3 : 0));
#ifndef ONE_ADDER
        run Adder(2, 0);
#endif
#ifdef DISPATCH
        run Once();
        run Once();
#else
        run Worker(1);
        run Worker(2);
#endif
#ifdef SUSPEND
        run Steering();
#endif
#ifdef REORDER
        run Reorderer(1);
#endif
#ifdef WAITER
        run Waiting();
#endif
#ifdef MONITOR
        run Monitor();
#endif
#if BLOCKS == 3 || defined(ASYNC) || defined(RESUME)
        run Handed();
#endif
#ifdef BOTH
        run Handed();
#endif
        run Rest()
    }
}
