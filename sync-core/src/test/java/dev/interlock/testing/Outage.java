package dev.interlock.testing;

import java.util.List;

/** The ways in which servers can be gone for a while, or the network before them. */
public enum Outage {
    KILLED {
        @Override
        public void begin(List<RedisServer> servers, List<FaultProxy> proxies) {
            servers.forEach(RedisServer::kill);
        }

        @Override
        public void end(List<RedisServer> servers, List<FaultProxy> proxies) {
            servers.forEach(RedisServer::restart);
        }
    },
    PAUSED {
        @Override
        public void begin(List<RedisServer> servers, List<FaultProxy> proxies) {
            servers.forEach(RedisServer::pause);
        }

        @Override
        public void end(List<RedisServer> servers, List<FaultProxy> proxies) {
            servers.forEach(RedisServer::resume);
        }
    },
    REFUSED {
        @Override
        public void begin(List<RedisServer> servers, List<FaultProxy> proxies) {
            proxies.forEach(proxy -> proxy.refuse(true));
            proxies.forEach(FaultProxy::cut);
        }

        @Override
        public void end(List<RedisServer> servers, List<FaultProxy> proxies) {
            proxies.forEach(FaultProxy::heal);
        }
    },
    STALLED {
        @Override
        public void begin(List<RedisServer> servers, List<FaultProxy> proxies) {
            proxies.forEach(FaultProxy::stall);
        }

        @Override
        public void end(List<RedisServer> servers, List<FaultProxy> proxies) {
            proxies.forEach(FaultProxy::heal);
        }
    };

    /** So that servers that are killed know everything when they are started again. */
    public static List<String> serverArguments() {
        return List.of("--appendonly", "yes", "--appendfsync", "always");
    }

    public abstract void begin(List<RedisServer> servers, List<FaultProxy> proxies);

    public abstract void end(List<RedisServer> servers, List<FaultProxy> proxies);
}
