package dev.interlock.benchmarks.servers;

import com.google.common.base.Joiner;
import com.google.common.base.Splitter;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Where the services of a run are.
 *
 * @param known the addresses of those that are there, as the clients of each take them
 */
public record Addresses(Map<Service, String> known) {

    public Addresses {
        known = Map.copyOf(known);
    }

    /** Nothing but Redis. */
    public static Addresses ofRedis(String url) {
        return new Addresses(Map.of(Service.REDIS, url));
    }

    /** The inverse of {@link #line}. */
    public static Addresses parse(String line) {
        var known = new LinkedHashMap<Service, String>();
        for (String word : Splitter.on(' ').omitEmptyStrings().split(line)) {
            int equals = word.indexOf('=');
            known.put(Service.valueOf(word.substring(0, equals)), word.substring(equals + 1));
        }
        return new Addresses(known);
    }

    /** As text for a child JVM; no address has a space in it. */
    public String line() {
        return Joiner.on(' ').withKeyValueSeparator('=').join(known);
    }

    /** The same, but for one, such as a proxy. */
    public Addresses with(Service service, String address) {
        var changed = new LinkedHashMap<>(known);
        changed.put(service, address);
        return new Addresses(changed);
    }

    /**
     * The address of a service, empty for none.
     *
     * @throws IllegalStateException if it isn't known
     */
    public String of(Service service) {
        String address = service == Service.NONE ? "" : known.get(service);
        if (address == null) {
            throw new IllegalStateException("No " + service + " in " + known.keySet());
        }
        return address;
    }
}
