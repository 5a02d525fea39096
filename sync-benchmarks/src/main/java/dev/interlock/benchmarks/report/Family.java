package dev.interlock.benchmarks.report;

/** Scenarios that are told together, with the reason why somebody else may be ahead there. */
public enum Family {
    UNCONTENDED(
            "Uncontended",
            "lock/unlock pairs",
            "a name that JVMs take in turn costs each of them round trips, and ours does more on the way than a lock"
                    + " that neither counts fencing tokens nor asks the owner whether it is inside"),
    THREADS(
            "Throughput over threads of one JVM",
            "sections",
            "between threads of one JVM a lock that lives in that JVM needs no lease, no renewal and no slice to end"),
    JVMS(
            "Throughput over JVMs",
            "sections",
            "a session that has to give the name away pays for a round trip and a thread to wake, and waits out the"
                    + " slice of the other"),
    LONE(
            "One thread per JVM",
            "sections",
            "a session whose only thread is slow to come back has to give the name away after each section, and then"
                    + " every section costs a hand-off between JVMs"),
    HAND_OFFS(
            "Hand-offs between two JVMs",
            "hand-offs",
            "a hand-off is a release, a message and a thread that has to be woken; a bare message is less than that,"
                    + " and who polls often enough needs no message"),
    SECTIONS(
            "Length of the critical section",
            "sections",
            "a local hand-off of ours also looks at the lease and at the slice, which a lock of the JVM doesn't have"),
    DELAY(
            "Network delay",
            "sections",
            "what waits for the network waits as long as any other; the rest is what ours sends more of"),
    CONTENDED(
            "Contention between JVMs",
            "sections",
            "a session that has to give the name away pays for a round trip and a thread to wake"),
    OBSERVED(
            "Watched, recorded and metered",
            "sections",
            "a session that an operator asks looks through what it has; a recording makes two events of each"
                    + " acquisition, though most are too short to be kept; meters add up what each acquisition took"),
    FAIR(
            "Fair locks",
            "sections",
            "strict order needs a place in a queue in Redis for every acquisition, which a lock without it doesn't pay"
                    + " for"),
    TURNS(
            "Conditions, latches and barriers",
            "turns",
            "a turn is a command and a message, but more threads have to be woken for it than for a bare message"),
    READERS(
            "Readers and writers",
            "sections",
            "a writer has to wait until the sessions of all readers have given their shares back"),
    SEMAPHORES("Semaphores", "sections", "permits that a session keeps have to be called back when another wants them"),
    RATES(
            "Rate limiters",
            "permits",
            "one permit at a time is one round trip and one script for all of them; ours also keeps the answer, so that"
                    + " a request can be repeated and charged once"),
    HELD(
            "Ten thousand names held",
            "names",
            "every held name is renewed, and has its fencing token and its watch here"),
    WAITING("Many threads waiting", "hand-offs", "all of them are woken one after the other, by one message each"),
    FLEETS(
            "Fleets of two hundred sessions",
            "sections",
            "strict order takes a place in a queue in Redis and a message to one session for every section, which a"
                    + " lock without it doesn't pay for"),
    GROWTH(
            "Growth with those who want one name",
            "sections",
            "strict order takes a place in a queue in Redis and a message to one session for every section, which a"
                    + " lock without it doesn't pay for");

    private final String title;
    private final String operations;
    private final String reason;

    Family(String title, String operations, String reason) {
        this.title = title;
        this.operations = operations;
        this.reason = reason;
    }

    /** The heading. */
    public String title() {
        return title;
    }

    /** What is counted per second. */
    public String operations() {
        return operations;
    }

    /** Why ours may be slower than somebody else. */
    public String reason() {
        return reason;
    }
}
