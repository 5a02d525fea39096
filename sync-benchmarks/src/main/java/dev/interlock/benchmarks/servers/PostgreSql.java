package dev.interlock.benchmarks.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * That of {@code POSTGRES_URL}, a JDBC URL, or else a private one of the installed version with its defaults,
 * {@code fsync} included.
 */
final class PostgreSql {

    /** Where Debian installs a folder per version. */
    static final Path DEBIANS = Path.of("/usr/lib/postgresql");

    private static final String USER = "postgres";

    private PostgreSql() {}

    /**
     * Starts it, if none is given.
     *
     * @param environment which may name one, and whose path is searched
     * @param installed where to search before
     */
    static Server start(Map<String, String> environment, Path installed) {
        String given = environment.getOrDefault("POSTGRES_URL", "").strip();
        if (!given.isEmpty()) {
            try {
                return new Server.Running(given, version(given), () -> {});
            } catch (IllegalStateException e) {
                throw new AbsentException("the PostgreSQL of POSTGRES_URL doesn't answer", e);
            }
        }
        Path initdb = Daemon.find("initdb", programs(installed), environment)
                .orElseThrow(() -> new AbsentException(
                        "no PostgreSQL server is installed (apt-get install postgresql) and POSTGRES_URL isn't set"));
        return launch(initdb);
    }

    private static Server launch(Path initdb) {
        Path folder = Daemon.newFolder();
        try {
            initialize(initdb, folder);
        } catch (AbsentException e) {
            Daemon.delete(folder);
            throw e;
        }
        int port = Daemon.freePort();
        var command = unprivileged(initdb.resolveSibling("postgres"), "-D", data(folder), "-p", "" + port);
        command.addAll(List.of("-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="));
        command.addAll(List.of("-c", "max_connections=300"));
        // An immediate shutdown, which leaves no shared memory as a kill would.
        Daemon daemon = Daemon.start("PostgreSQL", folder, "QUIT", command);
        String url = "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=" + USER;
        return new Server.Running(url, daemon.await(() -> version(url)), daemon::close);
    }

    private static void initialize(Path initdb, Path folder) {
        try {
            if (isRoot()) {
                Files.setOwner(
                        folder,
                        folder.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName(USER));
            }
            Process process = new ProcessBuilder(unprivileged(
                            initdb, "-D", data(folder), "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync"))
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (process.waitFor() != 0) {
                throw new AbsentException("PostgreSQL's initdb failed: " + output.strip());
            }
        } catch (IOException e) {
            throw new AbsentException("PostgreSQL's initdb didn't start", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while starting PostgreSQL", e);
        }
    }

    // The server refuses to run as root.
    private static List<String> unprivileged(Path program, String... arguments) {
        var command = new ArrayList<String>();
        if (isRoot()) {
            command.addAll(List.of("setpriv", "--reuid=" + USER, "--regid=" + USER, "--clear-groups"));
        }
        command.add(program.toString());
        command.addAll(List.of(arguments));
        return command;
    }

    private static boolean isRoot() {
        return System.getProperty("user.name").equals("root");
    }

    private static String data(Path folder) {
        return folder.resolve("data").toString();
    }

    private static Stream<Path> programs(Path installed) {
        if (!Files.isDirectory(installed)) {
            return Stream.empty();
        }
        try (Stream<Path> versions = Files.list(installed)) {
            return versions
                    .sorted(Comparator.comparing(
                                    (Path version) -> version.getFileName().toString())
                            .reversed())
                    .map(version -> version.resolve("bin"))
                    .toList()
                    .stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Map.Entry<String, String> version(String url) {
        try (var connection = DriverManager.getConnection(url)) {
            return Map.entry("PostgreSQL", connection.getMetaData().getDatabaseProductVersion());
        } catch (SQLException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }
}
