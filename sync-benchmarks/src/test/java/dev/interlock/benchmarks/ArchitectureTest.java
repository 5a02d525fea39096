package dev.interlock.benchmarks;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The house rules on packages, which the test of the library doesn't see here. */
@AnalyzeClasses(
        packages = "dev.interlock.benchmarks",
        importOptions = {ImportOption.DoNotIncludeTests.class, ArchitectureTest.DoNotIncludeGenerated.class})
class ArchitectureTest {

    private static final String PROGRAMS = "dev.interlock.benchmarks";
    private static final int MOST_CLASSES_IN_A_PACKAGE = 15;

    @ArchTest
    static final ArchRule packages_have_no_cycles =
            slices().matching(PROGRAMS + ".(*)..").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule nobody_depends_on_the_programs = noClasses()
            .that()
            .resideOutsideOfPackage(PROGRAMS)
            .should()
            .dependOnClassesThat()
            .resideInAPackage(PROGRAMS);

    @ArchTest
    static void a_package_fits_one_head(JavaClasses main) {
        Map<String, List<String>> packages = main.stream()
                .filter(type -> type.isTopLevelClass()
                        && !type.isArray()
                        && !type.getSimpleName().equals("package-info"))
                .collect(Collectors.groupingBy(
                        JavaClass::getPackageName,
                        TreeMap::new,
                        Collectors.mapping(JavaClass::getSimpleName, Collectors.toList())));
        assertThat(packages)
                .containsKeys(PROGRAMS, PROGRAMS + ".play")
                .allSatisfy((name, types) -> assertThat(types)
                        .as("top-level classes of %s", name)
                        .hasSizeLessThanOrEqualTo(MOST_CLASSES_IN_A_PACKAGE));
    }

    /** What JMH makes of its benchmarks. */
    static final class DoNotIncludeGenerated implements ImportOption {

        @Override
        public boolean includes(Location location) {
            return !location.contains("/jmh_generated/");
        }
    }
}
