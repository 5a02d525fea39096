package dev.interlock.benchmarks.servers;

/** What a contestant may depend on. */
public enum Service {
    /** Nothing outside the JVM. */
    NONE,
    REDIS,
    ZOOKEEPER,
    HAZELCAST,
    POSTGRES,
    ETCD
}
