----------------------------- MODULE Statements -----------------------------
(***************************************************************************)
(* A plain lock whose sessions say in each command all that they want and  *)
(* have, as semaphores, latches and barriers do (StateSync): Redis refuses *)
(* what is older than it has heard, and gives up what isn't mentioned.     *)
(* The lock's own scripts don't work like that; see Tenure.tla. README.md  *)
(* says what the two have in common and which rules each of them needs.    *)
(*                                                                         *)
(* Time, leases, validities and ages are those of Tenure.tla. Of each      *)
(* session some statements are under way, the last ones. The network loses *)
(* them, delivers them in any order and, with Duplicates, again and again. *)
(***************************************************************************)
EXTENDS Integers, Sequences

CONSTANTS
    Sessions,       \* 1..k
    Sequences,      \* how many requests the first session makes
    OtherSequences, \* ... and how many any other one makes, at most as many
    InFlight,       \* how many statements of a session are under way at most
    Lease,          \* the longer of the two leases, in ticks
    Tokens,         \* whether tokens are counted
    Duplicates,     \* whether statements may be delivered again
    Drops,          \* whether Redis may forget tickets, as it does those of sessions that seem to be dead
    HandOffs,       \* whether tenures are renewed, and handed to the next thread of their session
    Mortals         \* sessions that may die at any moment: nothing makes them go on

\* The rules. Each of them, taken away alone, breaks what is checked below.
CONSTANTS
    VersionRefuses,     \* a statement is refused that is older than one which Redis has heard
    SaysAll,            \* what a statement doesn't mention is given up
    NewByNumber,        \* only a request above all that were mentioned before is new
    Causality,          \* a pushed grant is valid since the last statement whose reply said "queued" was sent
    HoldMatchesSession, \* only the owner's statement renews its lease
    ReplyTellsTtl,      \* validity comes from the TTL that is left, not from the lease that was asked for
    WaitersLease,       \* a hand-over is for the lease of the waiter
    EntryChecks,        \* whoever enters checks the validity at that moment
    Pulse,              \* who waits says so again and again
    PollsHandOver       \* whoever says so hands over a name whose lease is over

VARIABLES
    \* Redis
    owner,      \* <<session, sequence>>, or Nobody
    ttl,        \* what is left of the owner's lease
    token,      \* the last one that was drawn
    queue,      \* tickets <<session, sequence>>, first come first
    mark,       \* of each session, the highest sequence that was mentioned
    meant,      \* of each session, what the newest statement mentioned that was heard
    \* sessions
    state,      \* "idle", "waiting", "owning" while no thread is inside, "inside"
    current,    \* the sequence of the last request
    heard,      \* while waiting: age of the last statement whose reply said "queued", at first of the request itself
    valid,      \* while owning or inside: what is left of the validity
    drawn,      \* the token of the last tenure
    \* the network
    said,       \* by session: its last statements, the oldest first, as far as they are under way
    grants,     \* by session and sequence: token of the grant that was published, or None
    answer,     \* by session: reply about the request it waits for, or NoAnswer
    renewed,    \* by session: reply about its tenure: what is left of the lease, Lost, or None
    \* what the lock protects
    fence       \* the last token with which a thread has entered

redis == <<owner, ttl, token, queue, mark, meant>>
vars == <<redis, state, current, heard, valid, drawn, said, grants, answer, renewed, fence>>

None == -1
Lost == -2
Nobody == <<0, 0>>
NoAnswer == [kind |-> "none", n |-> 0, token |-> 0]
Silence == [wants |-> 0, holds |-> 0, age |-> None, isOld |-> FALSE]

Numbers == 1..Sequences
Max(a, b) == IF a > b THEN a ELSE b
Min(a, b) == IF a < b THEN a ELSE b
Left(ticks) == Max(0, ticks)
LeaseOf(s, n) == IF (s + n) % 2 = 0 THEN Lease ELSE Lease - 1
HasTenure(s) == state[s] \in {"owning", "inside"}

TypeOK ==
    /\ owner \in {Nobody} \union (Sessions \X Numbers)
    /\ ttl \in 0..Lease /\ (owner = Nobody <=> ttl = 0)
    /\ \A i \in 1..Len(queue) : queue[i] \in Sessions \X Numbers
    /\ mark \in [Sessions -> 0..Sequences] /\ meant \in [Sessions -> 0..Sequences]
    /\ state \in [Sessions -> {"idle", "waiting", "owning", "inside"}]
    /\ current \in [Sessions -> 0..Sequences]
    /\ heard \in [Sessions -> 0..Lease] /\ valid \in [Sessions -> 0..Lease]
    /\ said \in [Sessions -> [1..InFlight -> [wants : 0..Sequences, holds : 0..Sequences, age : {None} \union 0..Lease, isOld : BOOLEAN]]]
    /\ renewed \in [Sessions -> {None, Lost} \union 0..Lease]

Init ==
    /\ owner = Nobody /\ ttl = 0 /\ token = 0 /\ queue = <<>>
    /\ mark = [s \in Sessions |-> 0] /\ meant = [s \in Sessions |-> 0]
    /\ state = [s \in Sessions |-> "idle"] /\ current = [s \in Sessions |-> 0]
    /\ heard = [s \in Sessions |-> 0] /\ valid = [s \in Sessions |-> 0] /\ drawn = [s \in Sessions |-> 0]
    /\ said = [s \in Sessions |-> [i \in 1..InFlight |-> Silence]]
    /\ grants = [s \in Sessions |-> [n \in Numbers |-> None]]
    /\ answer = [s \in Sessions |-> NoAnswer] /\ renewed = [s \in Sessions |-> None]
    /\ fence = 0

-----------------------------------------------------------------------------
(* What sessions do. *)

\* What a session says when it is in that state: all that it wants and has.
Statement(st, n, left) ==
    [wants |-> IF st = "waiting" THEN n ELSE 0,
     holds |-> IF st \in {"owning", "inside"} /\ left > 0 THEN n ELSE 0,
     age |-> 0, isOld |-> FALSE]

\* Those under way move up; the oldest one is lost at the latest then.
Send(s, statement) ==
    said' = [said EXCEPT ![s] = [i \in 1..InFlight |->
        IF i = InFlight THEN statement ELSE IF said[s][i + 1].age # None THEN said[s][i + 1] ELSE said[s][i]]]

Ask(s) ==
    /\ state[s] = "idle" /\ current[s] < (IF s = 1 THEN Sequences ELSE OtherSequences)
    /\ current' = [current EXCEPT ![s] = @ + 1]
    /\ state' = [state EXCEPT ![s] = "waiting"]
    /\ heard' = [heard EXCEPT ![s] = 0]
    /\ Send(s, Statement("waiting", current[s] + 1, 0))
    /\ UNCHANGED <<redis, valid, drawn, grants, answer, renewed, fence>>

\* Says once more how things stand: for a poll, a renewal, or what has not been confirmed.
Say(s) ==
    /\ state[s] = "waiting" => Pulse
    /\ HasTenure(s) => HandOffs
    /\ Send(s, Statement(state[s], current[s], valid[s]))
    /\ UNCHANGED <<redis, state, current, heard, valid, drawn, grants, answer, renewed, fence>>

Answered(s) ==
    /\ heard' = [heard EXCEPT ![s] = 0]
    /\ answer' = [answer EXCEPT ![s] = NoAnswer]

HearAnswer(s) ==
    /\ state[s] = "waiting"
    /\ \/ /\ answer[s].kind = "granted"
          /\ state' = [state EXCEPT ![s] = "owning"]
          /\ valid' = [valid EXCEPT ![s] = answer[s].n]
          /\ drawn' = [drawn EXCEPT ![s] = answer[s].token]
          /\ Answered(s)
       \/ /\ answer[s].kind = "queued"
          /\ heard' = [heard EXCEPT ![s] = Min(@, answer[s].n)]
          /\ answer' = [answer EXCEPT ![s] = NoAnswer]
          /\ UNCHANGED <<state, valid, drawn>>
       \/ /\ answer[s].kind = "over"
          /\ state' = [state EXCEPT ![s] = "idle"]
          /\ Answered(s)
          /\ UNCHANGED <<valid, drawn>>
    /\ UNCHANGED <<redis, current, said, grants, renewed, fence>>

HearGrant(s, n) ==
    /\ state[s] = "waiting"
    /\ grants[s][n] # None
    /\ n = current[s]
    /\ LET left == Left(LeaseOf(s, current[s]) - (IF Causality THEN heard[s] ELSE 0))
       IN IF left > 0 /\ (~Tokens \/ grants[s][n] > drawn[s])
          THEN /\ state' = [state EXCEPT ![s] = "owning"]
               /\ valid' = [valid EXCEPT ![s] = left]
               /\ drawn' = [drawn EXCEPT ![s] = grants[s][n]]
               /\ Answered(s)
               /\ UNCHANGED said
          ELSE /\ Send(s, Statement("waiting", current[s], 0))
               /\ UNCHANGED <<state, valid, drawn, heard, answer>>
    /\ UNCHANGED <<redis, current, grants, renewed, fence>>

Enter(s) ==
    /\ state[s] = "owning"
    /\ valid[s] > 0 \/ ~EntryChecks
    /\ state' = [state EXCEPT ![s] = "inside"]
    /\ fence' = drawn[s]
    /\ UNCHANGED <<redis, current, heard, valid, drawn, said, grants, answer, renewed>>

HandOff(s) ==
    /\ HandOffs /\ state[s] = "inside"
    /\ state' = [state EXCEPT ![s] = "owning"]
    /\ UNCHANGED <<redis, current, heard, valid, drawn, said, grants, answer, renewed, fence>>

GiveUp(s) ==
    /\ state[s] # "idle"
    /\ state' = [state EXCEPT ![s] = "idle"]
    /\ valid' = [valid EXCEPT ![s] = 0]
    /\ Answered(s)
    /\ Send(s, Statement("idle", 0, 0))
    /\ renewed' = [renewed EXCEPT ![s] = None]
    /\ UNCHANGED <<redis, current, drawn, grants, fence>>

HearRenewal(s) ==
    /\ HasTenure(s) /\ renewed[s] # None
    /\ valid' = [valid EXCEPT ![s] = IF renewed[s] = Lost \/ @ = 0 THEN 0 ELSE Max(@, renewed[s])]
    /\ renewed' = [renewed EXCEPT ![s] = None]
    /\ UNCHANGED <<redis, state, current, heard, drawn, said, grants, answer, fence>>

-----------------------------------------------------------------------------
(* What Redis does: a statement is one step. *)

Draw == IF Tokens THEN token + 1 ELSE 0
IsIn(line, s, n) == \E i \in 1..Len(line) : line[i] = <<s, n>>

\* tell: refuse an older one; give up; queue; renew; grant the head; answer.
Serve(s, i, isHeard, isKept) ==
    LET st == said[s][i]
        n == Max(st.wants, st.holds)
        isCurrent == isHeard /\ n = current[s]
        tenure == IF owner[1] = s THEN owner[2] ELSE 0
        isLeft == tenure # 0 /\ tenure # n /\ SaysAll
        isFree == owner = Nobody \/ isLeft
        others == SelectSeq(queue, LAMBDA t : t[1] # s \/ t[2] = n \/ ~SaysAll)
        isNew == /\ st.wants # 0 /\ owner # <<s, st.wants>> /\ ~IsIn(queue, s, st.wants)
                 /\ st.wants > mark[s] \/ ~NewByNumber
        line == IF isNew THEN Append(others, <<s, st.wants>>) ELSE others
        grants1 == isFree /\ line # <<>> /\ (PollsHandOver \/ isNew \/ isLeft)
        head == Head(line)
        isHeld == /\ st.holds # 0 /\ ~isFree
                  /\ owner[1] = s \/ ~HoldMatchesSession
                  /\ owner[1] = s => owner[2] = st.holds
        left == IF ReplyTellsTtl THEN ttl' ELSE LeaseOf(s, n)
    IN
    /\ st.age # None
    /\ said' = [said EXCEPT ![s] = [k \in 1..InFlight |->
            IF k = i THEN (IF isKept THEN st ELSE Silence)
            ELSE IF k < i /\ said[s][k].age # None THEN [said[s][k] EXCEPT !.isOld = TRUE] ELSE said[s][k]]]
    /\ IF st.isOld /\ VersionRefuses
       THEN UNCHANGED <<redis, grants, answer, renewed>>
       ELSE /\ mark' = [mark EXCEPT ![s] = Max(@, n)]
            /\ meant' = IF st.isOld THEN meant ELSE [meant EXCEPT ![s] = n]
            /\ IF grants1
               THEN /\ owner' = head
                    /\ ttl' = IF WaitersLease THEN LeaseOf(head[1], head[2]) ELSE Lease
                    /\ token' = Draw
                    /\ queue' = Tail(line)
                    /\ grants' = IF head[1] = s THEN grants ELSE [grants EXCEPT ![head[1]][head[2]] = Draw]
               ELSE /\ owner' = IF isFree THEN Nobody ELSE owner
                    /\ ttl' = IF isFree THEN 0 ELSE IF isHeld THEN LeaseOf(s, st.holds) ELSE ttl
                    /\ queue' = line
                    /\ UNCHANGED <<token, grants>>
            /\ answer' = IF isCurrent /\ st.wants # 0 /\ state[s] = "waiting"
                 THEN [answer EXCEPT ![s] =
                    IF owner' = <<s, st.wants>> THEN [kind |-> "granted", n |-> Left(left - st.age), token |-> token']
                    ELSE IF IsIn(queue', s, st.wants) THEN [kind |-> "queued", n |-> st.age, token |-> 0]
                    ELSE [kind |-> "over", n |-> 0, token |-> 0]]
                 ELSE answer
            /\ renewed' = IF isCurrent /\ st.holds # 0 /\ HasTenure(s)
                 THEN [renewed EXCEPT ![s] = IF isHeld THEN Left(left - st.age) ELSE Lost]
                 ELSE renewed
    /\ UNCHANGED <<state, current, heard, valid, drawn, fence>>

Drop(s, n) ==
    /\ Drops /\ IsIn(queue, s, n)
    /\ queue' = SelectSeq(queue, LAMBDA t : t # <<s, n>>)
    /\ UNCHANGED <<owner, ttl, token, mark, meant, state, current, heard, valid, drawn, said, grants, answer, renewed, fence>>

Tick ==
    /\ ttl' = Left(ttl - 1)
    /\ owner' = IF ttl' = 0 THEN Nobody ELSE owner
    /\ heard' = [s \in Sessions |-> IF state[s] = "waiting" THEN Min(heard[s] + 1, LeaseOf(s, current[s])) ELSE 0]
    /\ valid' = [s \in Sessions |-> Left(valid[s] - 1)]
    /\ said' = [s \in Sessions |-> [i \in 1..InFlight |->
            IF said[s][i].age = None THEN Silence
            ELSE [said[s][i] EXCEPT !.age = Min(@ + 1, Lease)]]]
    /\ answer' = [s \in Sessions |->
            IF answer[s].kind = "granted" THEN [answer[s] EXCEPT !.n = Left(@ - 1)]
            ELSE IF answer[s].kind = "queued" THEN [answer[s] EXCEPT !.n = Min(@ + 1, Lease)]
            ELSE answer[s]]
    /\ renewed' = [s \in Sessions |-> IF renewed[s] > 0 THEN renewed[s] - 1 ELSE renewed[s]]
    /\ UNCHANGED <<token, queue, mark, meant, state, current, drawn, grants, fence>>

Next ==
    \/ Tick
    \/ \E s \in Sessions :
        \/ Ask(s) \/ Say(s) \/ HearAnswer(s) \/ Enter(s) \/ HandOff(s) \/ GiveUp(s) \/ HearRenewal(s)
        \/ \E n \in Numbers : HearGrant(s, n) \/ Drop(s, n)
        \/ \E i \in 1..InFlight, isHeard \in BOOLEAN, isKept \in {Duplicates} : Serve(s, i, isHeard, isKept)

Spec == Init /\ [][Next]_vars
Fairness ==
    /\ WF_vars(Tick)
    /\ \A s \in Sessions \ Mortals :
        /\ WF_vars(state[s] = "waiting" /\ Say(s))
        /\ WF_vars(HearAnswer(s))
        /\ SF_vars(Serve(s, InFlight, TRUE, FALSE))
FairSpec == Spec /\ Fairness

-----------------------------------------------------------------------------
(* What must hold. *)

\* Two threads are never inside with a validity that isn't over.
MutualExclusion ==
    \A s, t \in Sessions : s # t => ~(state[s] = "inside" /\ valid[s] > 0 /\ state[t] = "inside" /\ valid[t] > 0)

\* Who enters has no smaller token than all who entered before.
TokenOrder == [][fence' >= fence]_vars

\* Nothing is owned or queued in Redis but what the newest statement mentions that it has heard.
OwnerKnows ==
    /\ owner # Nobody => owner[2] = meant[owner[1]]
    /\ \A i \in 1..Len(queue) : queue[i][2] = meant[queue[i][1]]

\* What all of this rests on: a validity ends before the lease does.
ValidityIsOwned ==
    \A s \in Sessions : HasTenure(s) /\ valid[s] > 0 => owner = <<s, current[s]>> /\ valid[s] <= ttl

\* Who waits doesn't do so for ever: it gets the name, or learns that its ticket is over.
Progress == \A s \in Sessions \ Mortals : (state[s] = "waiting" ~> state[s] # "waiting")

-----------------------------------------------------------------------------
(* How much is looked at. *)

FewTokens == token <= 4

(* States that differ only in what makes no difference any more are taken for one. *)

View ==
    LET isOpen(s, n) == n >= current[s] /\ (n = current[s] => state[s] = "waiting")
        isOver(s) == valid[s] = 0
        n(s, i) == Max(said[s][i].wants, said[s][i].holds)
        \* The age of what nobody waits for any more makes no difference, nor does being a statement that is refused.
        isVain(s, i) == \/ n(s, i) # current[s]
                        \/ said[s][i].wants # 0 /\ state[s] # "waiting"
                        \/ said[s][i].holds # 0 /\ (~HasTenure(s) \/ isOver(s))
        shown(s, i) == IF said[s][i].age = None \/ (said[s][i].isOld /\ VersionRefuses) THEN Silence
                       ELSE [said[s][i] EXCEPT !.age = IF isVain(s, i) THEN Lease ELSE Min(@, LeaseOf(s, n(s, i)))]
    IN <<redis, state, current, heard, valid, fence,
         [s \in Sessions |-> <<
            [i \in 1..InFlight |-> shown(s, i)],
            IF state[s] = "idle" THEN 0 ELSE drawn[s],
            IF answer[s].kind = "queued" /\ answer[s].n >= heard[s] THEN NoAnswer ELSE answer[s],
            IF renewed[s] = 0 \/ (renewed[s] > 0 /\ isOver(s)) THEN None ELSE renewed[s]>>],
         [s \in Sessions |-> [k \in Numbers |-> IF isOpen(s, k) THEN grants[s][k] ELSE None]]>>
=============================================================================
