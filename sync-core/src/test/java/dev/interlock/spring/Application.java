package dev.interlock.spring;

import dev.interlock.spring.boot.InterlockAutoConfiguration;
import dev.interlock.spring.boot.InterlockIntegrationsAutoConfiguration;
import java.util.Map;
import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** An application with nothing but what the library configures, and the beans of a test. */
@ImportAutoConfiguration({InterlockAutoConfiguration.class, InterlockIntegrationsAutoConfiguration.class})
final class Application {
    private Application() {}

    /** Starts it on a Redis. */
    static ConfigurableApplicationContext start(String redisUrl, Class<?>... beans) {
        return new SpringApplicationBuilder(beans)
                .sources(Application.class)
                .web(WebApplicationType.NONE)
                .bannerMode(Banner.Mode.OFF)
                .logStartupInfo(false)
                .registerShutdownHook(false)
                .properties(Map.of("interlock.uri", redisUrl, "logging.config", "classpath:logback-test.xml"))
                .run();
    }
}
