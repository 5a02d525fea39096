package dev.interlock.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The Redis server that the jar {@code org.signal:embedded-redis} carries for this platform, as an executable file.
 *
 * <p>It is copied out once per machine and user. Several JVMs may do so at once: each writes a file of its own and
 * moves it into place atomically, and none ever writes to a file that another one may be executing.
 */
final class RedisBinary {

    private static final String VERSION = "7.0.15";

    private static @Nullable Path verified;

    private RedisBinary() {}

    static synchronized Path path() {
        if (verified == null) {
            verified = install();
        }
        return verified;
    }

    private static Path install() {
        String name = resourceName(System.getProperty("os.name", ""), System.getProperty("os.arch", ""));
        URL resource = RedisBinary.class.getResource("/" + name);
        if (resource == null) {
            throw new IllegalStateException(
                    "No embedded Redis for this platform (" + name + " is not in the class path,"
                            + " see org.signal:embedded-redis); set REDIS_URL to the URL of a running Redis");
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

    static String resourceName(String osName, String osArch) {
        String os = osName.toLowerCase(Locale.ROOT);
        String platform = os.startsWith("mac") ? "darwin" : os.startsWith("windows") ? "windows" : os;
        String arch = switch (osArch) {
            case "amd64", "x86_64" -> "amd64";
            case "aarch64", "arm64" -> "arm64";
            case "x86", "i386", "i486", "i586", "i686" -> "386";
            default -> osArch;
        };
        return "redis-server-" + VERSION + "-" + platform + "-" + arch;
    }
}
