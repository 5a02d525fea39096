package dev.interlock.examples;

import java.util.UUID;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** A table with one row, of item 4711, which refuses the write of a holder that has been overtaken. */
final class StockTable {
    static final int UNITS = 1_000;

    private final JdbcClient database =
            JdbcClient.create(new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1"));

    StockTable() {
        database.sql("create table stock (item int primary key, units int not null, token bigint not null)")
                .update();
        database.sql("insert into stock values (4711, ?, 0)").param(UNITS).update();
    }

    int units(int item) {
        return database.sql("select units from stock where item = ?")
                .param(item)
                .query(Integer.class)
                .single();
    }

    // tag::fenced-store[]
    void write(int item, int units, long token) {
        int rows = database.sql("update stock set units = ?, token = ? where item = ? and token <= ?")
                .params(units, token, item, token)
                .update();
        if (rows == 0) {
            throw new IllegalStateException("item " + item + " was written with a later token than " + token);
        }
    }
    // end::fenced-store[]

    /** Takes a unit, and returns how many are left; safe only in one thread at a time. */
    int take(int item) {
        int left = units(item) - 1;
        database.sql("update stock set units = ? where item = ?")
                .params(left, item)
                .update();
        return left;
    }
}
