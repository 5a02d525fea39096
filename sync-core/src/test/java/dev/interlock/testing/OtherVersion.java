package dev.interlock.testing;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.util.Objects.requireNonNull;

import dev.interlock.Interlock;
import dev.interlock.internal.SessionId;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/** A session of another version of the library, whose classes and scripts another class loader has in this JVM. */
public final class OtherVersion implements AutoCloseable {
    private static final String PACKAGE = "dev.interlock.";
    private static final String FOLDER = "dev/interlock/";
    private static final String RELEASED = "/dev/interlock/released/sync-core.jar";

    private final Loader loader;
    private final Class<?> type;
    private final Object session;

    private OtherVersion(Loader loader, String url) {
        this.loader = loader;
        try {
            this.type = loader.loadClass(Interlock.class.getName());
            this.session = call(null, "connect", new Class<?>[] {String.class}, url);
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Opens a session of the last release. */
    public static OtherVersion released(String url) {
        return new OtherVersion(new Loader(requireNonNull(OtherVersion.class.getResource(RELEASED)), 0), url);
    }

    /** The jar of the last release. */
    public static Path releasedJar() {
        return path(requireNonNull(OtherVersion.class.getResource(RELEASED)));
    }

    /** Opens a session of this version, but that it speaks another protocol, from 2 to 9. */
    public static OtherVersion ofProtocol(int protocol, String url) {
        return new OtherVersion(new Loader(ownClasses(), protocol), url);
    }

    /** Where the classes of this version are. */
    static URL ownClasses() {
        return Interlock.class.getProtectionDomain().getCodeSource().getLocation();
    }

    static Path path(URL file) {
        try {
            return Path.of(file.toURI());
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException(e);
        }
    }

    public String id() {
        return (String) call(session, "id", new Class<?>[0]);
    }

    public ReentrantLock lock(String name) {
        return (ReentrantLock) call(session, "lock", new Class<?>[] {String.class}, name);
    }

    public ReentrantLock fairLock(String name) {
        return (ReentrantLock) call(session, "fairLock", new Class<?>[] {String.class}, name);
    }

    public ReentrantReadWriteLock readWriteLock(String name) {
        return (ReentrantReadWriteLock) call(session, "readWriteLock", new Class<?>[] {String.class}, name);
    }

    public Semaphore semaphore(String name, int permits) {
        return (Semaphore) call(session, "semaphore", new Class<?>[] {String.class, int.class}, name, permits);
    }

    public CountDownLatch countDownLatch(String name, int count) {
        return (CountDownLatch) call(session, "countDownLatch", new Class<?>[] {String.class, int.class}, name, count);
    }

    public CyclicBarrier cyclicBarrier(String name, int parties, @Nullable Runnable action) {
        return (CyclicBarrier) call(
                session,
                "cyclicBarrier",
                new Class<?>[] {String.class, int.class, Runnable.class},
                name,
                parties,
                action);
    }

    private Object call(@Nullable Object target, String method, Class<?>[] parameters, @Nullable Object... arguments) {
        try {
            return type.getMethod(method, parameters).invoke(target, arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw new IllegalStateException(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        try (loader) {
            ((AutoCloseable) session).close();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Loads the library from a jar or folder, and delegates everything else to the class loader of the tests. */
    private static final class Loader extends URLClassLoader {
        private static final String OWN = "interlock-" + SessionId.PROTOCOL + "-";

        private final int protocol;

        Loader(URL library, int protocol) {
            super(new URL[] {library}, OtherVersion.class.getClassLoader());
            this.protocol = protocol;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(PACKAGE)) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded == null ? findClass(name) : loaded;
            }
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            if (protocol == 0 || !name.equals(SessionId.class.getName())) {
                return super.findClass(name);
            }
            byte[] changed = withOtherProtocol(name);
            return defineClass(name, changed, 0, changed.length);
        }

        // The constant that ids begin with, and that the number is taken from.
        private byte[] withOtherProtocol(String name) {
            try (InputStream file = requireNonNull(getResourceAsStream(name.replace('.', '/') + ".class"))) {
                String bytes = new String(file.readAllBytes(), ISO_8859_1);
                String other = OWN.replace(String.valueOf(SessionId.PROTOCOL), String.valueOf(protocol));
                if (other.length() != OWN.length() || !bytes.contains(OWN)) {
                    throw new IllegalStateException("No protocol " + protocol + " can be put into " + name);
                }
                return bytes.replace(OWN, other).getBytes(ISO_8859_1);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public @Nullable URL getResource(String name) {
            return name.startsWith(FOLDER) ? findResource(name) : super.getResource(name);
        }
    }
}
