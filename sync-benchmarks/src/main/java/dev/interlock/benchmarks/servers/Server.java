package dev.interlock.benchmarks.servers;

import java.util.Map;

/** A server that is there, ours or not. */
interface Server extends AutoCloseable {

    /** Where its clients find it. */
    String address();

    /** Its name and version, as it says itself. */
    Map.Entry<String, String> version();

    /** Ends it, if it was started for this run. */
    @Override
    void close();

    /**
     * A server.
     *
     * @param address where its clients find it
     * @param version its name and version, as it says itself
     * @param end ends it, if it was started for this run
     */
    record Running(String address, Map.Entry<String, String> version, Runnable end) implements Server {

        @Override
        public void close() {
            end.run();
        }
    }
}
