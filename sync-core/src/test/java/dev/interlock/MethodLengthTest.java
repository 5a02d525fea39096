package dev.interlock;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Methods of all modules, tests included, are short. Checkstyle has this check, too, but its parser takes half a minute
 * for what javac's reads in seconds.
 */
class MethodLengthTest {
    private static final int MOST_LINES = 40;

    @Test
    void methodsAreShort() throws IOException {
        List<Path> sources = new ArrayList<>();
        for (String module : List.of("sync-core", "sync-benchmarks", "sync-examples")) {
            sources.addAll(sourcesIn(Path.of("..", module, "src")));
        }
        assertThat(sources).hasSizeGreaterThan(500);
        assertThat(longMethods(sources)).isEmpty();
    }

    @Test
    void aMethodIsTooLongByItsLinesOfCode(@TempDir Path folder) throws IOException {
        String code = "int next = 1;\n";
        String textBlock = "String text = \"\"\"\n\n\n\"\"\";\n";
        Files.writeString(folder.resolve("Lengths.java"), """
                class Lengths {
                Lengths() {
                %s}
                void isAllowed() {

                // a comment
                /*
                 * one more
                 */
                %s}
                int isNot() {
                %sreturn 1;
                }
                void hasTextBlocks() {
                %s}
                }
                """.formatted(
                        code.repeat(MOST_LINES - 2),
                        code.repeat(MOST_LINES - 2),
                        code.repeat(MOST_LINES - 2),
                        textBlock.repeat(MOST_LINES / 4)));
        assertThat(longMethods(sourcesIn(folder)))
                .hasSize(2)
                .anyMatch(found -> found.endsWith("Lengths.java: isNot has 41 lines of code"))
                .anyMatch(found -> found.endsWith("Lengths.java: hasTextBlocks has 42 lines of code"));
    }

    private static List<Path> sourcesIn(Path folder) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(path -> path.toString().endsWith(".java")).toList();
        }
    }

    private static List<String> longMethods(List<Path> sources) throws IOException {
        JavaCompiler compiler = Objects.requireNonNull(ToolProvider.getSystemJavaCompiler(), "a JDK");
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            var units = files.getJavaFileObjectsFromPaths(sources);
            var task = (JavacTask) compiler.getTask(null, files, null, List.of("-proc:none"), null, units);
            SourcePositions positions = Trees.instance(task).getSourcePositions();
            List<String> found = new ArrayList<>();
            for (CompilationUnitTree unit : task.parse()) {
                new Methods(unit, positions, found).scan(unit, null);
            }
            return found;
        }
    }

    private static final class Methods extends TreeScanner<Void, Void> {
        private final CompilationUnitTree unit;
        private final SourcePositions positions;
        private final List<String> found;

        Methods(CompilationUnitTree unit, SourcePositions positions, List<String> found) {
            this.unit = unit;
            this.positions = positions;
            this.found = found;
        }

        @Override
        public Void visitMethod(MethodTree method, @Nullable Void unused) {
            var lines = new Lines(unit, positions);
            lines.scan(method.getBody(), null);
            int count = lines.used.cardinality();
            if (count > MOST_LINES) {
                String file = unit.getSourceFile().getName();
                found.add(file + ": " + method.getName() + " has " + count + " lines of code");
            }
            return super.visitMethod(method, null);
        }
    }

    /** The lines in which a tree of the source begins or ends, and all of a text block's. */
    private static final class Lines extends TreeScanner<Void, Void> {
        private final CompilationUnitTree unit;
        private final SourcePositions positions;
        private final BitSet used = new BitSet();

        Lines(CompilationUnitTree unit, SourcePositions positions) {
            this.unit = unit;
            this.positions = positions;
        }

        @Override
        public @Nullable Void scan(@Nullable Tree tree, @Nullable Void unused) {
            if (tree != null) {
                long begin = positions.getStartPosition(unit, tree);
                long end = positions.getEndPosition(unit, tree);
                if (begin >= 0 && end > begin) {
                    use(tree, line(begin), line(end - 1));
                }
            }
            return super.scan(tree, null);
        }

        private void use(Tree tree, int first, int last) {
            used.set(first);
            used.set(last);
            if (tree instanceof LiteralTree) {
                used.set(first, last);
            }
        }

        private int line(long position) {
            return Math.toIntExact(unit.getLineMap().getLineNumber(position));
        }
    }
}
