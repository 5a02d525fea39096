package dev.interlock.simulation;

import static com.google.common.base.Preconditions.checkState;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.BinaryOperator;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/**
 * The library with a fault planted in it: some of its sources, Java or Lua, are changed before they are compiled. The
 * simulation of it is loaded once more, so that the library as it is stays what the other tests run on.
 */
final class Mutant {
    private static final Path SOURCES = Path.of("src/main/java/dev/interlock/internal");
    private static final Path SCRIPTS = Path.of("src/main/resources/dev/interlock/lua");
    private static final JavaCompiler COMPILER = Objects.requireNonNull(ToolProvider.getSystemJavaCompiler(), "a JDK");

    /** One for all mutants: it looks into the jars of the class path once. */
    private static final StandardJavaFileManager FILES = COMPILER.getStandardFileManager(null, null, null);

    /**
     * A change of a source.
     *
     * @param file a Java source below {@code internal}, or {@code "lua"} for all scripts
     * @param from what stands there, once in a Java source, at least once in some script
     */
    private record Edit(String file, String from, String to) {
        String in(String text) {
            int at = text.indexOf(from);
            if (at < 0 || text.indexOf(from, at + 1) >= 0) {
                throw new IllegalStateException(file + " should have once: " + from);
            }
            return text.replace(from, to);
        }
    }

    private final String name;

    /** Plans in which threads stay when they have lost what they have are mostly about that. */
    private static final Call[] CALLS =
            Focus.NONE.calls().stream().filter(call -> !call.outstays()).toArray(Call[]::new);

    private Focus focus = Focus.NONE.calling(CALLS);
    private long firstSeed = 1;
    private final List<Edit> edits = new ArrayList<>();
    private final Set<Edit> applied = new HashSet<>();

    private Mutant(String name) {
        this.name = name;
    }

    /** Begins a mutant without a fault. */
    static Mutant named(String name) {
        return new Mutant(name);
    }

    /** Changes a Java source, given by its path below {@code internal}. */
    Mutant java(String file, String from, String to) {
        edits.add(new Edit(file, from, to));
        return this;
    }

    /** Changes all scripts that have that text. */
    Mutant lua(String from, String to) {
        edits.add(new Edit("lua", from, to));
        return this;
    }

    /** Has the search be about that, which is where the fault is. */
    Mutant among(Kind... kinds) {
        focus = focus.among(kinds);
        return this;
    }

    /** Has nothing else go wrong. */
    Mutant under(Fault.Kind... faults) {
        focus = focus.under(faults);
        return this;
    }

    /** Begins the search at this seed, which has found it once: others follow, if that one doesn't any more. */
    Mutant from(long seed) {
        firstSeed = seed;
        return this;
    }

    /** Has threads call nothing else. */
    Mutant calling(Call... calls) {
        focus = focus.calling(calls);
        return this;
    }

    /** Has witnesses look for that, too, and for nothing else that isn't always looked for. */
    Mutant showing(Trait... traits) {
        focus = focus.showing(traits);
        return this;
    }

    /**
     * Makes sure that it can be planted: its Java compiles, and each of its changes of scripts is found in one.
     *
     * @throws IllegalStateException if it can't: the library has changed since the mutant was written
     */
    void compile() throws IOException {
        Path classes = Files.createTempDirectory("mutant");
        try {
            compiled(classes);
        } finally {
            MoreFiles.deleteRecursively(classes, RecursiveDeleteOption.ALLOW_INSECURE);
        }
        try (Stream<Path> files = Files.walk(SCRIPTS)) {
            for (Path script : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
                changed(script.toString(), Files.readString(script));
            }
        }
        ensureApplied();
    }

    /**
     * Looks for a plan that fails.
     *
     * @return what the failure is, or null if there is none within that time
     */
    @Nullable
    String search(long nanos) throws IOException, ReflectiveOperationException {
        Path classes = Files.createTempDirectory("mutant");
        try {
            return search(nanos, classes);
        } finally {
            MoreFiles.deleteRecursively(classes, RecursiveDeleteOption.ALLOW_INSECURE);
        }
    }

    private @Nullable String search(long nanos, Path classes) throws IOException, ReflectiveOperationException {
        try (MutantLoader loader = new MutantLoader(compiled(classes))) {
            @SuppressWarnings("unchecked") // it has that type
            var found = (BiFunction<Long, Long, @Nullable String>) loader.loadClass(Hunt.class.getName())
                    .getConstructor(BinaryOperator.class, List.class, List.class, List.class, List.class)
                    .newInstance(
                            (BinaryOperator<String>) this::changed,
                            names(focus.kinds()),
                            names(focus.calls()),
                            names(focus.faults()),
                            names(focus.traits()));
            String failure = found.apply(firstSeed, nanos);
            ensureApplied();
            return failure;
        }
    }

    private void ensureApplied() {
        edits.forEach(
                edit -> checkState(!edit.file.equals("lua") || applied.contains(edit), "no script has %s", edit.from));
    }

    private static List<String> names(List<? extends Enum<?>> constants) {
        return constants.stream().map(Enum::name).toList();
    }

    private String changed(String script, String text) {
        String changed = text;
        for (Edit edit : edits) {
            if (edit.file.equals("lua") && changed.contains(edit.from)) {
                changed = changed.replace(edit.from, edit.to);
                applied.add(edit);
            }
        }
        return changed;
    }

    private List<Path> compiled(Path classes) throws IOException {
        Map<String, String> texts = new LinkedHashMap<>();
        for (Edit edit : edits) {
            if (!edit.file.equals("lua")) {
                texts.put(edit.file, edit.in(texts.containsKey(edit.file) ? texts.get(edit.file) : read(edit.file)));
            }
        }
        List<String> options = List.of("-proc:none", "-nowarn", "-cp", classPath(), "-d", classes.toString());
        List<Path> sources = new ArrayList<>();
        for (Map.Entry<String, String> text : texts.entrySet()) {
            Path source = classes.resolve(Path.of(text.getKey()).getFileName() + ".java");
            Files.writeString(source, text.getValue());
            sources.add(source);
        }
        if (!texts.isEmpty()
                && !COMPILER.getTask(null, FILES, null, options, null, FILES.getJavaFileObjectsFromPaths(sources))
                        .call()) {
            throw new IllegalStateException("the mutant doesn't compile: " + this);
        }
        return List.of(classes);
    }

    private static String read(String file) throws IOException {
        return Files.readString(SOURCES.resolve(file + ".java"));
    }

    private static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }

    @Override
    public String toString() {
        return name;
    }

    /** What runs in the other class loader: it has to be known to this one by JDK types alone. */
    public static final class Hunt implements BiFunction<Long, Long, @Nullable String> {
        private final BinaryOperator<String> scriptChange;
        private final Focus focus;

        /** Hunts in the scripts that are changed in that way, in plans about that. */
        public Hunt(
                BinaryOperator<String> scriptChange,
                List<String> kinds,
                List<String> calls,
                List<String> faults,
                List<String> traits) {
            this.scriptChange = scriptChange;
            this.focus = new Focus(
                    kinds.stream().map(Kind::valueOf).toList(),
                    calls.stream().map(Call::valueOf).toList(),
                    faults.stream().map(Fault.Kind::valueOf).toList(),
                    traits.stream().map(Trait::valueOf).toList());
        }

        @Override
        public @Nullable String apply(Long firstSeed, Long nanos) {
            Search search = new Search(seed -> Plan.of(seed, focus), scriptChange, 0);
            Search.Failure failure = search.within(firstSeed, nanos);
            return failure == null ? null : failure.toString();
        }
    }

    /** Loads the project's classes anew, and the changed ones first. */
    private static final class MutantLoader extends URLClassLoader {
        MutantLoader(List<Path> first) {
            super(urls(first), Mutant.class.getClassLoader());
        }

        private static URL[] urls(List<Path> paths) {
            List<URL> urls = new ArrayList<>();
            try {
                for (Path path : paths) {
                    urls.add(path.toUri().toURL());
                }
            } catch (MalformedURLException e) {
                throw new UncheckedIOException(e);
            }
            return urls.toArray(URL[]::new);
        }

        @Override
        protected Class<?> loadClass(String className, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(className)) {
                if (!className.startsWith("dev.interlock.")) {
                    return super.loadClass(className, resolve);
                }
                Class<?> loaded = findLoadedClass(className);
                return loaded != null ? loaded : defined(className);
            }
        }

        // The mutant's own class, or another copy of the library's.
        private Class<?> defined(String className) throws ClassNotFoundException {
            String file = className.replace('.', '/') + ".class";
            URL url = findResource(file);
            try (var in = url != null ? url.openStream() : getParent().getResourceAsStream(file)) {
                if (in == null) {
                    throw new ClassNotFoundException(className);
                }
                byte[] bytes = in.readAllBytes();
                return defineClass(className, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(className, e);
            }
        }
    }
}
