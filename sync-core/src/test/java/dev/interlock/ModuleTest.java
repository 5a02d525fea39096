package dev.interlock;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleDescriptor.Exports;
import java.lang.module.ModuleFinder;
import java.net.URISyntaxException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The module has all packages that are API, for everybody, and no others. */
class ModuleTest {
    private static final String NOT_API = "dev\\.interlock\\.(internal|cli|lua)(\\..*)?";

    @Test
    void exportsWhatIsApi() throws URISyntaxException {
        Path classes = Path.of(Interlock.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        ModuleDescriptor module =
                ModuleFinder.of(classes).find("dev.interlock").orElseThrow().descriptor();

        assertThat(module.exports()).noneMatch(Exports::isQualified);
        assertThat(module.exports().stream().map(Exports::source))
                .containsExactlyInAnyOrderElementsOf(module.packages().stream()
                        .filter(name -> !name.matches(NOT_API))
                        .toList());
    }
}
