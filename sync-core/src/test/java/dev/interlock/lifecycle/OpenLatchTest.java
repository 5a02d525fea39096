package dev.interlock.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.interlock.DistributedCountDownLatch;
import dev.interlock.Interlock;
import dev.interlock.lock.faults.FaultFixture;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A latch that is joined when it is open already, as in a second round under its name. */
class OpenLatchTest extends FaultFixture {

    @Override
    protected String lasting() {
        return super.lasting() + "|latch";
    }

    private static List<String> said(Lines lines) {
        return lines.at(Level.INFO, "another round needs another name");
    }

    @Test
    void theLogTellsOfItOnceForEachName() throws InterruptedException {
        try (Lines lines = new Lines()) {
            Interlock session = session();
            DistributedCountDownLatch round = session.countDownLatch("round", 1);
            round.countDown();
            session.countDownLatch("none", 0);
            assertThat(said(lines)).isEmpty();

            DistributedCountDownLatch next = session.countDownLatch("round", 1);

            next.await();
            assertThat(said(lines)).singleElement().asString().contains("latch 'round'");
            session.countDownLatch("round", 1);
            assertThat(said(lines)).hasSize(1);
            Interlock late = session();
            late.countDownLatch("round", 1);
            late.countDownLatch("round", 1);
            assertThat(said(lines)).as("of each session").hasSize(2);
            session.countDownLatch("other", 2);
            assertThat(said(lines)).hasSize(2);
        }
    }
}
