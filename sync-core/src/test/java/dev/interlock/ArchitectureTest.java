package dev.interlock;

import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.conditions.ArchConditions.accessField;
import static com.tngtech.archunit.lang.conditions.ArchConditions.callMethodWhere;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.codeUnits;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.google.common.util.concurrent.Uninterruptibles;
import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.Architectures.LayeredArchitecture;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import dev.interlock.internal.Suspensions;
import dev.interlock.internal.redis.Settings;
import java.lang.reflect.Executable;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.stream.BaseStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The house rules that bytecode can show. */
@AnalyzeClasses(packages = "dev.interlock", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String INTERNAL = "dev.interlock.internal..";
    private static final String SPRING = "dev.interlock.spring..";
    private static final int FEWEST_SUBCLASSES = 2;

    /**
     * Values that users give and get; the types of {@code dev.interlock.election}, {@code ratelimit} and {@code ops}
     * are such values, too.
     */
    private static final Set<String> VALUES = Set.of(
            "dev.interlock.LeaseLostException",
            "dev.interlock.LockOptions",
            "dev.interlock.RedisUnavailableException",
            "dev.interlock.SemaphoreOptions",
            "dev.interlock.SyncListener",
            "dev.interlock.Transport");

    /**
     * What sessions know of names: an event and its instant come in, a new state and effects come out. An
     * {@code Operation}, as an {@code Arrival}, belongs to a thread as well, and has what that waits for.
     */
    private static final String[] STATES = Stream.of(
                    "barrier.BarrierState",
                    "latch.LatchState",
                    "lock.script.Attempt",
                    "lock.script.ConditionLog",
                    "lock.script.ConditionQueue",
                    "lock.script.IdleQuestion",
                    "lock.script.KeepPolicy",
                    "lock.script.LockState",
                    "lock.script.LockTenure",
                    "lock.script.LockView",
                    "lock.script.Ownership",
                    "lock.script.Ticket",
                    "lock.script.TicketQueue",
                    "lock.script.Waiter",
                    "quorum.QuorumState",
                    "quorum.QuorumTenure",
                    "quorum.VoteRound",
                    "semaphore.Account",
                    "semaphore.Holdings",
                    "semaphore.LocalPermits",
                    "semaphore.Operations",
                    "semaphore.PermitAges",
                    "semaphore.SemaphoreState",
                    "semaphore.SemaphoreWaiters",
                    "session.Lease")
            .map(name -> "dev.interlock.internal." + name)
            .toArray(String[]::new);

    private static final String[] CORE = {
        "dev.interlock.internal.session..",
        "dev.interlock.internal.redis..",
        "dev.interlock.internal.lock..",
        "dev.interlock.internal.semaphore..",
        "dev.interlock.internal.latch..",
        "dev.interlock.internal.barrier..",
        "dev.interlock.internal.events.."
    };

    /** What uses the core, and could be left out. */
    private static final String[] BESIDE_THE_CORE = {
        "dev.interlock.internal.quorum..",
        "dev.interlock.internal.election..",
        "dev.interlock.internal.ratelimit..",
        "dev.interlock.internal.adapters..",
        "dev.interlock.internal.ops.."
    };

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

    /** An application that runs no command line has no picocli. */
    @ArchTest
    static final ArchRule only_the_command_line_needs_picocli = noClasses()
            .that()
            .resideOutsideOfPackage("dev.interlock.cli")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("picocli..", "dev.interlock.cli");

    /** An application without Spring has none of it. */
    @ArchTest
    static final ArchRule only_the_support_for_spring_needs_spring = noClasses()
            .that()
            .resideOutsideOfPackage(SPRING)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "org.springframework..",
                    "org.aopalliance..",
                    "net.javacrumbs.shedlock..",
                    "dev.interlock.spring..");

    /** An application without meters has no Micrometer. */
    @ArchTest
    static final ArchRule only_the_metrics_need_micrometer = noClasses()
            .that()
            .resideOutsideOfPackages("dev.interlock.micrometer", SPRING)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.micrometer..", "dev.interlock.micrometer");

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

    /**
     * An arrow from each layer to those that it may name; what isn't allowed here is forbidden. The "words" are how
     * names and types are shown to people.
     */
    @ArchTest
    static final ArchRule dependencies_point_from_the_facade_to_the_values = synchronizers(layeredArchitecture()
                    .consideringOnlyDependenciesInLayers()
                    .ensureAllClassesAreContainedInArchitecture()
                    .layer("command line")
                    .definedBy("dev.interlock.cli")
                    .layer("spring")
                    .definedBy(SPRING)
                    .layer("metrics")
                    .definedBy("dev.interlock.micrometer")
                    .layer("facade")
                    .definedBy(resideInAPackage("dev.interlock").and(DescribedPredicate.not(areValues())))
                    .layer("values")
                    .definedBy(areValues())
                    .layer("events")
                    .definedBy("dev.interlock.internal.events")
                    .layer("redis")
                    .definedBy("dev.interlock.internal.redis")
                    .layer("redis.direct")
                    .definedBy("dev.interlock.internal.redis.direct")
                    .layer("session")
                    .definedBy("dev.interlock.internal.session")
                    .layer("lock")
                    .definedBy("dev.interlock.internal.lock")
                    .layer("words")
                    .definedBy("dev.interlock.internal"))
            .whereLayer("command line")
            .mayOnlyAccessLayers("facade", "values", "words")
            .whereLayer("spring")
            .mayOnlyAccessLayers("facade", "values", "words", "metrics")
            .whereLayer("metrics")
            .mayOnlyAccessLayers("facade", "values")
            .whereLayer("words")
            .mayNotAccessAnyLayer()
            .whereLayer("values")
            .mayOnlyAccessLayers("words")
            .whereLayer("events")
            .mayOnlyAccessLayers("values")
            .whereLayer("redis")
            .mayOnlyAccessLayers("words", "values", "events")
            .whereLayer("redis.direct")
            .mayOnlyAccessLayers("words", "redis")
            .whereLayer("session")
            .mayOnlyAccessLayers("words", "values", "events", "redis", "redis.direct")
            .whereLayer("lock")
            .mayOnlyAccessLayers("words", "values", "events", "redis", "session");

    /** A session, its locks, semaphores, latches and barriers do without what is built on them. */
    @ArchTest
    static final ArchRule the_core_sees_no_quorum_no_limits_no_adapters_no_ops = noClasses()
            .that()
            .resideInAnyPackage(CORE)
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(BESIDE_THE_CORE);

    @ArchTest
    static final ArchRule quorum_limits_adapters_and_ops_dont_see_each_other = slices().assignedFrom(
                    new SliceAssignment() {
                        @Override
                        public SliceIdentifier getIdentifierOf(JavaClass known) {
                            return Stream.of(BESIDE_THE_CORE)
                                    .filter(room -> resideInAPackage(room).test(known))
                                    .map(SliceIdentifier::of)
                                    .findAny()
                                    .orElseGet(SliceIdentifier::ignore);
                        }

                        @Override
                        public String getDescription() {
                            return "the packages beside the core";
                        }
                    })
            .should()
            .notDependOnEachOther();

    /** What adapts an object of Redisson's sees no synchronizer but its own, and no adapter of another one. */
    @ArchTest
    static final ArchRule adapters_see_their_own_synchronizer_only = slices().assignedFrom(new SliceAssignment() {
                @Override
                public SliceIdentifier getIdentifierOf(JavaClass known) {
                    String room = known.getPackageName().replace("dev.interlock.internal.", "");
                    if (Set.of("lock", "latch", "semaphore").contains(room)) {
                        return SliceIdentifier.of(room);
                    } else if (!room.equals("adapters")) {
                        return SliceIdentifier.ignore();
                    }
                    String file = outermost(known).getSimpleName();
                    return SliceIdentifier.of(Map.of("RedissonLatch", "latch", "RedissonSemaphore", "semaphore")
                            .getOrDefault(file, "lock"));
                }

                @Override
                public String getDescription() {
                    return "the synchronizers with their adapters";
                }
            })
            .should()
            .notDependOnEachOther();

    @ArchTest
    static final ArchRule internal_packages_have_no_cycles =
            slices().matching("dev.interlock.internal.(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule classes_are_split_by_composition = classes()
            .that(areAbstractClasses())
            .should(haveSubclasses(FEWEST_SUBCLASSES))
            .allowEmptyShould(true);

    /**
     * Threads of one JVM that wait for each other do so in a subclass of the JDK's queued synchronizer. A thread that
     * connects to Redis is there to wait.
     */
    @ArchTest
    static final ArchRule threads_block_in_the_environment = noClasses()
            .that()
            .resideInAPackage(INTERNAL)
            .and(DescribedPredicate.not(belongToOneOf(
                    "dev.interlock.internal.session.ThreadEnvironment",
                    "dev.interlock.internal.redis.AnswerSpinner",
                    "dev.interlock.internal.redis.direct.Endpoint")))
            .should(callMethodWhere(target(blocksItsCaller())));

    /**
     * That something blocks there, or that there is no thread, must not matter to us. (If the look-up of a host's name
     * hangs, a timer of the JVM ends it.)
     */
    @ArchTest
    static final ArchRule nothing_runs_on_a_pool_of_the_jvm = noClasses()
            .that()
            .doNotHaveFullyQualifiedName("dev.interlock.internal.SessionName")
            .should(callMethodWhere(target(runsOnAPoolOfTheJvm())))
            .allowEmptyShould(true);

    /** A session passes the call on to its environment. */
    @ArchTest
    static final ArchRule only_a_remote_wait_parks = noClasses()
            .that(DescribedPredicate.not(belongToOneOf(
                    "dev.interlock.internal.session.RemoteWait", "dev.interlock.internal.session.Session")))
            .should(callMethodWhere(
                    target(name("park")).and(target(owner(resideInAPackage("dev.interlock.internal.session"))))));

    @ArchTest
    static final ArchRule states_know_no_session_clock_thread_future_mutex_or_io = noClasses()
            .that(belongToOneOf(STATES))
            .and(DescribedPredicate.not(belongToOneOf("dev.interlock.internal.semaphore.Operations$Operation")))
            .should()
            .dependOnClassesThat(areOnlyForOwnersOfStates())
            .orShould(callMethodWhere(target(asksAClockOrAThread())));

    /** The engine of the lock reads from the bottom up. A lock and the threads' side of its conditions are one. */
    @ArchTest
    static final ArchRule the_lock_engine_has_no_circle = slices().assignedFrom(new SliceAssignment() {
                @Override
                public SliceIdentifier getIdentifierOf(JavaClass known) {
                    if (!known.getPackageName().equals("dev.interlock.internal.lock.script")) {
                        return SliceIdentifier.ignore();
                    }
                    String file = outermost(known).getSimpleName();
                    return SliceIdentifier.of(file.equals("ScriptConditions") ? "ScriptLock" : file);
                }

                @Override
                public String getDescription() {
                    return "the files of lock.script";
                }
            })
            .should()
            .beFreeOfCycles();

    private static JavaClass outermost(JavaClass inner) {
        return inner.getEnclosingClass().map(ArchitectureTest::outermost).orElse(inner);
    }

    /** The synchronizers, and the kinds of lock: none of them sees another. All adapters are in one package. */
    private static LayeredArchitecture synchronizers(LayeredArchitecture layers) {
        LayeredArchitecture all = layers;
        for (String synchronizer : List.of("semaphore", "latch", "barrier", "ratelimit", "ops")) {
            all = all.layer(synchronizer)
                    .definedBy("dev.interlock.internal." + synchronizer)
                    .whereLayer(synchronizer)
                    .mayOnlyAccessLayers("words", "values", "redis", "session");
        }
        for (String kind : List.of("lock.script", "quorum")) {
            all = all.layer(kind)
                    .definedBy("dev.interlock.internal." + kind)
                    .whereLayer(kind)
                    .mayOnlyAccessLayers("words", "values", "redis", "session", "lock");
        }
        all = all.layer("election")
                .definedBy("dev.interlock.internal.election")
                .whereLayer("election")
                .mayOnlyAccessLayers("words", "values", "events", "redis", "session", "lock", "lock.script");
        return all.layer("adapters")
                .definedBy("dev.interlock.internal.adapters")
                .whereLayer("adapters")
                .mayOnlyAccessLayers("words", "values", "redis", "session", "lock", "latch", "semaphore");
    }

    private static DescribedPredicate<JavaClass> areValues() {
        return DescribedPredicate.describe("are values", type -> {
            // An enum has an array of its constants.
            JavaClass element = type.getBaseComponentType();
            String outermost = element.getName().replaceFirst("\\$.*", "");
            return VALUES.contains(outermost)
                    || Set.of("dev.interlock.election", "dev.interlock.ratelimit", "dev.interlock.ops")
                            .contains(element.getPackageName());
        });
    }

    private static DescribedPredicate<JavaClass> belongToOneOf(String... outermost) {
        return DescribedPredicate.describe(
                "belong to one of " + List.of(outermost),
                type -> Stream.of(outermost)
                        .anyMatch(name ->
                                type.getName().equals(name) || type.getName().startsWith(name + "$")));
    }

    /** {@code join()} is no such method: what is done already is read by it. */
    private static DescribedPredicate<AccessTarget.CodeUnitCallTarget> blocksItsCaller() {
        return DescribedPredicate.describe("a method that blocks its caller", method -> {
            String called = method.getName();
            JavaClass owner = method.getOwner();
            return (owner.isEquivalentTo(LockSupport.class) && called.startsWith("park"))
                    || (owner.isAssignableTo(Thread.class)
                            && Set.of("sleep", "yield", "join").contains(called))
                    || (owner.isAssignableTo(Future.class) && called.equals("get"))
                    || (owner.isAssignableTo(Condition.class) && called.startsWith("await"))
                    || (owner.isAssignableTo(CountDownLatch.class) && called.equals("await"))
                    || (owner.isEquivalentTo(TimeUnit.class) && called.equals("sleep"))
                    || owner.isEquivalentTo(Uninterruptibles.class)
                    || (called.equals("wait") && owner.isEquivalentTo(Object.class));
        });
    }

    private static DescribedPredicate<JavaClass> areOnlyForOwnersOfStates() {
        DescribedPredicate<JavaClass> values = belongToOneOf(
                "dev.interlock.internal.redis.Failures",
                "dev.interlock.internal.redis.Mail",
                "dev.interlock.internal.redis.Settings",
                "dev.interlock.internal.session.Effects",
                "dev.interlock.internal.session.Lease",
                "dev.interlock.internal.session.Pace");
        return resideInAnyPackage(
                        "dev.interlock.internal.redis",
                        "dev.interlock.internal.session",
                        "java.util.concurrent.locks",
                        "org.redisson..",
                        "org.slf4j..")
                .and(DescribedPredicate.not(values))
                .or(assignableTo(Future.class))
                .or(assignableTo(CompletionStage.class))
                .or(assignableTo(Executor.class))
                .as("are only for owners of states");
    }

    private static DescribedPredicate<AccessTarget.CodeUnitCallTarget> asksAClockOrAThread() {
        return DescribedPredicate.describe("a method that asks a clock or a thread", method -> {
            String called = method.getName();
            JavaClass owner = method.getOwner();
            return owner.isAssignableTo(Thread.class)
                    || owner.isEquivalentTo(LongSupplier.class)
                    || (owner.isEquivalentTo(System.class)
                            && Set.of("nanoTime", "currentTimeMillis").contains(called))
                    || (owner.isEquivalentTo(Settings.class) && called.equals("ticker"))
                    || (owner.isEquivalentTo(Suspensions.class) && called.equals("look"));
        });
    }

    private static DescribedPredicate<AccessTarget.CodeUnitCallTarget> runsOnAPoolOfTheJvm() {
        return DescribedPredicate.describe("a method that runs something on a pool of the JVM", method -> {
            String called = method.getName();
            JavaClass owner = method.getOwner();
            boolean isOfFutures = owner.isAssignableTo(CompletionStage.class)
                    && owner.getPackageName().equals("java.util.concurrent");
            boolean hasExecutor =
                    method.getRawParameterTypes().stream().anyMatch(type -> type.isEquivalentTo(Executor.class));
            return called.equals("commonPool")
                    || called.equals("parallelStream")
                    || (called.equals("parallel") && owner.isAssignableTo(BaseStream.class))
                    || (owner.isEquivalentTo(Arrays.class) && called.startsWith("parallel"))
                    || (isOfFutures && called.endsWith("Async") && !hasExecutor)
                    || (isOfFutures
                            && Set.of("orTimeout", "completeOnTimeout", "delayedExecutor")
                                    .contains(called));
        });
    }

    private static DescribedPredicate<JavaClass> areAbstractClasses() {
        return DescribedPredicate.describe(
                "are abstract classes",
                type -> type.getModifiers().contains(JavaModifier.ABSTRACT) && !type.isInterface() && !type.isEnum());
    }

    private static ArchCondition<JavaClass> haveSubclasses(int fewest) {
        return new ArchCondition<>("have at least " + fewest + " subclasses") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                Set<String> names = type.getSubclasses().stream()
                        .map(JavaClass::getSimpleName)
                        .collect(Collectors.toSet());
                if (names.size() < fewest) {
                    events.add(SimpleConditionEvent.violated(
                            type, type.getName() + " is abstract and its only subclasses are " + names));
                }
            }
        };
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
                        .filter(thrown -> names.contains(thrown) && declares(unit, thrown))
                        .forEach(thrown -> events.add(
                                SimpleConditionEvent.violated(unit, unit.getDescription() + " throws " + thrown)));
            }
        };
    }

    // A method that throws what its argument throws declares a type variable: that isn't too general.
    private static boolean declares(JavaCodeUnit unit, String thrown) {
        return Stream.of(((Executable) unit.reflect()).getGenericExceptionTypes())
                .anyMatch(type -> type.getTypeName().equals(thrown));
    }
}
