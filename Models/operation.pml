/* The word of one operation: added to a queue while its dependency finishes, while it is cancelled, while its own code
 * announces `isReady` and `isFinished`, while a dependency is added and removed.
 *
 * One step is one swap or load of the word, or what the holder of a lock does with what the lock guards.
 *
 * Mapping: step here -> code by name
 *
 *   Adder                       OperationQueue.add(_:): enter (Lifecycle.entering); bring: answerWhileEntering, enqueue:
 *                               retain, Lifecycle.enqueued; push; finishOrReconsider
 *   readIsReady                 Operation.isReady, overridden as `condition && super.isReady`: two loads
 *   reconsider                  Operation.reconsiderReadiness: Lifecycle.reconsidered
 *   askWhetherReady             Operation.askWhetherReady: the getter, Lifecycle.answered; finishOrReconsider; push
 *   push                        Inbox.push. Whether a worker comes is the matter of `queue.pml`: here one always does
 *   drain                       Inbox.takeAll, OperationQueue.admit: Lifecycle.drained
 *   admit                       OperationQueue.admit: Lifecycle.admitted; putBack: Lifecycle.declined. What gates look at is
 *                               left out
 *   Worker                      OperationQueue.claim(from:): Lifecycle.claimed, or refuse: a look after the short pin, or
 *                               Schedule.refuse; admit; Operation.begin: `isFinished`, `isCancelled`, Lifecycle.started;
 *                               Lifecycle.ended in endAnnounced
 *   finishIfFinished            Operation.finishIfFinished: the getter, Lifecycle.finishing; OperationQueue.leave, which
 *                               waits for the pin; markFinished; release of the queue's reference
 *   release                     release of a reference; at zero `deinit`: Operation.abandon: dropFromList for each edge,
 *                               waitForFinishers
 *   Dependency                  the dependency's Lifecycle.finishing, then notifyDependents
 *   notifyDependents            Operation.notifyDependents: DependentStack.close; Edge.dropFromStack and notify for each edge
 *   notify                      Operation.notifyThoroughly: retainedIfAlive, then Lifecycle.released in one swap; with PLAIN
 *                               Lifecycle.heldByOneLessPlainly and PinnedOperations.push. A plain operation of another queue
 *                               than the pinned ones goes the first way
 *   depend                      Operation.depend(on:): dependEarly: heldByOneMoreOfFew, AttachmentsReference.push; or the
 *                               section of the lock: sort, add, heldByOneMore, hold; then adopt, reconsiderReadiness
 *   adopt                       Operation.adopt: the phase, DependentStack.push, the bit hasDependents
 *   attach                      AttachmentsReference.storeIfNil; DependencyList.sort in the first section of the lock
 *   Remover                     Operation.stopDepending(on:)
 *   Canceller                   Operation.requestCancellation, cancelUnobserved
 *   ReadyAnnouncer              user code: sets its condition, Operation.announced(.isReady)
 *   FinishAnnouncer             user code: sets its state, Operation.announced(.isFinished)
 *
 * Abstractions, and why they are sound
 *
 *   - A swap of the word is one step (see queue.pml).
 *   - The queue has one member and always room, so its schedule is the state of this member. Width, suspension and the
 *     signal are in `queue.pml`.
 *   - A queue that is kept alive while it has members: the queue's own lifetime is left out, the operation's is in.
 *   - Observers are left out: they change neither the word (but for one bit) nor who asks.
 *   - The way of plain blocks joins `admitted`, `started`, `ended`, `finishing` in fewer swaps; what others can see between is less.
 *   - Each thread has a reference of its own to the operation, as a caller has in Swift; the dependency has none.
 *   - Sweeps of the dependents are left out: the sweeper owns the edges that it has taken, as the finisher does.
 *   - Each thread that adds a dependency has an edge of its own; edge 0 is there from the start.
 *
 * Sizes: one operation, one dependency, one queue with one worker, up to three more threads. See Scripts/models.
 *
 * Switches: EDGE 1: it depends on the dependency from the start; 2: that is added meanwhile; CANCEL; FINISH; REMOVE, 2: and
 *   adds the dependency once more; PLAIN: `isReady` is not overridden; UNREADY: its own condition is false at first and announced as true, 2: then taken back.
 *   FINDING n: the code with a fault that this model has found; see README.md. MUTANT n: a fault put in.
 */
#ifndef EDGE
#define EDGE 0
#endif
#ifndef REMOVE
#define REMOVE 0
#endif
#ifndef UNREADY
#define UNREADY 0
#endif
#ifndef MUTANT
#define MUTANT 0
#endif
#ifndef FINDING
#define FINDING 0
#endif

#define IDLE 0
#define ENTERING 1
#define ENQUEUED 2
#define STARTING 3
#define EXECUTING 4
#define ENDED 5
#define FINISHING 6
#define FINISHED 7

/* The word. */
byte phase;
bit cancelled, ready, inInbox, evaluating, askAgain, finishAnnounced, queued, admitting;
byte unfinished = (EDGE == 1 -> 1 : 0);

/* What user code has of its own. */
bit condition = (UNREADY == 0 -> 1 : 0);
bit saysFinished;

/* The queue. */
bit inbox, queueLock;
#define NONE 0
#define WAITS 1
#define READY 2
#define RUNS 3
#define GONE 4
byte member;

/* The operation's attachments: whether there are any, their lock, and whether the early edges are sorted. */
bit attached, lock, isSorted;

/* The edges: their marks, and whether they are in the stack of the dependency. */
#define EDGES 3
bit used[EDGES], holds[EDGES], listed[EDGES], stacked[EDGES], inStack[EDGES], gone[EDGES];

/* The dependency: its phase and bit, and its stack. */
bit depFinishing;
bit depHasDependents = (EDGE == 1 -> 1 : 0);
bit depClosed;

/* Lifetime. One reference for each thread that is a caller. */
byte references;
bit freed;

/* Ghosts. */
byte finishes;
bit ran, rejected;
bit mustHold;                   /* addDependency has returned, and nothing lets the operation go */
bit mayGo;                      /* the dependency ends, or is removed, or the operation is cancelled */

#define alive assert(!freed)
/* Whether a thread with the pin pushes soon. An override of `isReady` may take long. */
#ifdef PLAIN
#define isPinnedBriefly (inInbox || evaluating)
#else
#define isPinnedBriefly inInbox
#endif
#define isPinnedNow (phase == ENQUEUED && ready && isPinnedBriefly)
#define LOCALS bit answer, ask, mine, last, was, finishNow, kept, some; byte verdict, e, i, counts

#define AGAIN 1
#define SETTLED 2
#define PUSH 3
#define FINISHES 4
#define STARTS 5
#define PUTBACK 6

#define hasNotStarted (phase < STARTING || admitting)

/* Edge.dropFromList, inside a step: `some` says whether the edge was counted. */
inline dropFromList(n) {
    assert(listed[n] && !gone[n]);
    some = holds[n]; holds[n] = 0; listed[n] = 0;
#if MUTANT == 16
    /* Frees the edge although the stack has it. */
    gone[n] = 1
#else
    gone[n] = !stacked[n]
#endif
}

inline release() {
    atomic { alive; assert(references > 0); references--; last = (references == 0) };
    if
    :: last ->
        last = 0; i = 0; counts = 0;
        do
        :: i < EDGES ->
            atomic {
                if
                :: listed[i] -> dropFromList(i); counts = counts + some; some = 0
                :: else
                fi };
            i++
        :: else -> i = 0; break
        od;
#if MUTANT != 1
        (unfinished == counts);
#endif
        counts = 0;
        freed = 1
    :: else
    fi
}

inline push() { atomic { assert(!inbox); inbox = 1 } }

inline drain() {
    if
    :: inbox ->
        inbox = 0;
        atomic {
            alive; assert(inInbox); inInbox = 0;
            if
            :: member == NONE || member == WAITS || member == READY ->
                member = (phase == ENQUEUED && ready -> READY : WAITS)
            :: else
            fi
        }
    :: else
    fi
}

inline readIsReady() {
    atomic { alive; answer = condition };
    atomic { alive; answer = answer && (unfinished == 0 || cancelled) }
}

/* Lifecycle.reconsidered, inside a step. */
inline reconsidered() {
    if
    :: phase == ENTERING ->
#if MUTANT != 2
        askAgain = 1
#endif
        ;
    :: phase == ENQUEUED && evaluating -> askAgain = 1
    :: phase == ENQUEUED && !evaluating -> evaluating = 1; askAgain = 0; ask = 1
    :: phase == STARTING && admitting -> askAgain = 1
    :: else
    fi
}

inline leave() {
    do
    :: atomic { !queueLock -> queueLock = 1 };
        drain();
        atomic {
            alive;
            if
#if MUTANT == 3
            :: true ->
#else
            :: !inInbox ->
#endif
                was = 1; member = GONE
            :: else
            fi };
        queueLock = 0;
        if
        :: was -> was = 0; break
        :: else -> (inbox || !inInbox)
        fi
    od
}

inline finishIfFinished() {
    atomic {
        alive;
        if
        :: saysFinished || phase >= ENDED -> mine = 1
        :: else
        fi };
    if
    :: mine ->
        mine = 0;
        atomic {
            alive;
            if
            :: phase == ENTERING -> finishAnnounced = 1
#if MUTANT != 4
            :: phase == ENQUEUED && evaluating -> finishAnnounced = 1
#endif
#if MUTANT != 12
            :: phase == STARTING && admitting -> finishAnnounced = 1
#endif
            :: phase == FINISHING || phase == FINISHED
            :: else -> phase = FINISHING; finishes++; assert(finishes == 1); mine = 1
            fi };
        if
        :: mine ->
            mine = 0;
            if
            :: queued -> leave(); atomic { alive; phase = FINISHED }; release()
            :: else -> atomic { alive; phase = FINISHED }
            fi
        :: else
        fi
    :: else
    fi
}

/* Whoever calls this has set `evaluating`. */
inline askWhetherReady() {
    do
    :: readIsReady();
        atomic {
            alive;
            if
#if MUTANT == 5
            :: false ->
#else
            :: askAgain ->
#endif
                askAgain = 0; verdict = AGAIN
            :: else ->
                finishNow = finishAnnounced; finishAnnounced = 0; evaluating = 0;
                if
                :: answer && !finishNow ->
                    if
#if MUTANT == 6
                    /* A yes is not pushed if the last answer was yes. */
                    :: inInbox || ready -> verdict = SETTLED
#else
                    :: inInbox -> verdict = SETTLED
#endif
                    :: else -> inInbox = 1; verdict = PUSH
                    fi;
                    ready = 1
                :: else ->
                    ready = 0;
                    verdict = (finishNow -> FINISHES : SETTLED)
                fi;
                finishNow = 0
            fi;
            answer = 0
        };
        if
        :: verdict == AGAIN -> verdict = 0
        :: verdict == SETTLED -> verdict = 0; break
        :: verdict == PUSH -> verdict = 0; push(); break
        :: verdict == FINISHES ->
            verdict = 0;
            finishIfFinished();
            atomic { alive; reconsidered() };
            if
            :: ask -> ask = 0
            :: else -> break
            fi
        fi
    od
}

inline reconsider() {
    atomic { alive; reconsidered() };
    if
    :: ask -> ask = 0; askWhetherReady()
    :: else
    fi
}

/* Decrements the count. The thread has cleared the mark of an edge, and has no reference. */
inline notify() {
#ifdef PLAIN
    atomic {
        alive; assert(unfinished > 0); unfinished--;
        if
        :: unfinished == 0 && (phase == ENTERING || (phase == ENQUEUED && evaluating) || (phase == STARTING && admitting)) ->
            askAgain = 1
        :: unfinished == 0 && phase == ENQUEUED && !evaluating ->
            /* The pin is set: there is a reference. */
            assert(references > 0); assert(!finishAnnounced);
            askAgain = 0; ready = 1; ask = !inInbox; inInbox = 1
        :: else
        fi };
    if
    :: ask -> ask = 0; push()
    :: else
    fi
#else
    atomic {
        kept = (references > 0);
        if
        :: kept -> references++
        :: else
        fi };
    atomic {
        alive; assert(unfinished > 0); unfinished--;
        if
        :: unfinished == 0 -> reconsidered(); assert(!ask || kept)
        :: else
        fi };
    if
    :: ask -> ask = 0; askWhetherReady()
    :: else
    fi;
    if
    :: kept -> kept = 0; release()
    :: else
    fi
#endif
}

/* Edge.dropFromStack, and the notification. */
inline notifyEdge(n) {
    atomic {
        assert(stacked[n] && !gone[n]);
        some = holds[n]; holds[n] = 0; stacked[n] = 0; gone[n] = !listed[n] };
    if
    :: some -> some = 0; notify()
    :: else
    fi
}

byte taken[EDGES];
inline notifyDependents() {
    atomic {
        depClosed = 1; i = 0;
        do
        :: i < EDGES ->
            if
            :: inStack[i] -> inStack[i] = 0; taken[i] = _pid
            :: else
            fi;
            i++
        :: else -> i = 0; break
        od };
    e = 0;
    do
    :: e < EDGES ->
        if
        :: taken[e] == _pid -> taken[e] = 0; notifyEdge(e)
        :: else
        fi;
        e++
    :: else -> e = 0; break
    od
}

proctype Adder() {
    LOCALS;
    atomic {
        alive;
        if
        :: phase == IDLE -> phase = ENTERING; askAgain = 0; finishAnnounced = 0
        :: else -> rejected = 1
        fi };
    if
    :: !rejected ->
        do
        :: readIsReady();
#if MUTANT != 7
            references++;
#endif
            atomic {
                alive;
                if
                :: askAgain -> askAgain = 0; was = 0
                :: else ->
                    phase = ENQUEUED; inInbox = 1; queued = 1; was = 1;
                    ready = (ready || (answer && !finishAnnounced))
                fi;
                answer = 0 };
            if
            :: was -> was = 0; break
            :: else ->
#if MUTANT != 7
                references--
#endif
                ;
            fi
        od;
        push();
#if MUTANT == 7
        /* The queue's reference is taken when it is the queue's already. */
        atomic { alive; references++ };
#endif
        atomic { alive; was = finishAnnounced };
#if MUTANT == 8
        was = 0;
#endif
        if
        :: was -> was = 0; finishIfFinished(); reconsider()
        :: else
        fi
    :: else
    fi;
    release()
}

/* OperationQueue.admit; `got` stays set when the operation starts. */
inline admit() {
    do
    :: atomic {
            alive;
            if
            :: finishAnnounced -> finishAnnounced = 0; askAgain = 0; admitting = 0; verdict = FINISHES
            :: !finishAnnounced && cancelled -> askAgain = 0; admitting = 0; verdict = STARTS
#if MUTANT != 13
            :: !finishAnnounced && !cancelled && !ready -> verdict = PUTBACK
            :: !finishAnnounced && !cancelled && ready && askAgain -> askAgain = 0; verdict = AGAIN
#endif
            :: else -> admitting = 0; verdict = STARTS
            fi;
            if
            :: verdict == STARTS -> assert(!mustHold)
            :: else
            fi };
        if
        :: verdict == STARTS -> verdict = 0; break
        :: verdict == FINISHES ->
            verdict = 0;
            finishIfFinished();
            atomic { alive; got = (phase == STARTING) };
            if
            :: got
            :: else -> release()
            fi;
            break
        :: verdict == AGAIN ->
            verdict = 0;
            readIsReady();
            if
            :: answer -> answer = 0
            :: else -> verdict = PUTBACK; mine = 1
            fi
        :: else
        fi;
        if
        :: verdict == PUTBACK ->
            verdict = 0; got = 0;
            atomic { !queueLock -> queueLock = 1 };
            drain();
            atomic {
                alive; assert(phase == STARTING && member == RUNS);
                phase = ENQUEUED; member = WAITS; admitting = 0; ready = 0;
#if MUTANT != 14
                mine = mine || askAgain || cancelled;
#endif
                was = finishAnnounced; askAgain = 0; finishAnnounced = 0 };
            queueLock = 0;
            again = mine; mine = 0;
            if
            :: was -> was = 0; finishIfFinished()
            :: else
            fi;
            if
            :: again -> again = 0; reconsider()
            :: else
            fi;
            release();
            break
        :: else
        fi
    od;
}

proctype Worker() {
    LOCALS;
    bit got, again;
end_sleeps:
    do
    :: inbox || member == READY && !isPinnedNow ->
        atomic { !queueLock -> queueLock = 1 };
        drain();
        if
        :: member == READY ->
            atomic {
                alive;
                if
#if MUTANT == 9
                :: phase == ENQUEUED && ready ->
#else
                :: phase == ENQUEUED && ready && !inInbox && !evaluating ->
#endif
                    assert(references > 0);
                    phase = STARTING; admitting = 1; member = RUNS; references++; got = 1
#if MUTANT != 9
                :: phase == ENQUEUED && ready && isPinnedBriefly -> skip
#endif
                :: else -> member = WAITS
                fi }
        :: else
        fi;
        queueLock = 0;
        if
        :: got -> admit()
        :: else
        fi;
        if
        :: got ->
            got = 0;
            atomic { alive; was = saysFinished || phase >= ENDED };
            if
            :: was -> was = 0
            :: else ->
                atomic { alive; was = cancelled };
                atomic {
                    alive;
                    if
                    :: phase == STARTING -> phase = (was -> ENDED : EXECUTING); mine = !was
                    :: else
                    fi;
                    was = 0 };
                if
                :: mine ->
                    mine = 0;
                    atomic { assert(!ran); ran = 1 };
                    atomic {
                        alive;
                        if
                        :: phase == EXECUTING -> phase = ENDED
                        :: else
                        fi }
                :: else
                fi
            fi;
            finishIfFinished();
            release()
        :: else
        fi
    od
}

proctype Dependency() {
    LOCALS;
    atomic { mayGo = 1; mustHold = 0; depFinishing = 1; was = depHasDependents };
#if MUTANT == 10
    was = 0;
#endif
    if
    :: was -> was = 0; notifyDependents()
    :: else
    fi
}

/* Pushes edge `own`, or notifies. */
inline adopt(own) {
    atomic { mine = !depFinishing; was = depHasDependents };
    if
    :: mine ->
        mine = 0;
        atomic {
            if
            :: depClosed -> mine = 0
            :: else -> inStack[own] = 1; mine = 1
            fi };
        if
        :: mine && !was ->
            atomic { depHasDependents = 1; mine = !depFinishing };
#if MUTANT == 11
            /* Does not look at the phase after the bit. */
            mine = 1;
#endif
            if
            :: mine
            :: else -> notifyDependents()
            fi
        :: mine && was
        :: else -> notifyEdge(own)
        fi
    :: else -> notifyEdge(own)
    fi;
    mine = 0; was = 0
}

/* Begins a section of the lock in which the early edges are sorted. `counts` are to be taken back after it. */
inline attach() {
    attached = 1;
    atomic { !lock -> lock = 1 };
    if
    :: !isSorted ->
        isSorted = 1; i = 0;
        /* All but the first edge are repeated ones: there is one dependency. */
        do
        :: i < EDGES ->
            atomic {
                if
                :: listed[i] && mine -> dropFromList(i); counts = counts + some; some = 0
                :: listed[i] && !mine -> mine = 1
                :: else
                fi };
            i++
        :: else -> i = 0; mine = 0; break
        od
    :: else
    fi
}

/* Takes back the counts of repeated edges, and evaluates the readiness. */
inline takeBack() {
    if
    :: counts > 0 ->
        atomic { alive; assert(unfinished >= counts); unfinished = unfinished - counts; counts = 0 };
        reconsider()
    :: else
    fi
}

inline noteHeld() {
    atomic {
        if
        :: hasNotStarted && !mayGo -> mustHold = 1
        :: else
        fi }
}

/* depend(on:), and the promise that its return makes. `own` is an edge that no thread has used. */
inline depend(own) {
    atomic { was = !depFinishing };
    if
    :: was && !attached ->
        was = 0;
#if MUTANT == 15
        /* Another thread can find the edge before it is counted. */
        atomic {
            if
            :: !attached && phase == IDLE -> holds[own] = 1; stacked[own] = 1; listed[own] = 1; used[own] = 1
            :: else
            fi };
#endif
        atomic {
            alive;
            if
            :: phase == IDLE -> unfinished++; verdict = STARTS
            :: else
            fi };
        if
        :: verdict == STARTS ->
            atomic {
                if
                :: !attached -> used[own] = 1; listed[own] = 1; holds[own] = 1; stacked[own] = 1
                :: else -> verdict = PUTBACK
                fi }
        :: else
        fi;
        if
        :: verdict == STARTS -> verdict = 0; adopt(own); reconsider(); noteHeld(); verdict = STARTS
        :: verdict == PUTBACK -> verdict = 0; atomic { alive; unfinished-- }; reconsider(); was = 1
        :: else -> was = 1
        fi
    :: else
    fi;
    if
    :: verdict == STARTS -> verdict = 0; was = 0
    :: else ->
        attach();
        i = 0; mine = 1;
        do
        :: i < EDGES ->
            mine = mine && !listed[i];
            i++
        :: else -> i = 0; break
        od;
        if
        :: mine ->
            mine = 0;
            /* A thread that has the edge in the stack drops it there without the lock. */
            atomic { used[own] = 1; listed[own] = 1 };
#if FINDING == 3
            lock = 0;
            atomic { !lock -> lock = 1 };
#endif
            if
            :: was ->
                was = 0;
                atomic {
                    alive;
                    if
                    :: hasNotStarted ->
                        unfinished++; was = 1;
                        if
                        :: !cancelled -> ready = 0
                        :: else
                        fi
                    :: else
                    fi };
#if FINDING == 3
                /* Counts even if the entry has gone meanwhile. */
                if
                :: was && listed[own] -> holds[own] = 1; stacked[own] = 1
                :: else
                fi
#else
                if
                :: was -> holds[own] = 1; stacked[own] = 1
                :: else
                fi
#endif
            :: else
            fi;
            lock = 0;
#if FINDING == 3
            was = was && stacked[own];
#endif
            if
            :: was -> was = 0; adopt(own); reconsider(); noteHeld()
            :: else
            fi
        :: else -> mine = 0; was = 0; lock = 0
        fi;
        takeBack()
    fi
}

proctype Depender() {
    LOCALS;
    depend(1);
    release()
}

proctype Remover() {
    LOCALS;
    atomic { mayGo = 1; mustHold = 0 };
    attach();
    i = 0;
    do
    :: i < EDGES ->
        atomic {
            if
            :: listed[i] -> dropFromList(i); was = was || some; some = 0
            :: else
            fi };
        i++
    :: else -> i = 0; break
    od;
    if
    :: was -> atomic { alive; assert(unfinished > 0); unfinished-- }
    :: else
    fi;
    lock = 0;
    if
    :: was -> was = 0; reconsider()
    :: else
    fi;
    takeBack();
#if REMOVE == 2
    depend(2);
#endif
    release()
}

proctype Canceller() {
    LOCALS;
    atomic { mayGo = 1; mustHold = 0 };
    atomic {
        alive;
        if
        :: phase < ENDED && !saysFinished -> cancelled = 1; mine = 1
        :: else
        fi };
    if
    :: mine -> mine = 0; reconsider()
    :: else
    fi;
    release()
}

proctype ReadyAnnouncer() {
    LOCALS;
    condition = 1;
    reconsider();
#if UNREADY == 2
    condition = 0;
    reconsider();
#endif
    release()
}

proctype FinishAnnouncer() {
    LOCALS;
    saysFinished = 1;
    finishIfFinished();
    release()
}

/* No process moves any more. */
proctype Rest() {
    byte n;
    timeout ->
    assert(!lock && !queueLock && !inbox && !evaluating && !inInbox);
    do
    :: n < EDGES ->
        /* Each edge has an owner, or is freed. A finished dependency owns no edge that it has closed. */
        assert(!used[n] || gone[n] == (!listed[n] && !stacked[n]));
        assert(!depFinishing || !holds[n]);
        assert(!depClosed || !stacked[n]);
        n++
    :: else -> break
    od;
    if
    :: phase == FINISHED ->
        assert(finishes == 1 && references == 0 && freed);
        assert(ran || cancelled || saysFinished);
        assert(!queued || member == GONE)
    :: else ->
        /* It waits, as its last answer says, and the queue knows. */
        assert(phase == ENQUEUED && member == WAITS && !ready && !condition && !saysFinished);
        assert(unfinished == 0 && references == 1 && !freed)
    fi
}

init {
    atomic {
        references = 1;
#if EDGE == 1
        used[0] = 1; holds[0] = 1; listed[0] = 1; stacked[0] = 1; inStack[0] = 1;
#endif
        run Adder(); run Worker();
#if EDGE != 0
        run Dependency();
#endif
#if EDGE == 2
        references++; run Depender();
#endif
#if REMOVE != 0
        references++; run Remover();
#endif
#ifdef CANCEL
        references++; run Canceller();
#endif
#if UNREADY != 0
        references++; run ReadyAnnouncer();
#endif
#ifdef FINISH
        references++; run FinishAnnouncer();
#endif
        run Rest()
    }
}
