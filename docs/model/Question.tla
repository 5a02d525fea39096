------------------------------ MODULE Question ------------------------------
(***************************************************************************)
(* Whether an untimed tryLock() is exact although sessions keep names that *)
(* none of their threads uses, and don't wait for their releases: what     *)
(* lua/lock/{acquire,release,answer}.lua do, what an owner answers that is *)
(* asked whether a thread is inside (ScriptLock, ReliableRelease), and     *)
(* what the asking session makes of it (IdleQuestion).                     *)
(* README.md says in plain words what is modelled, and what isn't.         *)
(*                                                                         *)
(* There is no time and no lease: Tenure.tla has these. A tenure lasts     *)
(* until Redis has ended it, so a session may hear of a grant at any later *)
(* moment. It hears of a refusal at once: the later it heard, the more     *)
(* could have happened that justifies it.                                  *)
(*                                                                         *)
(* What is never delivered is lost. Commands, questions and answers come   *)
(* in any order; answers come any number of times.                         *)
(***************************************************************************)
EXTENDS Integers, Sequences

CONSTANTS
    Sessions,       \* 1..k
    Requests,       \* how many requests the first session makes
    OtherRequests   \* ... and how many any other one makes, at most as many

\* The rules. Each of them, taken away alone, breaks TryIsExact.
CONSTANTS
    AsksOwner,              \* a request that is refused has the owner asked ...
    AsksBehindOthers,       \* ... even if others queue, whose cancels may be under way ...
    AsksNewOwner,           \* ... even if the owner has become that by this very request ...
    AsksItself,             \* ... even if that is the session itself, by an earlier request
    AnswerConfirmed,        \* "not inside" is answered once the release is executed, not when it is sent
    AnswerMatchesRequest    \* an answer counts for the request that it was asked for

CONSTANTS
    EndsEarlier,            \* whether a request ends the earlier tenure of its session, whose release it may have overtaken
    DropsCancelled          \* ... and removes its earlier ticket, whose cancel it may have overtaken; as plain locks do

VARIABLES
    \* Redis
    owner,      \* <<session, sequence>>, or Nobody
    queue,      \* tickets <<session, sequence>>, first come first
    mark,       \* of each session, the highest sequence that has come or is over
    \* sessions
    state,      \* "out", "trying", "asking", "refused", "waiting", "inside", "keeping" while no thread is inside
    current,    \* the sequence of the last request
    told,       \* of an attempt: the owner that has said last that it has given the name up, or Nobody
    \* the network
    requests,   \* by session and sequence: "none", or what is under way: "try", "lock"
    releases,   \* by session and sequence: "none", "sent", or "done" once Redis has executed it
    questions,  \* by session and sequence of its request: the owner that is asked, or Nobody
    answers,    \* by session and sequence of its request: "none", "inside" or "gone"
    \* history
    met         \* of an attempt: whether another session has been inside or has wanted the name since it began

vars == <<owner, queue, mark, state, current, told, requests, releases, questions, answers, met>>

Nobody == <<0, 0>>
Numbers == 1..Requests
Tickets == Sessions \X Numbers
Max(a, b) == IF a > b THEN a ELSE b

IsAttempting(s) == state[s] \in {"trying", "asking"}
HasTenure(s) == state[s] \in {"inside", "keeping"}
IsIdle(s) == state[s] \in {"out", "refused"}

TypeOK ==
    /\ owner \in {Nobody} \union Tickets
    /\ \A i \in 1..Len(queue) : queue[i] \in Tickets
    /\ mark \in [Sessions -> 0..Requests]
    /\ state \in [Sessions -> {"out", "trying", "asking", "refused", "waiting", "inside", "keeping"}]
    /\ current \in [Sessions -> 0..Requests]
    /\ told \in [Sessions -> {Nobody} \union Tickets]
    /\ requests \in [Sessions -> [Numbers -> {"none", "try", "lock"}]]
    /\ releases \in [Sessions -> [Numbers -> {"none", "sent", "done"}]]
    /\ questions \in [Sessions -> [Numbers -> {Nobody} \union Tickets]]
    /\ answers \in [Sessions -> [Numbers -> {"none", "inside", "gone"}]]
    /\ met \in [Sessions -> BOOLEAN]

Init ==
    /\ owner = Nobody /\ queue = <<>>
    /\ mark = [s \in Sessions |-> 0]
    /\ state = [s \in Sessions |-> "out"]
    /\ current = [s \in Sessions |-> 0]
    /\ told = [s \in Sessions |-> Nobody]
    /\ requests = [s \in Sessions |-> [n \in Numbers |-> "none"]]
    /\ releases = [s \in Sessions |-> [n \in Numbers |-> "none"]]
    /\ questions = [s \in Sessions |-> [n \in Numbers |-> Nobody]]
    /\ answers = [s \in Sessions |-> [n \in Numbers |-> "none"]]
    /\ met = [s \in Sessions |-> FALSE]

-----------------------------------------------------------------------------
(* What sessions do. *)

Send(s, kind) ==
    /\ current[s] < (IF s = 1 THEN Requests ELSE OtherRequests)
    /\ current' = [current EXCEPT ![s] = @ + 1]
    /\ requests' = [requests EXCEPT ![s][current[s] + 1] = kind]

Lock(s) ==
    /\ IsIdle(s)
    /\ Send(s, "lock")
    /\ state' = [state EXCEPT ![s] = "waiting"]
    /\ UNCHANGED <<owner, queue, mark, told, releases, questions, answers>>

\* An attempt begins.
Try(s) ==
    /\ IsIdle(s)
    /\ Send(s, "try")
    /\ state' = [state EXCEPT ![s] = "trying"]
    /\ UNCHANGED <<owner, queue, mark, told, releases, questions, answers>>

\* There is no answer for a while, so the attempt sends another request.
TryAgain(s) ==
    /\ state[s] = "asking"
    /\ Send(s, "try")
    /\ state' = [state EXCEPT ![s] = "trying"]
    /\ UNCHANGED <<owner, queue, mark, told, releases, questions, answers>>

HearAnswer(s, n) ==
    /\ state[s] = "asking"
    /\ n = current[s] \/ ~AnswerMatchesRequest
    /\ \/ /\ answers[s][n] = "inside"
          /\ state' = [state EXCEPT ![s] = "refused"]
          /\ told' = [told EXCEPT ![s] = Nobody]
          /\ UNCHANGED <<current, requests>>
       \/ /\ answers[s][n] = "gone"
          /\ Send(s, "try")
          /\ state' = [state EXCEPT ![s] = "trying"]
          /\ told' = [told EXCEPT ![s] = questions[s][n]]
    /\ UNCHANGED <<owner, queue, mark, releases, questions, answers>>

\* The owner is silent for too long: that is no refusal by its word.
HearNothing(s) ==
    /\ state[s] = "asking"
    /\ state' = [state EXCEPT ![s] = "out"]
    /\ told' = [told EXCEPT ![s] = Nobody]
    /\ UNCHANGED <<owner, queue, mark, current, requests, releases, questions, answers>>

\* A grant is heard of, by the reply to the request or by a message.
Enter(s) ==
    /\ state[s] \in {"trying", "waiting"} /\ owner = <<s, current[s]>>
    /\ state' = [state EXCEPT ![s] = "inside"]
    /\ told' = [told EXCEPT ![s] = Nobody]
    /\ UNCHANGED <<owner, queue, mark, current, requests, releases, questions, answers>>

\* Nobody waits for what becomes of the last request any more: it is cancelled.
Withdraw(s) ==
    /\ state[s] \in {"trying", "waiting"}
    /\ state' = [state EXCEPT ![s] = "out"]
    /\ told' = [told EXCEPT ![s] = Nobody]
    /\ releases' = [releases EXCEPT ![s][current[s]] = "sent"]
    /\ UNCHANGED <<owner, queue, mark, current, requests, questions, answers>>

\* The last thread has left. The name is kept, or given up next.
Leave(s) ==
    /\ state[s] = "inside"
    /\ state' = [state EXCEPT ![s] = "keeping"]
    /\ UNCHANGED <<owner, queue, mark, current, told, requests, releases, questions, answers>>

EnterAgain(s) ==
    /\ state[s] = "keeping"
    /\ state' = [state EXCEPT ![s] = "inside"]
    /\ UNCHANGED <<owner, queue, mark, current, told, requests, releases, questions, answers>>

\* By the thread that leaves, by a timer, or because another session waits or asks: none of them waits for the release.
GiveUp(s) ==
    /\ state[s] = "keeping"
    /\ state' = [state EXCEPT ![s] = "out"]
    /\ releases' = [releases EXCEPT ![s][current[s]] = "sent"]
    /\ UNCHANGED <<owner, queue, mark, current, told, requests, questions, answers>>

\* An owner is asked. If it keeps the name for nobody, it gives it up before it answers.
Answer(s, asker, n) ==
    /\ questions[asker][n][1] = s /\ answers[asker][n] = "none"
    /\ LET asked == questions[asker][n][2]
           isCurrent == current[s] = asked /\ (HasTenure(s) \/ state[s] \in {"waiting", "trying"})
       IN \/ /\ isCurrent /\ state[s] # "keeping"
             /\ answers' = [answers EXCEPT ![asker][n] = "inside"]
          \/ /\ ~isCurrent
             /\ releases[s][asked] # "sent" \/ ~AnswerConfirmed
             /\ answers' = [answers EXCEPT ![asker][n] = "gone"]
    /\ UNCHANGED <<owner, queue, mark, state, current, told, requests, releases, questions>>

-----------------------------------------------------------------------------
(* What Redis does: each script is one step. *)

Remove(line, dropped(_)) == SelectSeq(line, LAMBDA ticket : ~dropped(ticket))

\* Nobody owns the name: it goes to the first ticket, or to nobody.
HandOver(line) ==
    /\ owner' = IF line = <<>> THEN Nobody ELSE Head(line)
    /\ queue' = IF line = <<>> THEN <<>> ELSE Tail(line)

\* acquire.lua, and take.lua before it. A refusal matters only to an attempt that goes on.
ServeTry(s, n) ==
    /\ requests[s][n] = "try"
    /\ requests' = [requests EXCEPT ![s][n] = "none"]
    /\ mark' = [mark EXCEPT ![s] = Max(@, n)]
    /\ LET isOver == n <= mark[s]
           isOwn == owner[1] = s /\ owner[2] < n
           isFree == owner = Nobody \/ (isOwn /\ EndsEarlier)
           line == IF isOver THEN queue
                   ELSE Remove(queue, LAMBDA ticket : DropsCancelled /\ ticket[1] = s /\ ticket[2] < n)
           isAwaited == state[s] = "trying" /\ current[s] = n
           isGranted == isFree /\ line = <<>>
           next == IF isFree /\ line # <<>> THEN Head(line) ELSE owner
           \* An owner that said it had given up, and still owns the name, says so until the attempt is over.
           isAsked == /\ AsksOwner /\ next # told[s]
                      /\ AsksBehindOthers \/ isFree \/ line = <<>>
                      /\ AsksNewOwner \/ ~isFree
                      /\ AsksItself \/ next[1] # s
       IN IF isOver
          THEN UNCHANGED <<owner, queue, state, told, questions>>
          ELSE /\ IF isGranted THEN owner' = <<s, n>> /\ queue' = <<>>
                  ELSE IF isFree THEN HandOver(line)
                  ELSE owner' = owner /\ queue' = line
               /\ IF isAwaited /\ ~isGranted
                  THEN /\ state' = [state EXCEPT ![s] = IF isAsked THEN "asking" ELSE "refused"]
                       /\ told' = [told EXCEPT ![s] = IF isAsked THEN @ ELSE Nobody]
                       /\ questions' = IF isAsked THEN [questions EXCEPT ![s][n] = next] ELSE questions
                  ELSE UNCHANGED <<state, told, questions>>
    /\ UNCHANGED <<current, releases, answers>>

ServeLock(s, n) ==
    /\ requests[s][n] = "lock"
    /\ requests' = [requests EXCEPT ![s][n] = "none"]
    /\ mark' = [mark EXCEPT ![s] = Max(@, n)]
    /\ LET isOwn == owner[1] = s /\ owner[2] < n
           others == Remove(queue, LAMBDA ticket : DropsCancelled /\ ticket[1] = s /\ ticket[2] < n)
           line == Append(others, <<s, n>>)
       IN IF n <= mark[s] THEN UNCHANGED <<owner, queue>>
          ELSE IF owner = Nobody \/ (isOwn /\ EndsEarlier) THEN HandOver(line)
          ELSE owner' = owner /\ queue' = line
    /\ UNCHANGED <<state, current, told, releases, questions, answers>>

\* release.lua and drop.lua.
ServeRelease(s, n) ==
    /\ releases[s][n] = "sent"
    /\ releases' = [releases EXCEPT ![s][n] = "done"]
    /\ mark' = [mark EXCEPT ![s] = Max(@, n)]
    /\ LET line == Remove(queue, LAMBDA ticket : ticket = <<s, n>>)
       IN IF owner = <<s, n>> THEN HandOver(line) ELSE owner' = owner /\ queue' = line
    /\ UNCHANGED <<state, current, told, requests, questions, answers>>

-----------------------------------------------------------------------------

\* Whether another session is inside or wants the name: it waits, or was granted an attempt.
HasOthers(s) ==
    \E t \in Sessions \ {s} :
        \/ state[t] \in {"inside", "waiting"}
        \/ state[t] = "trying" /\ owner = <<t, current[t]>>

Remember ==
    met' = [s \in Sessions |->
        IF IsAttempting(s)' THEN (IsAttempting(s) /\ met[s]) \/ HasOthers(s)'
        ELSE state'[s] = "refused" /\ met[s]]

Next ==
    /\ \E s \in Sessions :
        \/ Lock(s) \/ Try(s) \/ TryAgain(s) \/ HearNothing(s)
        \/ Enter(s) \/ Withdraw(s) \/ Leave(s) \/ EnterAgain(s) \/ GiveUp(s)
        \/ \E n \in Numbers :
            \/ HearAnswer(s, n)
            \/ ServeTry(s, n) \/ ServeLock(s, n) \/ ServeRelease(s, n)
            \/ \E asker \in Sessions : Answer(s, asker, n)
    /\ Remember

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* What must hold. *)

\* Two sessions are never inside.
MutualExclusion == \A s, t \in Sessions : s # t => ~(state[s] = "inside" /\ state[t] = "inside")

\* What all of this rests on: who is inside or keeps the name owns it.
TenureIsOwned == \A s \in Sessions : HasTenure(s) => owner = <<s, current[s]>>

\* A release that Redis has executed leaves nothing behind.
OwnerKnows == \A s \in Sessions, n \in Numbers :
    releases[s][n] = "done" => owner # <<s, n>> /\ \A i \in 1..Len(queue) : queue[i] # <<s, n>>

\* An attempt that is refused, otherwise than by silence, has met another session that was inside or wanted the name.
TryIsExact == \A s \in Sessions : state[s] = "refused" => met[s]

-----------------------------------------------------------------------------

(* States that differ only in what makes no difference any more are taken for one. *)

View ==
    LET isOpen(s, n) == ~AnswerMatchesRequest \/ (n = current[s] /\ state[s] = "asking")
        isOver(s, n) == n <= mark[s]
    IN <<owner, queue, mark, state, current, told, releases, met,
         [s \in Sessions |-> [n \in Numbers |-> <<
            IF isOver(s, n) THEN "none" ELSE requests[s][n],
            IF isOpen(s, n) THEN questions[s][n] ELSE Nobody,
            IF isOpen(s, n) THEN answers[s][n] ELSE "none">>]]>>
=============================================================================
