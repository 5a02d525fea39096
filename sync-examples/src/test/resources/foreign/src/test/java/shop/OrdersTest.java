package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.junit.InterlockFaults;
import dev.interlock.junit.InterlockTest;
import dev.interlock.junit.OtherSession;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

@InterlockTest
class OrdersTest {
    @Test
    void oneJvmAtATimeWorksOnAnOrder(Interlock mine, @OtherSession Interlock other) {
        mine.lock("order:42").lock();
        assertFalse(other.lock("order:42").tryLock());
        mine.lock("order:42").unlock();
        assertTrue(other.lock("order:42").tryLock());
    }

    @Test
    void lostLockIsNoticed(Interlock mine, @OtherSession Interlock other, InterlockFaults faults) throws Exception {
        // A lock that is lost isn't referenced by its session any more.
        DistributedReentrantLock lock = mine.lock("order:42");
        lock.lock();
        faults.loseLock("order:42");
        assertTrue(other.lock("order:42").tryLock(10, TimeUnit.SECONDS));
        assertThrows(LeaseLostException.class, lock::unlock);
    }

    @Test
    void theLibraryIsAModuleToModules() {
        assertEquals(getClass().getModule().isNamed(), Interlock.class.getModule().isNamed());
    }
}
