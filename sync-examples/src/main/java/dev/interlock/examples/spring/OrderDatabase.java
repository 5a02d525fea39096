package dev.interlock.examples.spring;

import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.h2.tools.Server;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** The database that all instances of a fleet have: H2 in the memory of this JVM. */
final class OrderDatabase implements AutoCloseable {

    private final Server server;
    private final String name = "orders-" + UUID.randomUUID();
    private final JdbcClient client;

    OrderDatabase() {
        try {
            server = Server.createTcpServer("-tcpPort", "0", "-ifNotExists").start();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        client = JdbcClient.create(new DriverManagerDataSource(url()));
        client.sql("create table orders (id bigint generated always as identity primary key, title varchar not null,"
                        + " parcels int default 0 not null)")
                .update();
        client.sql("create table invoice_runs (began timestamp not null, instance varchar not null)")
                .update();
    }

    /** A run of the invoices' job. */
    record InvoiceRun(Instant began, String instance) {
        /**
         * Returns whether there was one in two seconds. The first ones and the last may have been late; if two
         * instances ran each, there would be twice as many.
         */
        static boolean isOncePerPeriod(List<InvoiceRun> runs) {
            Instant first = runs.get(0).began;
            Instant last = runs.get(runs.size() - 1).began;
            return runs.size() <= Duration.between(first, last).toSeconds() / 2 + 3;
        }
    }

    /** One that no other fleet has. */
    String name() {
        return name;
    }

    String url() {
        return "jdbc:h2:tcp://127.0.0.1:" + server.getPort() + "/mem:" + name + ";DB_CLOSE_DELAY=-1";
    }

    /** Returns the id of a new order. */
    long addOrder(String title) {
        return client.sql("select id from final table (insert into orders (title) values (?))")
                .param(title)
                .query(Long.class)
                .single();
    }

    int parcels(long order) {
        return client.sql("select parcels from orders where id = ?")
                .param(order)
                .query(Integer.class)
                .single();
    }

    /** In the order in which they began, by the clock of this database. */
    List<InvoiceRun> invoiceRuns() {
        return client.sql("select began, instance from invoice_runs order by began")
                .query((row, number) ->
                        new InvoiceRun(row.getTimestamp("began").toInstant(), row.getString("instance")))
                .list();
    }

    @Override
    public void close() {
        server.stop();
    }
}
