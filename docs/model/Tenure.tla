------------------------------- MODULE Tenure -------------------------------
(***************************************************************************)
(* Who owns a name: tenures, pushed grants and leases of one plain lock,   *)
(* as lua/lock/{take,acquire,release,renew}.lua grant them and the classes *)
(* Ownership and LockTenure of internal.lock.script believe in them.     *)
(* README.md says in plain words what is modelled, and what isn't.         *)
(*                                                                         *)
(* Time goes in ticks, the same for Redis and all sessions. No variable    *)
(* holds a point in time: leases and validities are what is left of them,  *)
(* commands and replies carry their age since the command was first sent,  *)
(* up to Lease, beyond which it makes no difference. A session that is     *)
(* paused is one that takes no step while time goes on.                    *)
(*                                                                         *)
(* The network loses what it never delivers, duplicates what it keeps      *)
(* after delivering it, and reorders freely. Of one command one copy is    *)
(* under way at a time, the older or the newer one; it may be delivered    *)
(* again and again.                                                        *)
(***************************************************************************)
EXTENDS Integers, Sequences

CONSTANTS
    Sessions,       \* 1..k
    Sequences,      \* how many requests the first session makes
    OtherSequences, \* ... and how many any other one makes, at most as many
    Lease,          \* the longer of the two leases, in ticks
    Tokens,         \* whether tokens are counted
    Duplicates,     \* whether commands may be delivered again
    Drops,          \* whether Redis may forget tickets, as it does those of sessions that seem to be dead
    HandOffs,       \* whether tenures are renewed, and handed to the next thread of their session
    Mortals         \* sessions that may die at any moment: nothing makes them go on

\* The rules. Each of them, taken away alone, breaks what is checked below.
CONSTANTS
    Causality,              \* a pushed grant is valid since the last command whose reply said "queued" was sent, not since it came
    GrantMatchesSequence,   \* a grant is for the ticket that it names
    ReleaseMatchesSession,  \* a release or cancel acts on a tenure of its session only ...
    ReleaseMatchesSequence, \* ... and of its sequence only
    RenewMatchesSession,    \* as does a renewal
    RenewMatchesSequence,
    CancelMarks,            \* a cancel leaves a mark even if it finds nothing
    MarkRefuses,            \* a request that isn't above the mark of its session is never granted anew
    ReplyTellsTtl,          \* validity comes from the TTL that is left, not from the lease that was asked for
    WaitersLease,           \* a hand-over is for the lease of the waiter, not that of the releaser
    LossIsFinal,            \* a validity that is over can't be renewed
    EntryChecks,            \* whoever enters checks the validity at that moment
    Pulse,                  \* who waits asks again and again
    PollsHandOver           \* whoever polls hands over a name whose lease is over

VARIABLES
    \* Redis
    owner,      \* <<session, sequence>>, or Nobody
    ttl,        \* what is left of the owner's lease
    token,      \* the last one that was drawn
    queue,      \* tickets <<session, sequence>>, first come first
    mark,       \* of each session, the highest sequence that has queued or is over
    \* sessions
    state,      \* "idle", "waiting", "owning" while no thread is inside, "inside"
    current,    \* the sequence of the last request
    heard,      \* while waiting: age of the last command whose reply said "queued", at first of the request itself
    valid,      \* while owning or inside: what is left of the validity
    drawn,      \* the token of the last tenure
    \* the network
    asks,       \* by session and sequence: age of the acquire under way, or None
    renewals,   \* by session and sequence: age of the renewal under way, or None
    releases,   \* by session and sequence: "none", "sent", or "done" once Redis has seen one, after which more may come
    grants,     \* by session and sequence: token of the grant that was published, or None; may come any number of times
    answer,     \* by session: reply to an acquire of its current sequence, or NoAnswer
    renewed,    \* by session: reply to a renewal of its current sequence: what is left of the lease, Lost, or None
    \* what the lock protects
    fence       \* the last token with which a thread has entered

redis == <<owner, ttl, token, queue, mark>>
vars == <<redis, state, current, heard, valid, drawn, asks, renewals, releases, grants, answer, renewed, fence>>

None == -1
Lost == -2
Nobody == <<0, 0>>
NoAnswer == [kind |-> "none", n |-> 0, token |-> 0]

Numbers == 1..Sequences
Max(a, b) == IF a > b THEN a ELSE b
Min(a, b) == IF a < b THEN a ELSE b
Left(ticks) == Max(0, ticks)

\* Leases of two lengths, so that a session's requests differ from each other and from those of the next session.
LeaseOf(s, n) == IF (s + n) % 2 = 0 THEN Lease ELSE Lease - 1

HasTenure(s) == state[s] \in {"owning", "inside"}
\* A command that is as old as its lease brings no validity, however old it is.
Older(s, n, age) == IF age = None THEN None ELSE Min(age + 1, LeaseOf(s, n))
\* Nor does one whose answer nobody waits for.
Aged(s, n, age) == IF age = None THEN None ELSE LeaseOf(s, n)

TypeOK ==
    /\ owner \in {Nobody} \union (Sessions \X Numbers)
    /\ ttl \in 0..Lease /\ (owner = Nobody <=> ttl = 0)
    /\ token \in Nat /\ fence \in Nat
    /\ \A i \in 1..Len(queue) : queue[i] \in Sessions \X Numbers
    /\ mark \in [Sessions -> 0..Sequences]
    /\ state \in [Sessions -> {"idle", "waiting", "owning", "inside"}]
    /\ current \in [Sessions -> 0..Sequences]
    /\ heard \in [Sessions -> 0..Lease]
    /\ valid \in [Sessions -> 0..Lease]
    /\ drawn \in [Sessions -> Nat]
    /\ asks \in [Sessions -> [Numbers -> {None} \union 0..Lease]]
    /\ renewals \in [Sessions -> [Numbers -> {None} \union 0..Lease]]
    /\ releases \in [Sessions -> [Numbers -> {"none", "sent", "done"}]]
    /\ grants \in [Sessions -> [Numbers -> {None} \union Nat]]
    /\ renewed \in [Sessions -> {None, Lost} \union 0..Lease]

Init ==
    /\ owner = Nobody /\ ttl = 0 /\ token = 0 /\ queue = <<>>
    /\ mark = [s \in Sessions |-> 0]
    /\ state = [s \in Sessions |-> "idle"]
    /\ current = [s \in Sessions |-> 0]
    /\ heard = [s \in Sessions |-> 0]
    /\ valid = [s \in Sessions |-> 0]
    /\ drawn = [s \in Sessions |-> 0]
    /\ asks = [s \in Sessions |-> [n \in Numbers |-> None]]
    /\ renewals = [s \in Sessions |-> [n \in Numbers |-> None]]
    /\ releases = [s \in Sessions |-> [n \in Numbers |-> "none"]]
    /\ grants = [s \in Sessions |-> [n \in Numbers |-> None]]
    /\ answer = [s \in Sessions |-> NoAnswer]
    /\ renewed = [s \in Sessions |-> None]
    /\ fence = 0

-----------------------------------------------------------------------------
(* What sessions do. *)

Ask(s) ==
    /\ state[s] = "idle" /\ current[s] < (IF s = 1 THEN Sequences ELSE OtherSequences)
    /\ current' = [current EXCEPT ![s] = @ + 1]
    /\ state' = [state EXCEPT ![s] = "waiting"]
    /\ heard' = [heard EXCEPT ![s] = 0]
    /\ asks' = [asks EXCEPT ![s][current[s] + 1] = 0]
    /\ UNCHANGED <<redis, valid, drawn, renewals, releases, grants, answer, renewed, fence>>

AskAgain(s) ==
    /\ Pulse
    /\ state[s] = "waiting"
    /\ asks' = [asks EXCEPT ![s][current[s]] = 0]
    /\ UNCHANGED <<redis, state, current, heard, valid, drawn, renewals, releases, grants, answer, renewed, fence>>

\* Nobody waits for an answer any more.
Answered(s) ==
    /\ heard' = [heard EXCEPT ![s] = 0]
    /\ answer' = [answer EXCEPT ![s] = NoAnswer]
    /\ asks' = [asks EXCEPT ![s][current[s]] = Aged(s, current[s], @)]

\* What became of a request, and when that was asked. A reply to a repeat is only as good as the command it belongs to.
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
          /\ UNCHANGED <<state, valid, drawn, asks>>
       \/ /\ answer[s].kind = "over"
          /\ state' = [state EXCEPT ![s] = "idle"]
          /\ Answered(s)
          /\ UNCHANGED <<valid, drawn>>
    /\ UNCHANGED <<redis, current, renewals, releases, grants, renewed, fence>>

\* A grant says nothing of how long it was on its way. If it may have been for too long, Redis is asked first.
HearGrant(s, n) ==
    /\ state[s] = "waiting"
    /\ grants[s][n] # None
    /\ n = current[s] \/ ~GrantMatchesSequence
    /\ LET left == Left(LeaseOf(s, current[s]) - (IF Causality THEN heard[s] ELSE 0))
       IN IF left > 0 /\ (~Tokens \/ grants[s][n] > drawn[s])
          THEN /\ state' = [state EXCEPT ![s] = "owning"]
               /\ valid' = [valid EXCEPT ![s] = left]
               /\ drawn' = [drawn EXCEPT ![s] = grants[s][n]]
               /\ Answered(s)
          ELSE /\ asks' = [asks EXCEPT ![s][current[s]] = 0]
               /\ UNCHANGED <<state, valid, drawn, heard, answer>>
    /\ UNCHANGED <<redis, current, renewals, releases, grants, renewed, fence>>

Enter(s) ==
    /\ state[s] = "owning"
    /\ valid[s] > 0 \/ ~EntryChecks
    /\ state' = [state EXCEPT ![s] = "inside"]
    /\ fence' = drawn[s]
    /\ UNCHANGED <<redis, current, heard, valid, drawn, asks, renewals, releases, grants, answer, renewed>>

\* The tenure goes on for the next thread of the session.
HandOff(s) ==
    /\ HandOffs /\ state[s] = "inside"
    /\ state' = [state EXCEPT ![s] = "owning"]
    /\ UNCHANGED <<redis, current, heard, valid, drawn, asks, renewals, releases, grants, answer, renewed, fence>>

\* A tenure is given up, be it valid or lost, or a ticket is cancelled. Whatever the request has in Redis is released.
GiveUp(s) ==
    /\ state[s] # "idle"
    /\ state' = [state EXCEPT ![s] = "idle"]
    /\ valid' = [valid EXCEPT ![s] = 0]
    /\ Answered(s)
    /\ releases' = [releases EXCEPT ![s][current[s]] = "sent"]
    /\ renewals' = [renewals EXCEPT ![s][current[s]] = Aged(s, current[s], @)]
    /\ renewed' = [renewed EXCEPT ![s] = None]
    /\ UNCHANGED <<redis, current, drawn, grants, fence>>

Renew(s) ==
    /\ HandOffs /\ HasTenure(s) /\ valid[s] > 0
    /\ renewals' = [renewals EXCEPT ![s][current[s]] = 0]
    /\ UNCHANGED <<redis, state, current, heard, valid, drawn, asks, releases, grants, answer, renewed, fence>>

HearRenewal(s) ==
    /\ HasTenure(s) /\ renewed[s] # None
    /\ valid' = [valid EXCEPT ![s] =
            IF renewed[s] = Lost THEN 0
            ELSE IF @ = 0 /\ LossIsFinal THEN 0
            ELSE Max(@, renewed[s])]
    /\ renewed' = [renewed EXCEPT ![s] = None]
    /\ UNCHANGED <<redis, state, current, heard, drawn, asks, renewals, releases, grants, answer, fence>>

-----------------------------------------------------------------------------
(* What Redis does: each script is one step. *)

Draw == IF Tokens THEN token + 1 ELSE 0

Give(who, lease) ==
    /\ owner' = who
    /\ ttl' = lease
    /\ token' = Draw

\* Grants a free name to the first ticket. It is published unless it is the caller's, which learns of it by the reply.
GrantHead(line, lease, caller) ==
    LET head == Head(line)
    IN /\ Give(head, lease)
       /\ queue' = Tail(line)
       /\ grants' = IF head[1] = caller THEN grants ELSE [grants EXCEPT ![head[1]][head[2]] = Draw]

\* The reply to a command is one of those that its session may hear next, or is lost.
Reply(s, n, isHeard, kind, number) ==
    LET isAwaited == isHeard /\ state[s] = "waiting" /\ current[s] = n
    IN answer' = IF isAwaited
                 THEN [answer EXCEPT ![s] = [kind |-> kind, n |-> number, token |-> IF kind = "granted" THEN token' ELSE 0]]
                 ELSE answer

Granted(s, n, isHeard, left) ==
    Reply(s, n, isHeard, "granted", Left((IF ReplyTellsTtl THEN left ELSE LeaseOf(s, n)) - asks[s][n]))

Queued(s, n, isHeard) == Reply(s, n, isHeard, "queued", asks[s][n])

IsQueued(s, n) == \E i \in 1..Len(queue) : queue[i] = <<s, n>>
Without(s, n) == SelectSeq(queue, LAMBDA ticket : ticket # <<s, n>>)

\* take.lua and acquire.lua.
ServeAsk(s, n, isHeard, isKept) ==
    /\ asks[s][n] # None
    /\ asks' = IF isKept THEN asks ELSE [asks EXCEPT ![s][n] = None]
    /\ LET tenure == IF owner[1] = s THEN owner[2] ELSE 0
           isNew == (n > mark[s] /\ n > tenure) \/ (~MarkRefuses /\ ~IsQueued(s, n) /\ n # tenure)
           \* An earlier tenure of the session is ended: its release may be late.
           isFree == owner = Nobody \/ (tenure > 0 /\ tenure < n)
           line == IF isNew THEN Append(queue, <<s, n>>) ELSE queue
       IN IF owner = <<s, n>>
          THEN /\ UNCHANGED <<redis, grants>>
               /\ Granted(s, n, isHeard, ttl)
          ELSE IF owner = Nobody /\ queue = <<>> /\ isNew
          THEN /\ Give(<<s, n>>, LeaseOf(s, n))
               /\ Granted(s, n, isHeard, ttl')
               /\ UNCHANGED <<queue, mark, grants>>
          ELSE IF ~isNew /\ ~IsQueued(s, n)
          THEN /\ Reply(s, n, isHeard, "over", 0)
               /\ UNCHANGED <<redis, grants>>
          ELSE /\ mark' = [mark EXCEPT ![s] = Max(@, n)]
               /\ IF isFree /\ (PollsHandOver \/ isNew)
                  THEN /\ GrantHead(line, LeaseOf(Head(line)[1], Head(line)[2]), s)
                       /\ IF owner' = <<s, n>> THEN Granted(s, n, isHeard, ttl') ELSE Queued(s, n, isHeard)
                  ELSE /\ queue' = line
                       /\ owner' = IF isFree THEN Nobody ELSE owner
                       /\ ttl' = IF isFree THEN 0 ELSE ttl
                       /\ Queued(s, n, isHeard)
                       /\ UNCHANGED <<token, grants>>
    /\ UNCHANGED <<state, current, heard, valid, drawn, renewals, releases, renewed, fence>>

\* release.lua and drop.lua: the release of a tenure and the cancel of a ticket are the same command.
ServeRelease(s, n) ==
    /\ releases[s][n] = "sent" \/ (Duplicates /\ releases[s][n] = "done")
    /\ releases' = [releases EXCEPT ![s][n] = "done"]
    /\ LET isOwned == /\ owner # Nobody
                      /\ owner[1] = s \/ ~ReleaseMatchesSession
                      /\ owner[2] = n \/ ~ReleaseMatchesSequence
           line == Without(s, n)
       IN /\ mark' = IF isOwned \/ IsQueued(s, n) \/ CancelMarks THEN [mark EXCEPT ![s] = Max(@, n)] ELSE mark
          /\ IF isOwned /\ line # <<>>
             THEN GrantHead(line, IF WaitersLease THEN LeaseOf(Head(line)[1], Head(line)[2]) ELSE LeaseOf(s, n), 0)
             ELSE /\ queue' = line
                  /\ owner' = IF isOwned THEN Nobody ELSE owner
                  /\ ttl' = IF isOwned THEN 0 ELSE ttl
                  /\ UNCHANGED <<token, grants>>
    /\ UNCHANGED <<state, current, heard, valid, drawn, asks, renewals, answer, renewed, fence>>

\* renew.lua.
ServeRenewal(s, n, isHeard, isKept) ==
    /\ renewals[s][n] # None
    /\ renewals' = IF isKept THEN renewals ELSE [renewals EXCEPT ![s][n] = None]
    /\ LET isOwned == /\ owner # Nobody
                      /\ owner[1] = s \/ ~RenewMatchesSession
                      /\ owner[2] = n \/ ~RenewMatchesSequence
       IN /\ ttl' = IF isOwned THEN LeaseOf(s, n) ELSE ttl
          /\ renewed' = IF isHeard /\ HasTenure(s) /\ current[s] = n
                        THEN [renewed EXCEPT ![s] = IF isOwned THEN Left(ttl' - renewals[s][n]) ELSE Lost]
                        ELSE renewed
    /\ UNCHANGED <<owner, token, queue, mark, state, current, heard, valid, drawn, asks, releases, grants, answer, fence>>

\* Redis may take a waiting session to be dead, or forget its queue.
Drop(s, n) ==
    /\ Drops /\ IsQueued(s, n)
    /\ queue' = Without(s, n)
    /\ UNCHANGED <<owner, ttl, token, mark, state, current, heard, valid, drawn, asks, renewals, releases, grants, answer, renewed, fence>>

Tick ==
    /\ ttl' = Left(ttl - 1)
    /\ owner' = IF ttl' = 0 THEN Nobody ELSE owner
    /\ heard' = [s \in Sessions |-> IF state[s] = "waiting" THEN Min(heard[s] + 1, LeaseOf(s, current[s])) ELSE 0]
    /\ valid' = [s \in Sessions |-> Left(valid[s] - 1)]
    /\ asks' = [s \in Sessions |-> [n \in Numbers |-> Older(s, n, asks[s][n])]]
    /\ renewals' = [s \in Sessions |-> [n \in Numbers |-> Older(s, n, renewals[s][n])]]
    /\ answer' = [s \in Sessions |->
            IF answer[s].kind = "granted" THEN [answer[s] EXCEPT !.n = Left(@ - 1)]
            ELSE IF answer[s].kind = "queued" THEN [answer[s] EXCEPT !.n = Min(@ + 1, Lease)]
            ELSE answer[s]]
    /\ renewed' = [s \in Sessions |-> IF renewed[s] > 0 THEN renewed[s] - 1 ELSE renewed[s]]
    /\ UNCHANGED <<token, queue, mark, state, current, drawn, releases, grants, fence>>

-----------------------------------------------------------------------------

\* What was delivered and isn't kept is as one that is never delivered again.
Keeps == {Duplicates}

Next ==
    \/ Tick
    \/ \E s \in Sessions :
        \/ Ask(s) \/ AskAgain(s) \/ HearAnswer(s)
        \/ Enter(s) \/ HandOff(s) \/ GiveUp(s)
        \/ Renew(s) \/ HearRenewal(s)
        \/ \E n \in Numbers :
            \/ HearGrant(s, n) \/ ServeRelease(s, n) \/ Drop(s, n)
            \/ \E isHeard \in BOOLEAN, isKept \in Keeps :
                ServeAsk(s, n, isHeard, isKept) \/ ServeRenewal(s, n, isHeard, isKept)

Spec == Init /\ [][Next]_vars

\* Time goes on, sessions that live do what they have to, and of what is sent again and again something gets through. That
\* is not so of messages in the mailbox, nor of releases: a wait mustn't depend on them. Leases end: see HandOffs.
Fairness ==
    /\ WF_vars(Tick)
    /\ \A s \in Sessions \ Mortals :
        /\ WF_vars(AskAgain(s))
        /\ WF_vars(HearAnswer(s))
        /\ \A n \in Numbers : SF_vars(ServeAsk(s, n, TRUE, FALSE))

FairSpec == Spec /\ Fairness

-----------------------------------------------------------------------------
(* What must hold. *)

\* Two threads are never inside with a validity that isn't over.
MutualExclusion ==
    \A s, t \in Sessions : s # t => ~(state[s] = "inside" /\ valid[s] > 0 /\ state[t] = "inside" /\ valid[t] > 0)

\* Who enters has no smaller token than all who entered before: so a store that refuses older tokens serves him, and refuses
\* those whose validity ended while they were inside.
TokenOrder == [][fence' >= fence]_vars

\* Nothing is owned or queued in Redis that its session has given up, once Redis has heard of that.
OwnerKnows ==
    \A s \in Sessions, n \in Numbers :
        releases[s][n] = "done" => owner # <<s, n>> /\ ~IsQueued(s, n)

\* What all of this rests on: a validity ends before the lease does.
ValidityIsOwned ==
    \A s \in Sessions : HasTenure(s) /\ valid[s] > 0 => owner = <<s, current[s]>> /\ valid[s] <= ttl

\* Who waits doesn't do so for ever: it gets the name, or learns that its ticket is over.
Progress ==
    \A s \in Sessions \ Mortals : (state[s] = "waiting" ~> state[s] # "waiting")

-----------------------------------------------------------------------------
(* How much is looked at. *)

\* Late duplicates may be granted again and again.
FewTokens == token <= 4

(* States that differ only in what makes no difference any more are taken for one. *)

View ==
    LET isOpen(s, n) == ~GrantMatchesSequence \/ (n >= current[s] /\ (n = current[s] => state[s] = "waiting"))
        isOver(s) == LossIsFinal /\ valid[s] = 0
    IN <<redis, state, current, heard, valid, asks, releases, fence,
         [s \in Sessions |-> <<
            IF state[s] = "idle" THEN 0 ELSE drawn[s],
            IF answer[s].kind = "queued" /\ answer[s].n >= heard[s] THEN NoAnswer ELSE answer[s],
            IF renewed[s] = 0 \/ (renewed[s] > 0 /\ isOver(s)) THEN None ELSE renewed[s]>>],
         [s \in Sessions |-> [n \in Numbers |-> <<
            IF isOpen(s, n) THEN grants[s][n] ELSE None,
            IF isOver(s) THEN Aged(s, n, renewals[s][n]) ELSE renewals[s][n]>>]]>>
=============================================================================
