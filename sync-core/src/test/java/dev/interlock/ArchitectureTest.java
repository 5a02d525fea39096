package dev.interlock;

import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.conditions.ArchConditions.accessField;
import static com.tngtech.archunit.lang.conditions.ArchConditions.callMethodWhere;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.codeUnits;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The house rules that bytecode can show. */
@AnalyzeClasses(packages = "dev.interlock", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String INTERNAL = "dev.interlock.internal..";
    private static final int MOST_CLASSES_IN_A_PACKAGE = 15;

    @ArchTest
    static final ArchRule the_api_exposes_nothing_internal = classes()
            .that()
            .resideOutsideOfPackage(INTERNAL)
            .and(areVisibleToUsers())
            .should(exposeOnlyTypesThat(DescribedPredicate.not(resideInAPackage(INTERNAL))))
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule time_comes_from_redis_or_the_ticker = noClasses()
            .should(callMethodWhere(target(name("currentTimeMillis")).and(target(owner(type(System.class))))))
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule a_library_does_not_print = noClasses()
            .should(accessField(System.class, "out"))
            .orShould(accessField(System.class, "err"))
            .orShould(callMethodWhere(target(name("printStackTrace"))
                    .and(target(owner(DescribedPredicate.describe(
                            "a Throwable", (JavaClass owner) -> owner.isAssignableTo(Throwable.class)))))))
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule exceptions_are_declared_by_their_own_type =
            codeUnits().should(declareNeither(Exception.class, Throwable.class)).allowEmptyShould(true);

    @ArchTest
    static final ArchRule names_say_what_a_class_is = noClasses()
            .should()
            .haveSimpleNameEndingWith("Manager")
            .orShould()
            .haveSimpleNameEndingWith("Helper")
            .orShould()
            .haveSimpleNameEndingWith("Util")
            .orShould()
            .haveSimpleNameEndingWith("Utils")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule logging_is_slf4j_and_its_backend_the_users_choice = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.util.logging..", "ch.qos.logback..", "org.apache.logging..", "org.slf4j.impl..")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule the_jdk_is_used_through_its_api = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("sun..", "com.sun..", "jdk.internal..")
            .allowEmptyShould(true);

    @ArchTest
    static void a_package_fits_one_head(JavaClasses main) {
        Set<String> tooLarge = new TreeSet<>();
        packages(main).forEach(pkg -> {
            List<String> names = pkg.getClasses().stream()
                    .filter(type -> type.isTopLevelClass() && !type.isArray())
                    .map(JavaClass::getSimpleName)
                    .filter(simpleName -> !simpleName.equals("package-info"))
                    .sorted()
                    .toList();
            if (names.size() > MOST_CLASSES_IN_A_PACKAGE) {
                tooLarge.add(pkg.getName() + " has " + names.size() + " top-level classes: " + names);
            }
        });
        assertThat(tooLarge)
                .as("packages of more than %d top-level classes", MOST_CLASSES_IN_A_PACKAGE)
                .isEmpty();
    }

    private static Stream<JavaPackage> packages(JavaClasses classes) {
        return classes.stream().map(JavaClass::getPackage).distinct();
    }

    private static DescribedPredicate<JavaClass> areVisibleToUsers() {
        return DescribedPredicate.describe(
                "are visible to users",
                type -> isVisible(type.getModifiers())
                        && type.getEnclosingClass()
                                .map(outer -> areVisibleToUsers().test(outer))
                                .orElse(true));
    }

    private static boolean isVisible(Set<JavaModifier> modifiers) {
        return modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED);
    }

    private static ArchCondition<JavaClass> exposeOnlyTypesThat(DescribedPredicate<JavaClass> allowed) {
        return new ArchCondition<>("expose only types that " + allowed.getDescription()) {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                Stream<JavaType> supertypes =
                        Stream.concat(type.getSuperclass().stream(), type.getInterfaces().stream());
                report(type.getDescription(), type, supertypes, events);
                type.getMembers().stream()
                        .filter(member -> isVisible(member.getModifiers()))
                        .forEach(member -> report(member.getDescription(), member, signatureOf(member), events));
            }

            private void report(String description, Object culprit, Stream<JavaType> exposed, ConditionEvents events) {
                exposed.map(JavaType::getAllInvolvedRawTypes)
                        .flatMap(Collection::stream)
                        .filter(raw -> !allowed.test(raw))
                        .map(JavaClass::getName)
                        .collect(Collectors.toCollection(TreeSet::new))
                        .forEach(raw ->
                                events.add(SimpleConditionEvent.violated(culprit, description + " exposes " + raw)));
            }
        };
    }

    private static Stream<JavaType> signatureOf(JavaMember member) {
        if (member instanceof JavaCodeUnit unit) {
            return Stream.of(
                            Stream.of(unit.getReturnType()),
                            unit.getParameterTypes().stream(),
                            unit.getExceptionTypes().stream())
                    .flatMap(types -> types);
        }
        return Stream.of(((JavaField) member).getType());
    }

    private static ArchCondition<JavaCodeUnit> declareNeither(Class<?>... tooGeneral) {
        Set<String> names = Stream.of(tooGeneral).map(Class::getName).collect(Collectors.toSet());
        return new ArchCondition<>("declare none of " + names) {
            @Override
            public void check(JavaCodeUnit unit, ConditionEvents events) {
                unit.getExceptionTypes().stream()
                        .map(JavaClass::getName)
                        .filter(names::contains)
                        .forEach(thrown -> events.add(
                                SimpleConditionEvent.violated(unit, unit.getDescription() + " throws " + thrown)));
            }
        };
    }
}
