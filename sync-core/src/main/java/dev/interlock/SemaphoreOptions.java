package dev.interlock;

/**
 * Options of a semaphore.
 *
 * @see Interlock#semaphore(String, int, SemaphoreOptions)
 */
public final class SemaphoreOptions {
    static final SemaphoreOptions PLAIN = new SemaphoreOptions(false, true);
    private static final SemaphoreOptions FAIR = new SemaphoreOptions(true, true);
    private static final SemaphoreOptions UNOWNED = new SemaphoreOptions(false, false);
    private static final SemaphoreOptions FAIR_UNOWNED = new SemaphoreOptions(true, false);

    private final boolean fair;
    private final boolean owned;

    private SemaphoreOptions(boolean fair, boolean owned) {
        this.fair = fair;
        this.owned = owned;
    }

    /**
     * The threads of a JVM get permits in order of arrival there, and the JVM keeps none for its next thread while
     * another JVM waits. Other sessions may use the same semaphore without this option.
     *
     * @return the options
     */
    public static SemaphoreOptions fair() {
        return FAIR;
    }

    /**
     * Permits belong to no session, as in the JDK: any thread of any JVM may release them, and those of a JVM that has
     * died don't return. For signals between JVMs. All sessions have to agree on this option of a semaphore.
     *
     * @return the options
     */
    public static SemaphoreOptions unowned() {
        return UNOWNED;
    }

    /**
     * Both {@link #fair} and {@link #unowned}.
     *
     * @return the options
     */
    public static SemaphoreOptions fairAndUnowned() {
        return FAIR_UNOWNED;
    }

    boolean isFair() {
        return fair;
    }

    boolean isOwned() {
        return owned;
    }

    @Override
    public String toString() {
        return (fair ? "a fair" : "a plain") + " semaphore whose permits belong to " + (owned ? "sessions" : "nobody");
    }
}
