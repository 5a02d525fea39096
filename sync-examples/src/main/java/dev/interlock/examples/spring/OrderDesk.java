package dev.interlock.examples.spring;

import dev.interlock.Interlock;
import dev.interlock.spring.Locked;
import dev.interlock.spring.Once;
import dev.interlock.spring.RateLimited;
import java.time.Duration;
import java.util.List;
import java.util.NoSuchElementException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** What the service does, in whichever instance it is called. */
@Service
class OrderDesk {

    private final JdbcClient database;
    private final String instance;

    OrderDesk(JdbcClient database, Interlock interlock) {
        this.database = database;
        this.instance = interlock.sessionName();
    }

    /**
     * Packs the next parcel of an order. One thread of the fleet does so for an order at a time, and the next one
     * begins when the transaction of this one is committed.
     *
     * @return the number of the parcel
     */
    @Locked(name = "order:#{#order}", waitAtMost = "${orders.wait}")
    @Transactional
    public int packParcel(long order, Duration time) throws InterruptedException {
        return readPackAndWrite(order, time);
    }

    /** As {@link #packParcel}, but with nothing around it than a transaction. */
    @Transactional
    public int packParcelWithoutLock(long order, Duration time) throws InterruptedException {
        return readPackAndWrite(order, time);
    }

    private int readPackAndWrite(long order, Duration time) throws InterruptedException {
        int packed = database.sql("select parcels from orders where id = ?")
                .param(order)
                .query(Integer.class)
                .optional()
                .orElseThrow(() -> new NoSuchElementException("there is no order " + order));
        Thread.sleep(time.toMillis());
        database.sql("update orders set parcels = ? where id = ?")
                .params(packed + 1, order)
                .update();
        return packed + 1;
    }

    /** Finds orders; five times in a minute per user, in all instances together. */
    @RateLimited(name = "search", key = "#{#user}", permits = 5, per = "1m")
    public List<Long> search(String user, String words) {
        return database.sql("select id from orders where locate(?, title) > 0 order by id")
                .param(words)
                .query(Long.class)
                .list();
    }

    // tag::once[]
    /** Sends invoices every two seconds, in one of the instances. */
    @Scheduled(cron = "*/2 * * * * *")
    @Once(name = "invoices", atLeast = "1s")
    public void sendInvoices() {
        database.sql("insert into invoice_runs values (current_timestamp, ?)")
                .param(instance)
                .update();
    }
    // end::once[]
}
