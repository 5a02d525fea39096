/**
 * {@code java.util.concurrent} across JVMs. Start at {@link dev.interlock.Interlock}.
 *
 * <p>On the module path an application that uses Spring or Micrometer requires their modules itself.
 */
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
module dev.interlock {
    requires com.google.common;
    requires io.netty.buffer;
    requires jdk.jfr;
    requires org.jspecify;
    requires org.slf4j;
    requires transitive redisson;

    // Redisson is an automatic module, which can't say what it requires.
    requires io.netty.resolver.dns;
    requires io.reactivex.rxjava3;
    requires net.bytebuddy;
    requires org.yaml.snakeyaml;
    requires static com.fasterxml.jackson.annotation;
    requires static com.google.errorprone.annotations;
    requires static info.picocli;
    requires static micrometer.core;
    requires static net.javacrumbs.shedlock.core;
    requires static org.reactivestreams;
    requires static reactor.core;
    requires static spring.aop;
    requires static spring.beans;
    requires static spring.boot;
    requires static spring.boot.actuator;
    requires static spring.boot.actuator.autoconfigure;
    requires static spring.boot.autoconfigure;
    requires static spring.boot.health;
    requires static spring.context;
    requires static spring.core;
    requires static spring.expression;
    requires static spring.integration.core;
    requires static spring.tx;
    requires static spring.web;
    requires static tools.jackson.core;
    requires static tools.jackson.databind;

    exports dev.interlock;
    exports dev.interlock.election;
    exports dev.interlock.micrometer;
    exports dev.interlock.ops;
    exports dev.interlock.ratelimit;
    exports dev.interlock.spring;
    exports dev.interlock.spring.boot;

    opens dev.interlock.cli to
            info.picocli;
    opens dev.interlock.spring;
    opens dev.interlock.spring.boot;
}
