package dev.interlock.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A Redis server as an executable file: the one that the environment variable {@code INTERLOCK_REDIS_SERVER} names, or
 * else the one that the jar {@code org.signal:embedded-redis} carries for this platform. An earlier version of that jar
 * has the oldest Redis that we support, which that variable names by {@code 6.2.7}; the build unpacks it beside the
 * test classes.
 *
 * <p>What a jar carries is copied out once per machine and user. Several JVMs may do so at once: each writes a file of
 * its own and moves it into place atomically, and none ever writes to a file that another one may be executing.
 */
final class RedisBinary {

    private static final String VERSION = "7.0.15";
    private static final String OLDEST = "6.2.7";

    private static @Nullable RedisBinary current;
    private static @Nullable RedisBinary oldest;

    private final Path path;
    private final String version;

    private RedisBinary(Path path, String version) {
        this.path = path;
        this.version = version;
    }

    static synchronized RedisBinary current() {
        if (current == null) {
            String named = System.getenv("INTERLOCK_REDIS_SERVER");
            if (named == null || named.isBlank()) {
                current = embedded(VERSION);
            } else {
                current = named.strip().equals(OLDEST) ? oldest() : named(Path.of(named.strip()));
            }
        }
        return current;
    }

    static synchronized RedisBinary oldest() {
        if (oldest == null) {
            oldest = embedded(OLDEST);
        }
        return oldest;
    }

    Path path() {
        return path;
    }

    /**
     * Arguments by which tests may use {@code DEBUG}; before Redis 7 they always may, and there is no such argument.
     */
    List<String> debugArguments() {
        boolean isAlwaysAllowed = Integer.parseInt(version.substring(0, version.indexOf('.'))) < 7;
        return isAlwaysAllowed ? List.of() : List.of("--enable-debug-command", "local");
    }

    // Such as: Redis server v=7.0.15 sha=00000000:0 malloc=libc bits=64 build=d81b8ff71cfb150e
    private static RedisBinary named(Path path) {
        try {
            Process process = new ProcessBuilder(path.toString(), "--version").start();
            String line = process.inputReader(StandardCharsets.US_ASCII).readLine();
            Matcher matcher = Pattern.compile(" v=([0-9]+\\.[0-9.]+)").matcher(String.valueOf(line));
            if (!matcher.find()) {
                throw new IllegalStateException("INTERLOCK_REDIS_SERVER is no redis-server: " + path + " says " + line);
            }
            return new RedisBinary(path, matcher.group(1));
        } catch (IOException e) {
            throw new UncheckedIOException("INTERLOCK_REDIS_SERVER can't be run: " + path, e);
        }
    }

    private static RedisBinary embedded(String version) {
        return new RedisBinary(install(version), version);
    }

    private static Path install(String version) {
        String name = resourceName(version, System.getProperty("os.name", ""), System.getProperty("os.arch", ""));
        URL resource = RedisBinary.class.getResource("/" + name);
        if (resource == null) {
            throw new IllegalStateException(
                    "No embedded Redis for this platform (" + name + " is not in the class path,"
                            + " see org.signal:embedded-redis); set INTERLOCK_REDIS_SERVER to a redis-server,"
                            + " or REDIS_URL to the URL of a running one");
        }
        try {
            byte[] content;
            try (InputStream in = resource.openStream()) {
                content = in.readAllBytes();
            }
            return install(name, content);
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "Cannot install " + name + "; set REDIS_URL to the URL of a running Redis", e);
        }
    }

    private static Path install(String name, byte[] content) throws IOException {
        var ownerOnly = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
        String user = System.getProperty("user.name", "unknown").replaceAll("[^A-Za-z0-9._-]", "_");
        Path folder = Path.of(System.getProperty("java.io.tmpdir"), "interlock-redis-" + user);
        if (!Files.isDirectory(folder)) {
            try {
                Files.createDirectory(folder, ownerOnly);
            } catch (FileAlreadyExistsException e) {
                // Another JVM was faster; what it made is checked below like any other.
            }
        }
        Path fresh = Files.createTempFile(folder, name, ".tmp", ownerOnly);
        try {
            boolean trusted = !Files.isSymbolicLink(folder)
                    && Files.getOwner(folder).equals(Files.getOwner(fresh))
                    && Files.getPosixFilePermissions(folder).equals(ownerOnly.value());
            if (!trusted) {
                throw new IOException(folder + " must belong to this user alone, with permissions rwx------");
            }
            Path target = folder.resolve(name);
            if (!holds(target, content)) {
                Files.write(fresh, content);
                Files.move(fresh, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            }
            return target;
        } finally {
            Files.deleteIfExists(fresh);
        }
    }

    private static boolean holds(Path file, byte[] content) throws IOException {
        return Files.isExecutable(file)
                && Files.size(file) == content.length
                && Arrays.equals(Files.readAllBytes(file), content);
    }

    static String resourceName(String version, String osName, String osArch) {
        String os = osName.toLowerCase(Locale.ROOT);
        String platform = os.startsWith("mac") ? "darwin" : os.startsWith("windows") ? "windows" : os;
        String arch = switch (osArch) {
            case "amd64", "x86_64" -> "amd64";
            case "aarch64", "arm64" -> "arm64";
            case "x86", "i386", "i486", "i586", "i686" -> "386";
            default -> osArch;
        };
        return "redis-server-" + version + "-" + platform + "-" + arch;
    }
}
