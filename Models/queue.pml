/* A queue: adders, workers, the inbox, the signal, the lock, suspension, the idle waiter; with RESUME the resumptions; with
 * LEVELS two service levels.
 *
 * One step is one access of an atomic of the real code, or what a lock holder does with data that only lock holders touch.
 *
 * Mapping: step here -> code by name
 *
 *   Adder, enqueue              OperationQueue.add, bring, addNew: Operation.enqueue, then push
 *   pushChain: load + link      Inbox.push: `head.load`, `bottom.next = old`. One step: the thread that set `inInbox` owns `next`
 *   pushChain: swap             Inbox.push: `weakCompareExchange` of `head`
 *   advise                      OperationQueue.step: `isEmpty`, then claimCallForSlot
 *   claimCallForSlot            Signal.claimCallForSlot: load, then compare-and-exchange in a loop
 *   push                        OperationQueue.push, step: inbox, needsStep, isEmpty, thisThreadLooksSoon, claimCallForSlot,
 *                               `callWorker` or `withState`. A thread that is no worker goes to `advise` at once
 *   claimCall                   Signal.claimCall, then OperationQueue.callWorker -> WorkerPool.request. One step: the load that
 *                               finds the bit, or the exchange that sets it
 *   callWorkers, ...            OperationQueue.callWorkers, perform (callWorkersUnlessLooking), callWorkersIfStartable
 *   withState                   OperationQueue.beginSection, endSection, perform: lock, drain, event, publish, look again,
 *                               unlock, the late ones
 *   drain: load, exchange       Inbox.takeAll: `isEmpty`, then `head.exchange(0)`. To turn the chain round is one step with
 *                               the exchange: the thread with the lock owns the links of operations with `inInbox`
 *   drain: one step a member    OperationQueue.admit: `word.update { $0.drained() }`, arrive: Schedule.arrive (add, update)
 *   publish: or, and            Signal.publish: `bitwiseOr`, `bitwiseAnd`. The load before is one step with the event, because
 *                               `busy` and `empty` change under the lock only
 *   claimFrom, startable        OperationQueue.claim(from:for:by:): QueueMachine: `look` with Lifecycle.claimed, else
 *                               `refuse`; policiesPermitStart. OperationQueue.startableLevels:
 *                               QueueMachine.startable
 *   act: LOOKS                  OperationQueue.takeInWhileEmpty
 *   leave                       OperationQueue.leave(_:by:) with Signal.claimCallForSlot, then Waiter.wake and the
 *                               actions of policies
 *   Worker                      OperationQueue.work(on:), work(in:). Each decision is that of WorkerMachine. The other parts
 *                               of `Shift` have the names that they have there: run, resumeNext, end (endStride), depart
 *                               and complete (departHere), look, linger, callOthers, decide, takePromise,
 *                               turn (lookUnlessResuming)
 *   stopAttending, arrive, ...  the actions of WorkerMachine, by OperationQueue.act
 *   release                     the last release of an operation: its `deinit`
 *   departElsewhere             Operation.depart, with prepareToLeave (tell) and complete
 *   promise                     Worker.obligation. goLong: willDepart; body, then `finishIfFinished` and `endClaimed`
 *   fulfillHere                 OperationQueue.fulfill by the thread that waits (Worker.fulfillObligation)
 *   Monitor                     WorkerPool.survey: Obligation.take, then OperationQueue.fulfill
 *   Late                        the job of OperationQueue.fulfill
 *   Handed                      with ASYNC a thread of the user: finishIfFinished
 *   putBack, Cause              OperationQueue.putBack, and the thread on which the cause of the wait ends; reconsiderReadiness
 *   Opener                      OperationQueue.open(_:), the timer of a rate limit
 *   Steering                    OperationQueue.setSuspended, steer, exchange
 *   Reorderer                   Operation.reconsiderPriority: Lifecycle.reordered, then push
 *   Waiting                     OperationQueue.waitForAll, enlist
 *   tell                        Operation.notifyDependents ... askWhetherReady: `answered` says `push`
 *
 * With RESUME:
 *
 *   ring, resumptions           Resumptions.waiting, Resumptions.count
 *   hasResumptions              OperationQueue.hasResumptions: one load of the count
 *   resume                      OperationQueue.resume: Resumptions.append (ring, then count), `looksSoon`, the call
 *   claimCallForResumption      Signal.claimCallForResumption: load, compare-and-exchange in a loop; callWorker
 *   takeResumption              OperationQueue.takeResumption: `isEmpty`, then Resumptions.takeFirst (ring, then count)
 *   TURNS in goOn               OperationQueue.resume with `promiseLook`; OperationTask.enqueue by the thread that runs the task
 *   runLone                     Resumption.runAlone: a job of the runtime, part of no operation
 *   goOn                        OperationTask.launch or run(_:): until the task suspends, or to the end: finishIfFinished
 *   Handed                      a thread of the user, or a timer: OperationTask.enqueue
 *   wakeSecond                  WAKES 1: Operation.wakeWaiters, 2: CapacityGate, 4: code that prepareToLeave calls
 *   Once                        OperationQueue.workOnce, `run(_ resumption:)` of DispatchWorkers: threads that are no workers
 *
 * Abstractions, and why they are sound
 *
 *   - A swap of the word is one step: the transition is a function of the word read, and the exchange succeeds only on
 *     the same value. A spurious failure of a weak exchange reads again and changes nothing.
 *   - The word has three parts here: phase, `inInbox` (pin), `ready`. How `isReady` is read is in `operation.pml`; here an
 *     operation becomes ready in one step. So only an operation with `inInbox` is pinned.
 *   - `Pace`, the clock and `shouldYield` are a free choice after every operation. That covers all timings and more.
 *   - `Processor.spin` is a free choice to stop. `leave` tries again only when something has changed: a try before that
 *     would do nothing. The same holds for a look that finds the next operation pinned.
 *   - The pool is a number of requests for each level; any free worker of the level takes one. Threads that the system refuses
 *     are not modeled.
 *   - Priorities: the lowest number goes first. Which of the ready ones starts changes nothing that is checked. With LEVELS
 *     a worker passes over ready operations of the other level only while there is a slot for each of them, as in Schedule.
 *   - `Locked.withLock` in callWorker reads constants and is left out.
 *   - The promise belongs to one worker; only the Monitor touches it from outside. `take` is one step: its load before the
 *     exchange only saves the exchange, because no other thread sets the promise.
 *   - The lock of the ring guards an append and a removal, nothing else: each is one step. The count changes in another one.
 *   - The reference to the resumptions is set once, before the first append: until then the count is 0 here.
 *   - An operation has one resumption at a time. Child tasks would have more; LONE is another one that comes at any time.
 *     A resumption may come before the part that suspends has returned to its worker: so it is with tasks.
 *   - A thread that awaits and finds that the awaited event has come continues without suspending; see `waiter.pml` for how.
 *
 * Sizes: NOPS operations (2 or 3), two adders, two workers, one queue. WIDTH 1 or 2. See Scripts/models.
 *
 * Switches: WIDTH; OPS; PACE (1: free ends of a shift, and attending; 2: attending only; 3: attending always;
 *   4: attending after every second operation);
 *   PATHS (1 runAtOnce, 2 start(), 3 either); SUSPEND; WAITER; REORDER;
 *   LEVELS 1: operation 2 and worker 2 have a second level, and the queue has the first; 2: a third worker, of the first level;
 *   PUTBACK 1: operation 1 is put back once, and another thread makes it ready again; 2: and the same thread asks again too;
 *   RATE: the queue has one permit, and a timer that opens the queue again;
 *   DRAINS (a thread that pushes into a busy queue drains the inbox each time; the code does so at each sixteenth push);
 *   BATCH (the first adder adds in one push); DEP (operation 2 depends on operation 1);
 *   DEPENDENTS (operation 1 has dependents, of other queues);
 *   BARRIER (one adder: 1 and 2 in one push, then 3, a barrier);
 *   ASYNC (with PATHS 2: `start()` returns, and another thread announces the end);
 *   BLOCKS 1: the body of operation 1 waits for operation 2; 2: its completion block does;
 *          4: the body of operation 3 waits until operation 2 is finished; 5: the resumption LONE waits for operation 2;
 *          6: an override of `start()` waits for operation 2 after the end of operation 1 (Worker.block);
 *          7: the same, and the engine does not see that it waits; 8: as 6, and the completion block waits too;
 *          9: the body of operation 2 waits for operation 3; 10: the body of operation 3 waits until operation 1 is finished;
 *          11: the `deinit` of operation 1 waits for operation 2;
 *          12: the `deinit` of operation 1 adds operation 3, and the body of operation 2 waits for operation 3;
 *          13: the executor of a task that waits for operation 1 keeps the thread until operation 2 has run;
 *          14: an observer of the queue waits for operation 2 when operation 1 has left; no worker claims in that section.
 *   MONITOR 1: it takes a promise while that body waits; 2: at any moment.
 *   RESUME 1: operation 1 is async; 2: operation 2; 3: both; 0: none. PARTS: how often operation 1 suspends.
 *   TURNS: the worker itself brings the resumption, as for `Task.yield()`, and promises to look before that.
 *   IN_TURN (one adder adds all, one after the other, or with BATCH in one push);
 *   BOTH (two threads bring resumptions); LONER (the adder brings LONE after operation 1);
 *   WAKES (operation 2 waits for 1: see wakeSecond; 3: operation 3 waits for resources that come free when 1 has left);
 *   DISPATCH (threads of Dispatch in place of workers).
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
#ifndef PUTBACK
#define PUTBACK 0
#endif
#ifndef LEVELS
#define LEVELS 0
#endif
/* Operation 1 was added first, and there is one slot. */
#if defined(IN_TURN) && defined(REORDER) && WIDTH == 1 && !LEVELS && !PUTBACK
#define IN_ORDER
#endif

/* The bits `calling` of the two levels are also the names of the levels, and of sets of them. */
#define FIRST 1
#define SECOND 2
#define BUSY 4
#define EMPTY 8
#define ATTENDED 16
#define without(flags) (31 - (flags))

#if LEVELS
#define levelOf(x) ((x) == 2 -> SECOND : FIRST)
#define ownLevel (me == 2 -> SECOND : FIRST)
#define servesResumptions (me != 2)
#else
#define levelOf(x) FIRST
#define ownLevel FIRST
#define servesResumptions true
#endif

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

/* Schedule; only the thread with the lock touches it. */
#define NONE 0
#define WAITS 1
#define READY 2
#define RUNS 3
#define GONE 4
byte member[4];
byte running, count;
bit suspended, idleWaiter;
#ifdef RATE
/* The hold `throttled`, the permits, and whether the timer runs that opens the queue again. */
bit throttled, opens;
byte permits = 1;
#define mayStart (permits != 0)
#else
#define throttled false
#define mayStart true
#endif
#if MUTANT == 4
/* Does not check whether the queue is suspended. */
#define hasRoom (!throttled && running < WIDTH)
#else
#define hasRoom (!suspended && !throttled && running < WIDTH)
#endif
#define isEmpty (count == 0)
#ifdef BARRIER
/* Operation 3 is the gate of the second segment. */
#define isOpen (running == 0 && (member[1] == NONE || member[1] == GONE) && (member[2] == NONE || member[2] == GONE))
#else
#define isOpen true
#endif
#define hasReady (member[1] == READY || member[2] == READY || (member[3] == READY && isOpen))
#define hasStartable (hasRoom && hasReady)
#if LEVELS
/* A worker may pass over a ready operation of the other level only while the queue has a slot for that one too. */
#define second (member[2] == READY -> 1 : 0)
#define first (member[1] == READY -> 1 : 0)
#define startsFirst (hasRoom && (member[1] == READY || (member[3] == READY && running + second < WIDTH)))
#define startsSecond (hasRoom && member[2] == READY && running + first < WIDTH)
#define startable ((startsFirst -> FIRST : 0) + (startsSecond -> SECOND : 0))
#define hasOwnStartable ((startable & ownLevel) != 0)
#else
#define startable (hasStartable -> FIRST : 0)
#define hasOwnStartable hasStartable
#endif

/* Workers. 0 is any thread that is no worker. The promise: none, to look, LOOK + x: the departure of operation x, or to look with
 * a call claimed. */
#define LOOK 1
#define CALL 5
byte promise[4];
#define looksSoon (promise[me] != 0)
byte pending[2];
chan handed = [3] of { byte };
#if defined(MONITOR) && (PATHS != 1 || BLOCKS >= 6 || defined(RESUME))
#define LATE
chan late = [3] of { byte };
#endif

#ifdef RESUME
/* Resumptions: the ring, by the number of the operation; LONE is part of none. And `count`. */
#define LONE 4
chan ring = [4] of { byte };
short resumptions;
#define hasResumptions (resumptions != 0)
/* A thread is between a step in the ring and the count; or none is, and what is counted is there: no thread looks forever. */
#define lags (hasResumptions && between != 0)
#define hasArrivals (head != 0 || (servesResumptions && hasResumptions))
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

/* The kinds of operations. */
/* Whether code of the user may run when the worker releases the operation. */
#if PATHS == 3 || BLOCKS == 11 || BLOCKS == 12
#define isReleased(x) ((x) == 1 || !isPlain(x))
#else
#define isReleased(x) (!isPlain(x))
#endif
#define isPlain(x) (PATHS != 2 && !isAsync(x) && !(BLOCKS >= 6 && BLOCKS <= 8 && (x) == 1))
#define isLong(x) (!isAsync(x) && (PATHS != 1 || (BLOCKS >= 6 && BLOCKS <= 8 && (x) == 1)))
#define hasBlock(x) ((BLOCKS == 2 || BLOCKS == 8) && (x) == 1)
#if defined(DEP) || defined(DEPENDENTS)
#define hasDependents(x) ((x) == 1)
#else
#define hasDependents(x) false
#endif
/* Whether no code of the user runs before the worker can promise to look: see OperationQueue.claimCall. */
#if WAKES == 2 || WAKES == 3
#define mayStay false
#else
#define mayStay true
#endif
/* OperationQueue.mayClaim */
#ifdef RATE
#define mayClaim false
#else
#define mayClaim (!hasResumptions)
#endif

/* Ghosts: for the properties only. */
bit inside[4];                  /* in the inbox */
bit joined[4];                  /* addOperation has returned */
bit ran[4];
byte executing;
bit mustNotStart;               /* isSuspended = true has returned */
bit parker, waiterIsBack;
byte references;                /* of workers to operation 1 */
byte stuck;                     /* the worker that runs an operation that waits for another, meanwhile */
bit due[5];                     /* has been appended to the resumptions, and has not run */
byte between;                   /* threads between a step in the ring and the count */
bit loneRan;
byte putBacks;                  /* 1: operation 1 has been put back; 2: the cause is gone */

#define LOCALS byte old, node, o, want, got, cur, ev, more, levels; bit changed, isLate, wakes, claims, done; \
    bit looked, called, arrives, stays; byte pinned
/* The number of a thread that is no worker is 0. */
#define OUTSIDER LOCALS; byte me

/* --- Signal and Inbox ------------------------------------------------------------------------------------------------ */

inline callWorker(level) { atomic { assert(pending[(level) - 1] == 0); pending[(level) - 1]++ } }

inline claimCall(level) {
    atomic { old = bits & (level); bits = bits | (level) };
    if
    :: atomic { old == 0 -> callWorker(level) }
    :: else -> old = 0
    fi
}

/* Calls workers of `levels`. */
inline callWorkers() {
    if
    :: levels & FIRST -> claimCall(FIRST)
    :: else
    fi;
#if LEVELS
    if
    :: levels & SECOND -> claimCall(SECOND)
    :: else
    fi;
#endif
    levels = 0
}

inline callWorkersUnlessLooking() {
    if
    :: atomic { levels == 0 || looksSoon -> levels = 0 }
    :: else -> callWorkers()
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

#define isCovered(bits, level) ((bits) & (BUSY | EMPTY | ATTENDED | (level)))

/* Sets `want`: 0 nothing, 1 callWorker, 2 takeInWhileEmpty. */
inline advise(level) {
    old = bits;
    if
    :: atomic { old & EMPTY -> want = 2; old = 0 }
    :: else -> old = bits; claimCallForSlot(level)
    fi
}

/* Sets `want` to 1 if the call is claimed, else to 0. */
inline claimCallForSlot(level) {
    do
    :: atomic { isCovered(old, level) -> want = 0; old = 0 }; break
    :: atomic { !isCovered(old, level) ->
            if
            :: bits == old -> bits = bits | (level); old = 0; want = 1
            :: else -> old = bits
            fi
       };
       if
       :: want == 1 -> break
       :: else
       fi
    od
}

#if BLOCKS == 13
#define mayResumeTasks (cur == 1)
#elif WAKES == 1
#define mayResumeTasks (cur == 1 && awaits)
#else
#define mayResumeTasks false
#endif
#if FINDING == 14
#define claimsBeforeTasks true
#define reliedOn called
#else
#define claimsBeforeTasks (!mayResumeTasks)
#define reliedOn (attends || called)
#endif

/* --- Under the lock ---------------------------------------------------------------------------------------------------- */

#define CLAIM 1
#define LEAVE 2
#define LOOKS 3
#define SUSPENDS 4
#define RESUMES 5
#define ENLISTS 6
#define PUTS_BACK 7
#define OPENS 8

inline admit() {
    atomic {
        /* The queue's reference is there. */
        assert(phase[o] != FINISHED);
        pin[o] = 0;
        if
        :: member[o] == NONE -> count++; member[o] = (phase[o] == ENQUEUED && ready[o] -> READY : WAITS)
        :: member[o] == WAITS || member[o] == READY ->
            member[o] = (phase[o] == ENQUEUED && ready[o] -> READY : WAITS)
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
        hasOwnStartable && mayStart ->
        if
#if LEVELS
        :: ownLevel == SECOND -> o = 2
        :: ownLevel == FIRST && member[1] == READY -> o = 1
#else
        :: member[1] == READY -> o = 1
        :: member[1] != READY && member[2] == READY -> o = 2
#endif
        :: else -> o = 3
        fi;
        if
#if MUTANT == 3
        :: phase[o] == ENQUEUED && ready[o] ->
#else
        :: phase[o] == ENQUEUED && ready[o] && !pin[o] ->
#endif
            assert(!mustNotStart);
#ifdef IN_ORDER
            assert(o != 2 || phase[1] > ENQUEUED);
#endif
            phase[o] = STARTING; member[o] = RUNS; running++;
#ifdef RATE
            permits--;
#endif
            got = o; o = 0
#if MUTANT != 34
        :: phase[o] == ENQUEUED && ready[o] && pin[o] && running + 1 == WIDTH -> pinned = o; o = 0
#endif
        :: else -> member[o] = WAITS; o = 0
        fi };
        if
        :: got != 0 || pinned != 0 -> break
        :: else
        fi
#ifdef RATE
    :: atomic { !mayStart ->
        if
        :: hasStartable -> throttled = 1; opens = 1
        :: else
        fi }; break
#endif
    :: !hasOwnStartable && mayStart -> break
    od
}

/* `ev` says what happens under the lock; LEAVE and PUTS_BACK are about `cur`. Answers: got, more, done.
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
                    assert(phase[cur] == FINISHING && member[cur] != GONE && member[cur] != NONE);
                    if
                    :: member[cur] == RUNS -> running--
                    :: else
                    fi;
                    member[cur] = GONE; count--; done = 1;
                    if
                    :: stays && mayStay && !hasStartable && !(bits & (ownLevel | BUSY | EMPTY | ATTENDED)) ->
                        bits = bits | ownLevel; called = 1
                    :: else
                    fi;
                    /* markFinished */
                    phase[cur] = FINISHED;
                    if
                    :: count == 0 -> wakes = idleWaiter; idleWaiter = 0; more = 0; ev = 0
#if FINDING == 2
                    :: count != 0 && claims -> ev = CLAIM
#else
                    :: count != 0 && claims && !hasBlock(cur) && claimsBeforeTasks -> ev = CLAIM
#endif
                    :: else -> more = startable; ev = 0
                    fi
                :: else -> ev = 0
                fi
            :: else ->
                if
                :: ev == SUSPENDS -> suspended = 1
                :: ev == RESUMES -> suspended = 0
                :: ev == ENLISTS && count != 0 -> idleWaiter = 1; done = 1
#ifdef RATE
                :: ev == OPENS -> throttled = 0; permits = 1
#endif
#if PUTBACK || defined(LATE)
                :: ev == PUTS_BACK ->
                    /* returnToWaiting, RatePolicy.putBack */
                    assert(member[cur] == RUNS);
#if MUTANT != 25
                    phase[cur] = ENQUEUED; ready[cur] = 0; putBacks = 1;
#endif
                    member[cur] = WAITS; running--;
#ifdef RATE
                    throttled = 0; permits = 1;
#endif
#endif
                :: else
                fi;
                more = startable; ev = 0
            fi
        };
        if
        :: ev == CLAIM ->
            claimFrom();
            if
            :: arrives ->
                bits = bits & without(ownLevel);
#if MUTANT != 29
                drain();
#endif
                arrives = 0
            :: else
            fi;
            atomic { more = startable; ev = 0 }
        :: else
        fi;
        atomic {
            /* Signal.publish: the new value, and the load. */
            if
            :: !hasRoom && !isEmpty -> want = BUSY
            :: !hasRoom && isEmpty -> want = EMPTY
            :: else -> want = 0
            fi;
            changed = ((bits & (BUSY | EMPTY)) != want)
        };
        if
        :: !changed -> want = 0; break
        :: changed ->
            if
            :: want != 0 -> bits = bits | want
            :: else
            fi;
            atomic { bits = bits & (want | without(BUSY | EMPTY)); want = 0; changed = 0 };
#if MUTANT == 5
            break
#else
            if
            :: head == 0 -> break
            :: else -> isLate = 1
            fi
#endif
        fi
    od;
    atomic {
        if
#if MUTANT != 6
        :: isLate -> levels = startable
#endif
        :: else
        fi;
        isLate = 0; lock = 0
    };
    callWorkersUnlessLooking()
}

inline act() {
    if
    :: want == 0
    :: want == 1 -> want = 0; callWorker(o); o = 0
    :: want == 2 ->
        /* takeInWhileEmpty */
        want = 0; o = 0;
        ev = LOOKS; withState();
        atomic { levels = more; more = 0 };
        callWorkersUnlessLooking()
    fi;
    o = 0
}

inline push(top, bottom) {
#if MUTANT == 1
    o = levelOf(top); advise(o); pushChain(top, bottom); act()
#else
    pushChain(top, bottom);
#ifdef DRAINS
    if
    :: (bits & BUSY) && !(bits & ATTENDED) -> ev = 0; withState()
    :: else
    fi;
#endif
    o = levelOf(top);
    if
    :: me == 0 -> advise(o); act()
    :: me != 0 ->
        if
        /* needsStep */
        :: !(bits & EMPTY) && isCovered(bits, o) -> o = 0
        :: else ->
            if
            :: !(bits & EMPTY) ->
                if
                :: looksSoon -> o = 0
                :: else -> old = bits; claimCallForSlot(o); act()
                fi
            :: else -> want = 2; act()
            fi
        fi
    fi
#endif
}

inline callWorkersIfStartable() {
    ev = LOOKS; withState();
    atomic { levels = more; more = 0 };
    callWorkers();
#ifdef RESUME
    if
    :: hasResumptions -> claimCall(FIRST)
    :: else
    fi
#endif
}

#ifdef RESUME

/* Sets `want` for an instant only. */
inline claimCallForResumption() {
#if MUTANT == 14
    /* As for a push: where there is no room no worker is called. */
    advise(FIRST);
    if
    :: want == 1 -> want = 0; callWorker(FIRST)
    :: else -> want = 0
    fi
#else
    old = bits;
    do
    :: atomic { old & (FIRST | ATTENDED) -> old = 0 }; break
    :: atomic { !(old & (FIRST | ATTENDED)) ->
            if
            :: bits == old -> bits = bits | FIRST; old = 0; want = 1
            :: else -> old = bits
            fi
       };
       if
       :: atomic { want == 1 -> want = 0; callWorker(FIRST) }; break
       :: else
       fi
    od
#endif
}

/* This thread resumes `x`. */
inline resume(x) {
    atomic { assert(!due[x] && nfull(ring)); due[x] = 1; between++; ring ! x };
#if MUTANT != 16
    atomic { resumptions++; between-- };
#endif
    if
    :: looksSoon
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
    :: servesResumptions && hasResumptions ->
        if
        :: atomic { nempty(ring) -> ring ? got; assert(due[got]); due[got] = 0; between++ };
#if MUTANT == 17
            /* Is counted forever. */
            between--
#else
            atomic { resumptions--; between-- }
#endif
        :: empty(ring)
        fi
    :: else
    fi
}

/* Operation 1 has ended, or its place is free: operation 2, if it waits for that, is resumed. */
inline wakeSecond() {
    atomic { hasCome = 1; node = awaits; awaits = 0 };
    if
    :: node -> node = 0; resume(2)
    :: else
    fi
}

#endif

/* The value of `isReady` of `x` is true now. */
inline becomesReady(x) {
    atomic {
        if
        :: phase[x] == ENQUEUED -> ready[x] = 1; node = !pin[x]; pin[x] = 1
        :: else
        fi };
    if
    :: node -> node = 0; push(x, x)
    :: else
    fi
}

/* Removes `cur`, and claims the next one with `claims`. The answers are in got and more. */
inline leave() {
    do
    :: ev = LEAVE; withState();
        if
        :: done -> done = 0; break
        /* Pinned: look again when that may have changed. */
        :: else -> (head != 0 || !pin[cur])
        fi
    od;
#if BLOCKS == 14
    /* An action of a policy: an observer of the queue. */
    if
    :: cur == 1 ->
#if FINDING != 15
        if
        :: more != 0 && !looksSoon -> levels = more; callWorkers()
        :: else
        fi;
#endif
        stuck = me; ran[2]; stuck = 0
    :: else
    fi;
#endif
    claims = 0; stays = 0; pinned = 0;
    if
    :: wakes -> wakes = 0; parker = 1
    :: else
    fi;
#if WAKES == 2
    /* An action of a policy: CapacityGate */
    if
    :: cur == 1 -> wakeSecond()
    :: else
    fi;
#endif
#if WAKES == 3
    /* An action of a policy: ResourcePool.stepOut: operation 3 has its resources now. */
    if
    :: cur == 1 -> dependencyFinished = 1; becomesReady(3)
    :: else
    fi;
#endif
    skip
}

/* prepareToLeave: the finishing of operation 1 makes operation 2 ready. */
inline tell() {
    skip;
#ifdef DEP
    if
    :: cur == 1 -> dependencyFinished = 1; becomesReady(2)
    :: else
    fi
#endif
#if WAKES == 4
    /* An observer, or an override of `isReady`, resumes operation 2. */
    if
    :: cur == 1 -> wakeSecond()
    :: else
    fi
#endif
}

inline complete() {
    skip;
#if WAKES == 1
    /* wakeWaiters */
    if
    :: cur == 1 -> wakeSecond()
    :: else
    fi;
#endif
#if BLOCKS == 2 || BLOCKS == 8
    if
    :: cur == 1 -> ran[2]
    :: else
    fi
#elif BLOCKS == 13
    if
    :: cur == 1 -> stuck = me; ran[2]; stuck = 0
    :: else
    fi
#endif
}

/* Operation.depart, on any thread. */
inline departElsewhere() {
    tell();
    claims = 0; leave();
    atomic { levels = more; more = 0 };
#if MUTANT == 7
    levels = 0;
#endif
    callWorkersUnlessLooking();
    complete()
}

/* OperationQueue.fulfill, of the promise `want`, which this thread has taken. */
inline fulfillHere() {
    if
    :: want == 0
    :: want == LOOK ->
        want = 0; bits = bits & without(ATTENDED); callWorkersIfStartable()
    :: want > LOOK ->
        assert(want == LOOK + cur);
#if FINDING == 9
        want = 0; departElsewhere(); bits = bits & without(ATTENDED); callWorkersIfStartable()
#else
        want = 0;
#if MUTANT != 12
        bits = bits & without(ATTENDED);
        callWorkersIfStartable();
#endif
        departElsewhere()
#endif
    fi
}

/* --- Operations -------------------------------------------------------------------------------------------------------- */

inline enqueue(x) {
    atomic {
        assert(phase[x] == IDLE);
#ifdef DEP
        ready[x] = (x != 2 || dependencyFinished);
#elif WAKES == 3
        ready[x] = (x != 3 || dependencyFinished);
#else
        ready[x] = 1;
#endif
        phase[x] = ENQUEUED; pin[x] = 1
    }
}

inline begin() {
    atomic {
        assert(phase[cur] == STARTING && !ran[cur]);
        phase[cur] = EXECUTING; executing++; ran[cur] = 1;
        assert(executing <= WIDTH)
    }
}

inline body() {
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
#if BLOCKS == 10
    if
    :: cur == 3 -> stuck = me; phase[1] == FINISHED; stuck = 0
    :: else
    fi
#endif
#if BLOCKS == 9 || BLOCKS == 12
    if
    :: cur == 2 -> stuck = me; ran[3]; stuck = 0
    :: else
    fi
#endif
}

inline claimEnd() { atomic { assert(phase[cur] == EXECUTING); phase[cur] = FINISHING; executing-- } }

/* The default `start()` from `main()` on; finishIfFinished, endClaimed. */
inline goLong() {
    body(); claimEnd();
    if
    :: me != 0 ->
        /* willDepart */
        promise[me] = LOOK + cur;
#if BLOCKS == 6 || BLOCKS == 8
        /* An override of `start()` waits, and the engine knows. */
        if
        :: cur == 1 ->
            atomic { want = promise[me]; promise[me] = 0 }; fulfillHere();
            ran[2]
        :: else
        fi;
#endif
#if BLOCKS == 7
        /* The engine does not know. */
        if
        :: cur == 1 -> stuck = me; ran[2]; stuck = 0
        :: else
        fi;
#endif
#if FINDING == 10
        /* The claim of a plain block has no reference, and the frames of the operation end here. */
        assert(member[cur] != GONE)
#endif
    :: me == 0 -> departElsewhere()
    fi
}

#ifdef RESUME
/* The next part of `cur`: until it suspends, or to its end. Operation 2 waits for operation 1 with WAKES. */
inline goOn() {
    if
#if WAKES != 0
    :: atomic { cur == 2 && !hasCome && !awaits -> awaits = 1 }
#endif
    :: atomic { !(WAKES != 0 && cur == 2) && suspensions[cur] < (cur == 1 -> PARTS : 1) ->
            suspensions[cur]++; handed ! cur }
#ifdef TURNS
    :: atomic { suspensions[cur] < (cur == 1 -> PARTS : 1) -> suspensions[cur]++ };
        if
        :: me != 0 && promise[me] == 0 -> promise[me] = LOOK
        :: else
        fi;
        resume(cur)
#endif
    :: else -> goLong()
    fi
}

/* A job of the runtime: part of no operation. */
inline runLone() {
    atomic { assert(!loneRan); loneRan = 1 };
#if BLOCKS == 5
    ran[2]
#endif
}
#endif

/* Puts the claimed `cur` back, for a reason of a policy. */
inline putBack() {
#if MUTANT == 25
    /* Changes the word before it has the lock. */
    atomic { phase[cur] = ENQUEUED; ready[cur] = 0; putBacks = 1 };
#endif
    ev = PUTS_BACK; withState();
    atomic { levels = more; more = 0 };
    callWorkersUnlessLooking();
#if PUTBACK == 2
    /* Asks again at once: the cause may be gone already. */
#if FINDING == 10
    assert(member[cur] != GONE);
#endif
    becomesReady(cur)
#endif
}

/* --- Threads that add -------------------------------------------------------------------------------------------------- */

#if defined(BARRIER) || BLOCKS != 0 || defined(IN_TURN)
#define ONE_ADDER
#endif

#ifdef IN_TURN
proctype Adder(byte one; byte other) {
    OUTSIDER;
#ifdef BATCH
    enqueue(1); enqueue(2); next[2] = 1;
#if OPS == 3 && BLOCKS != 12
    enqueue(3); next[3] = 2;
    push(3, 1);
    joined[3] = 1;
#else
    push(2, 1);
#endif
    joined[1] = 1; joined[2] = 1
#else
    enqueue(1); push(1, 1); joined[1] = 1;
#ifdef LONER
    resume(LONE);
#endif
    enqueue(2); push(2, 2); joined[2] = 1;
#if OPS == 3
    enqueue(3); push(3, 3); joined[3] = 1
#endif
#endif
}
#elif BLOCKS != 0
/* One after the other: the worker that runs operation 1 may attend by then. */
proctype Adder(byte one; byte other) {
    OUTSIDER;
#if OPS == 3
    enqueue(3); push(3, 3); joined[3] = 1;
#endif
    enqueue(1); push(1, 1); joined[1] = 1;
    enqueue(2); push(2, 2); joined[2] = 1
}
#elif defined(BARRIER)
/* Two operations in one push, then a barrier. */
proctype Adder(byte one; byte other) {
    OUTSIDER;
    enqueue(1); enqueue(2); next[2] = 1; push(2, 1); joined[1] = 1; joined[2] = 1;
    enqueue(3); push(3, 3); joined[3] = 1
}
#else
proctype Adder(byte one; byte other) {
    OUTSIDER;
    enqueue(one);
#ifdef BATCH
    if
    :: other != 0 ->
        /* PinnedOperations.add: the last added stands first. */
        enqueue(other); next[other] = one; push(other, one); joined[other] = 1
    :: else -> push(one, one)
    fi;
    joined[one] = 1
#else
    push(one, one); joined[one] = 1;
    if
    :: other != 0 -> enqueue(other); push(other, other); joined[other] = 1
    :: else
    fi
#endif
}
#endif

/* --- Shift ------------------------------------------------------------------------------------------------------------- */

inline stopAttending() {
    if
    :: attends -> atomic { bits = bits & without(ATTENDED); attends = 0 }
    :: else
    fi
}

/* `WorkerMachine.end` */
#define GOES 0
#define YIELDS 1
#define LEAVES 2
#define IDLES 3

inline decide() {
    skip;
#if PACE
    if
#if PACE == 3
    :: attends
#elif PACE == 4
    :: attends -> stopAttending()
#else
    :: end = GOES
#endif
#if PACE == 1
    :: end = YIELDS
    :: stopAttending()
#endif
    :: !attends ->
        atomic {
            if
            :: bits & ATTENDED -> end = LEAVES
            :: else -> bits = bits | ATTENDED; attends = 1
            fi
        }
    fi
#endif
}

/* look(for:on:arrives:) */
inline claimNext() {
    do
    :: ev = CLAIM; withState();
        if
        :: pinned == 0 -> break
        :: else -> more = 0; atomic { head != 0 || !pin[pinned] -> pinned = 0 }
        fi
    od
}

inline look() {
    claimNext(); looked = 1;
    if
    :: got == 0 && more != 0 ->
        atomic { levels = more; more = 0 };
#if MUTANT == 22
        /* Calls no worker of the other level. */
        levels = levels & ownLevel;
#endif
        callWorkers()
    :: else
    fi
}

inline lookUnlessResuming() {
#ifdef RESUME
    if
    :: servesResumptions && hasResumptions -> looked = 0
    :: else -> look()
    fi
#else
    look()
#endif
}

inline callOthers() {
    if
#if FINDING == 5
    :: more == 0 && !attends
#else
    :: more == 0 && !attends && !hasResumptions
#endif
    :: else ->
        atomic { levels = more; more = 0 };
#if defined(RESUME) && FINDING != 5
        if
        :: hasResumptions -> levels = levels | FIRST
        :: else
        fi;
#endif
        if
        :: attends -> levels = levels & without(ownLevel); promise[me] = LOOK
        :: !attends && levels != 0 && (bits & ATTENDED) -> levels = levels & without(ownLevel)
        :: else
        fi;
        callWorkers()
    fi
}

/* Ends the claim of a call. */
inline arrive() {
    if
    :: called -> atomic { bits = bits & without(ownLevel); called = 0 }
    :: else
    fi
}

/* WorkerMachine.returned */
inline noteTakenPromise() {
    if
    :: attends && promise[me] == 0 -> attends = 0
    :: else
    fi
}

/* depart(_:_:) */
inline departHere() {
    if
    :: attends || hasDependents(cur) -> promise[me] = LOOK
    :: else
    fi;
    tell();
#if BLOCKS == 14
    claims = 0;
    if
    :: end == GOES ->
        noteTakenPromise();
        promise[me] = LOOK
    :: end != GOES && !attends -> promise[me] = 0
    :: end != GOES && attends
    fi;
#elif FINDING != 8
    if
    :: !attends -> promise[me] = 0
    :: else
    fi;
#endif
    claims = (claims && end == GOES);
#if FINDING == 11
    stays = claims;
#else
    stays = (claims && !attends);
#endif
#if FINDING != 12
    claims = (claims && !isReleased(cur));
#endif
    leave();
    noteTakenPromise();
    promise[me] = 0;
    if
#if FINDING != 2
    :: hasBlock(cur) || (reliedOn && mayResumeTasks) ->
        if
        :: attends || called ->
#if MUTANT != 26
            stopAttending();
            arrive();
#endif
            callWorkersIfStartable()
        :: else ->
            atomic { levels = more; more = 0 };
            callWorkers();
#ifdef RESUME
            if
            :: hasResumptions -> claimCall(FIRST)
            :: else
            fi
#endif
        fi
#endif
    :: !hasBlock(cur) && !(reliedOn && mayResumeTasks) && end == LEAVES && (bits & ATTENDED) ->
        atomic { levels = more & without(ownLevel); more = 0 };
        callWorkers()
    :: else ->
        if
        :: end != GOES ->
            atomic { levels = more; more = 0 };
#if FINDING != 1
            callWorkers();
#endif
#if defined(RESUME) && FINDING != 7
            if
            :: hasResumptions -> claimCall(FIRST)
            :: else
            fi
#endif
            levels = 0
        :: end == GOES && got == 0 && !attends && !called && (more != 0 || hasResumptions) -> promise[me] = LOOK
        :: else
        fi
    fi;
    complete();
    if
    :: got == 0 -> looked = 0; more = 0
    :: else -> looked = 1
    fi
}

/* end(_:hasEnded:_:). `done`: hasEnded. */
inline endStride() {
    if
    :: done ->
        noteTakenPromise()
    :: else ->
        atomic { want = promise[me]; promise[me] = 0 };
        atomic {
            if
            :: want == 0 -> attends = 0
            :: want > LOOK -> done = 1
            :: else
            fi;
#if MUTANT == 24
            /* Does not ask whether the monitor has taken the promise. */
            if
            :: phase[cur] == FINISHING || phase[cur] == FINISHED -> done = 1
            :: else
            fi;
#endif
            want = 0
        }
    fi;
    decide();
    if
    :: done -> done = 0; departHere()
    :: else -> promise[me] = 0; looked = 0
    fi
}

/* WorkerMachine.releases */
inline promiseLook() {
    if
    :: called -> promise[me] = CALL
    :: !called && attends -> promise[me] = LOOK
    :: else
    fi
}

/* A worker takes a reference to `cur`. */
inline hold() {
    skip;
#if BLOCKS == 11 || BLOCKS == 12
    if
    :: cur == 1 -> references++
    :: else
    fi
#endif
}

/* Releases a reference to `cur`. The last release of operation 1 runs its `deinit`. */
inline release() {
    skip;
#if BLOCKS == 11 || BLOCKS == 12
    if
    :: cur == 1 ->
        atomic { references--; done = (references == 0 && phase[1] == FINISHED) };
        if
        :: done ->
            done = 0;
#if BLOCKS == 11
            stuck = me; ran[2]; stuck = 0
#else
            enqueue(3); push(3, 3); joined[3] = 1
#endif
        :: else
        fi
    :: else
    fi
#endif
}

inline takePromise() {
    if
    :: called || attends ->
        atomic {
            want = promise[me]; promise[me] = 0;
            if
            /* The monitor has taken the promise. */
            :: want == 0 -> attends = 0; called = 0
            :: else -> want = 0
            fi
        }
    :: else -> promise[me] = 0
    fi
}

/* Whether the worker looks at once. */
#define mustLook (end == GOES && !called)

/* run(_ claim:more:_:) */
inline runClaim() {
    atomic { cur = got; got = 0; looked = 0; hold() };
    callOthers();
    if
#if PUTBACK
    :: cur == 1 && putBacks == 0 -> putBack()
    :: !(cur == 1 && putBacks == 0) && isPlain(cur) -> begin(); body(); claimEnd(); done = 1
    :: !(cur == 1 && putBacks == 0) && isLong(cur) -> begin(); goLong()
#elif defined(ASYNC)
    :: begin(); handed ! cur
#else
    :: isPlain(cur) -> begin(); body(); claimEnd(); done = 1
    :: isLong(cur) -> begin(); goLong()
#ifdef RESUME
    :: isAsync(cur) -> begin(); goOn()
#endif
#endif
    fi;
    claims = mayClaim;
    endStride();
    if
    :: isReleased(cur) -> promiseLook(); release(); takePromise()
    :: else -> promise[me] = 0
    fi;
    if
    :: !looked && mustLook -> lookUnlessResuming()
    :: else
    fi;
    cur = 0
}

#ifdef RESUME
/* resumeNext(_:_:), of `got`. */
inline runResumption() {
    atomic { cur = got; got = 0; hold() };
    assert(!called || !looked);
    arrive();
    if
#ifdef LONER
    :: cur == LONE ->
        more = 0;
#if FINDING != 6
        stopAttending();
#endif
        callWorkersIfStartable();
        runLone();
        decide();
#if MUTANT != 32
        promiseLook();
#endif
        looked = 0
#endif
    :: cur != LONE ->
        if
        :: looked -> callOthers()
        :: !looked && attends -> promise[me] = LOOK
        :: !looked && !attends ->
            if
            :: bits & ATTENDED
#if MUTANT == 19
            /* Calls no worker for other work. */
            :: else
#else
            :: else -> callWorkersIfStartable()
#endif
            fi
        fi;
        looked = 0;
        goOn();
        claims = mayClaim;
        endStride();
        promiseLook();
        release()
    fi;
    takePromise();
    if
    :: mustLook -> look()
    :: else
    fi;
    cur = 0
}
#endif

/* linger(_:). Sets `end` when no work is left. */
inline linger() {
    looked = 0; more = 0;
    if
    :: attends ->
        if
        :: hasArrivals -> lookUnlessResuming()
        :: true
        fi;
        if
        :: got != 0
#if defined(RESUME) && FINDING == 4
        :: got == 0 && servesResumptions && hasResumptions ->
            /* Looks at the resumptions again, and leaves. */
            if
            :: hasResumptions
            :: else -> stopAttending(); end = IDLES
            fi
#elif defined(RESUME)
        :: got == 0 && servesResumptions && hasResumptions
#endif
        :: got == 0 && !(servesResumptions && hasResumptions) ->
#if MUTANT == 8
            stopAttending();
#elif MUTANT == 15
            /* Looks, and stops attending after that. */
            look(); stopAttending();
#else
            stopAttending(); lookUnlessResuming();
#endif
            idleIfLooked()
        fi
    :: !attends ->
        if
        :: !called ->
            if
            :: atomic { !(bits & (ownLevel | BUSY | EMPTY | ATTENDED)) -> bits = bits | ownLevel; called = 1 }
            :: else
            fi
        :: else
        fi;
        if
        :: called ->
#if MUTANT == 9
            /* Claims only if it has seen something. */
            if
            :: head != 0 -> arrive(); look()
            :: true -> arrive(); looked = 1
            fi;
#elif MUTANT == 10
            /* Looks, and then says that it looks no more. */
            look(); arrive();
#else
            if
            :: head != 0 -> arrives = 1; look(); called = 0
            :: true
            fi;
            arrive();
            if
            :: got == 0 -> lookUnlessResuming()
            :: else
            fi;
#endif
            idleIfLooked()
        :: else -> idleIfNothing()
        fi
    fi
}

/* Threads that pushed have relied on this worker. Without a look there was a resumption, which another may have taken. */
inline idleIfLooked() {
#if defined(RESUME) && FINDING != 13 && MUTANT != 18
    if
    :: got != 0
    :: got == 0 && looked -> end = IDLES
    :: got == 0 && !looked ->
        if
        :: lags -> progress_2: skip
        :: isThere
        :: !hasResumptions
        fi
    fi
#else
    idleIfNothing()
#endif
}

inline idleIfNothing() {
    if
    :: got != 0
#if MUTANT == 18
    /* Leaves without a look at the resumptions. */
    :: got == 0 -> end = IDLES
#else
    :: got == 0 && !(servesResumptions && hasResumptions) -> end = IDLES
#ifdef RESUME
    :: got == 0 && servesResumptions && hasResumptions ->
        if
        :: lags -> progress_1: skip
        :: isThere
        :: !hasResumptions
        fi
#endif
#endif
    fi
}

proctype Worker(byte me) {
    LOCALS;
    bit attends;
    byte end;
end_sleeps:
    do
    :: atomic { pending[ownLevel - 1] > 0 -> pending[ownLevel - 1]-- };
        bits = bits & without(ownLevel); lookUnlessResuming();
        do
        :: end != GOES -> break
        :: end == GOES && got != 0 -> runClaim()
        :: end == GOES && got == 0 ->
#ifdef RESUME
            takeResumption();
            if
            :: got != 0 -> runResumption()
            :: else -> linger()
            fi
#else
            linger()
#endif
        od;
        if
        :: end == YIELDS -> stopAttending(); claimCall(ownLevel)
        :: else
        fi;
#if defined(RESUME) && LEVELS && MUTANT != 27
        if
        :: !servesResumptions && hasResumptions -> claimCall(FIRST)
        :: else
        fi;
#endif
        assert(!promise[me] && got == 0 && !attends);
        atomic { end = GOES; more = 0; looked = 0 }
    od
}

/* --- Other threads ----------------------------------------------------------------------------------------------------- */

/* With RESUME a thread that brings resumptions; with ASYNC a thread of the user that announces the end. */
proctype Handed() {
    OUTSIDER;
end_sleeps:
    do
#ifdef RESUME
    :: handed ? cur -> resume(cur); cur = 0
#else
    :: handed ? cur -> goLong(); cur = 0
#endif
    od
}

#if MONITOR == 2
#define isDue(worker) true
#else
#define isDue(worker) (stuck == worker)
#endif

#ifdef MONITOR
/* OperationQueue.fulfill, of the promise `cur` of a worker of `level`. */
inline fulfillByMonitor(level) {
#if FINDING == 9
    if
    :: cur > LOOK && cur < CALL -> skip
    :: else -> bits = bits & without(ATTENDED); callWorkersIfStartable()
    fi;
#elif MUTANT == 20
    /* Calls no worker. */
    bits = bits & without(ATTENDED);
#else
    if
    :: cur == CALL -> bits = bits & without(level)
    :: else -> bits = bits & without(ATTENDED)
    fi;
    callWorkersIfStartable();
#endif
#ifdef LATE
    if
    :: cur != LOOK && cur != CALL -> late ! cur
    :: else
    fi;
#endif
    cur = 0
}

proctype Monitor() {
    OUTSIDER;
end_sleeps:
    do
#if MUTANT == 23
    /* Reads the promise, and does not take it. */
    :: atomic { promise[1] && isDue(1) && phase[1] == FINISHING -> cur = promise[1] }; fulfillByMonitor(levelOf(1))
    :: atomic { promise[2] && isDue(2) && phase[1] == FINISHING -> cur = promise[2] }; fulfillByMonitor(levelOf(2))
#else
    :: atomic { promise[1] && isDue(1) -> cur = promise[1]; promise[1] = 0 }; fulfillByMonitor(levelOf(1))
    :: atomic { promise[2] && isDue(2) -> cur = promise[2]; promise[2] = 0 }; fulfillByMonitor(levelOf(2))
#endif
    od
}
#endif

#ifdef LATE
/* A thread of the pool: the job of `fulfill`. */
proctype Late() {
    OUTSIDER;
end_sleeps:
    do
    :: atomic { late ? cur -> cur = cur - LOOK };
#if FINDING == 9
        want = LOOK + cur; fulfillHere();
#else
        departElsewhere();
#endif
        cur = 0
    od
}
#endif

#ifdef RATE
/* The timer: open(_:). */
proctype Opener() {
    OUTSIDER;
end_sleeps:
    do
    :: opens ->
        opens = 0;
        ev = OPENS; withState(); more = 0;
#if MUTANT != 28
        callWorkersIfStartable()
#endif
    od
}
#endif

#if PUTBACK == 1 || PUTBACK == 2
/* The cause for which operation 1 was put back is gone. */
proctype Cause() {
    OUTSIDER;
end_waits:
    atomic { putBacks == 1 -> putBacks = 2 }; becomesReady(1)
}
#endif

#ifdef DISPATCH
/* A thread of Dispatch: workOnce. It is no worker: 0. */
proctype Once() {
    OUTSIDER;
end_sleeps:
    do
    :: atomic { pending[0] > 0 -> pending[0]-- };
        bits = bits & without(FIRST);
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
            claimNext();
            atomic { levels = more; more = 0 };
            callWorkers();
            if
            :: got != 0 ->
#if MUTANT != 21
                if
                :: hasResumptions -> claimCall(FIRST)
                :: else
                fi;
#endif
                cur = got; got = 0;
                begin();
                if
                :: isAsync(cur) -> goOn()
                :: else -> goLong()
                fi;
                cur = 0
            :: else -> takeResumption()
            fi
        :: else
        fi;
        if
        :: got != 0 ->
            cur = got; got = 0;
            callWorkersIfStartable();
            goOn();
            cur = 0
        :: else
        fi
    od
}
#endif

proctype Steering() {
    OUTSIDER;
    ev = SUSPENDS; withState();
    more = 0; mustNotStart = 1;
    mustNotStart = 0;
    ev = RESUMES; withState();
#if MUTANT != 11
    atomic { levels = more; more = 0 };
    callWorkers()
#endif
}

proctype Reorderer(byte x) {
    OUTSIDER;
    if
    :: atomic {
#if MUTANT == 13
        /* Pushes without the right to. */
        phase[x] == ENQUEUED ->
#else
        phase[x] == ENQUEUED && !pin[x] ->
#endif
        pin[x] = 1 }; push(x, x)
    :: phase[x] == ENQUEUED && pin[x]
    :: phase[x] > ENQUEUED
    fi
}

proctype Waiting() {
    OUTSIDER;
    bit before[4];
    atomic { before[1] = joined[1]; before[2] = joined[2]; before[3] = joined[3] };
    ev = ENLISTS; withState(); more = 0;
    if
    :: done -> parker
    :: else
    fi;
    waiterIsBack = 1;
    assert(!before[1] || member[1] == GONE);
    assert(!before[2] || member[2] == GONE);
    assert(!before[3] || member[3] == GONE)
}

/* At rest. */
proctype Rest() {
    timeout ->
    assert(lock == 0 && pending[0] == 0 && pending[1] == 0 && head == 0 && executing == 0 && running == 0 && count == 0);
    assert(!(bits & (FIRST | SECOND | ATTENDED)));
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
#if LEVELS == 2
        run Worker(3);
#endif
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
#ifdef LATE
        run Late();
#endif
#ifdef RATE
        run Opener();
#endif
#if PUTBACK == 1 || PUTBACK == 2
        run Cause();
#endif
#if defined(ASYNC) || defined(RESUME)
        run Handed();
#endif
#ifdef BOTH
        run Handed();
#endif
        run Rest()
    }
}
