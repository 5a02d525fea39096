package dev.interlock.benchmarks.peers;

import com.google.common.hash.Hashing;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * Locks of PostgreSQL, which belong to a connection: each thread that locks or waits has one of its own, kept for the
 * next.
 */
public final class Postgres implements AutoCloseable {

    private static final String TABLE = "interlock_benchmark_locks";

    private final Pool<Connection> connections;

    /** Connects when somebody locks. */
    public Postgres(String jdbcUrl) {
        connections = new Pool<>(() -> open(jdbcUrl), Postgres::close);
    }

    /** The session-level advisory lock whose number is the hash of a name. */
    public Mutex advisoryLock(String name) {
        long key = Hashing.sha256().hashString(name, StandardCharsets.UTF_8).asLong();
        return new Mutex() {
            @Override
            public void lock() {
                call("SELECT pg_advisory_lock(?)", connections.take());
            }

            @Override
            public void unlock() {
                call("SELECT pg_advisory_unlock(?)", connections.taken());
                connections.giveBack();
            }

            private void call(String function, Connection connection) {
                try (PreparedStatement call = connection.prepareStatement(function)) {
                    call.setLong(1, key);
                    call.execute();
                } catch (SQLException e) {
                    throw failure(e);
                }
            }
        };
    }

    /** The row of a name, selected for update until the transaction is committed. */
    public Mutex rowLock(String name) {
        insert(name);
        return new Mutex() {
            @Override
            public void lock() {
                Connection connection = connections.take();
                try {
                    connection.setAutoCommit(false);
                    try (PreparedStatement select =
                            connection.prepareStatement("SELECT name FROM " + TABLE + " WHERE name = ? FOR UPDATE")) {
                        select.setString(1, name);
                        if (!select.executeQuery().next()) {
                            throw new IllegalStateException("somebody has deleted the row of " + name);
                        }
                    }
                } catch (SQLException e) {
                    throw failure(e);
                }
            }

            @Override
            public void unlock() {
                try {
                    connections.taken().commit();
                } catch (SQLException e) {
                    throw failure(e);
                }
                connections.giveBack();
            }
        };
    }

    // In one transaction under an advisory lock: CREATE TABLE IF NOT EXISTS fails if two try it at once.
    private void insert(String name) {
        Connection connection = connections.take();
        try {
            connection.setAutoCommit(false);
            try (var statement = connection.createStatement();
                    var insert = connection.prepareStatement(
                            "INSERT INTO " + TABLE + " VALUES (?) ON CONFLICT DO NOTHING")) {
                statement.execute("SELECT pg_advisory_xact_lock(hashtext('" + TABLE + "'))");
                statement.execute("CREATE TABLE IF NOT EXISTS " + TABLE + " (name text PRIMARY KEY)");
                insert.setString(1, name);
                insert.executeUpdate();
            }
            connection.commit();
            connection.setAutoCommit(true);
        } catch (SQLException e) {
            throw failure(e);
        }
        connections.giveBack();
    }

    private static Connection open(String jdbcUrl) {
        try {
            return DriverManager.getConnection(jdbcUrl);
        } catch (SQLException e) {
            throw failure(e);
        }
    }

    private static void close(Connection connection) {
        try {
            connection.close();
        } catch (SQLException e) {
            throw failure(e);
        }
    }

    private static IllegalStateException failure(SQLException cause) {
        return new IllegalStateException("PostgreSQL failed", cause);
    }

    @Override
    public void close() {
        connections.close();
    }
}
