package shop

import dev.interlock.Hold
import dev.interlock.Holds
import dev.interlock.Interlock
import dev.interlock.junit.InterlockTest
import dev.interlock.junit.OtherSession
import java.time.Duration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.future.await
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout

private val PATIENCE = Duration.ofSeconds(20)

/** Stands for a remote service: what it is asked for takes until somebody completes it. */
private class Carrier {
    val asked = CompletableDeferred<Long>()
    val receipt = CompletableDeferred<String>()

    suspend fun ship(order: Int, token: Long): String {
        asked.complete(token)
        return "order $order: " + receipt.await()
    }
}

// tag::coroutine[]
/** Waits for a hold. A coroutine that is cancelled meanwhile withdraws its request. */
suspend fun Holds.await(name: String): Hold {
    val asked = acquire(name)
    try {
        return asked.await()
    } catch (e: CancellationException) {
        asked.thenAccept(Hold::close) // if it was granted at that moment
        throw e
    }
}

private suspend fun ship(holds: Holds, carrier: Carrier): String =
    holds.await("order:42").use { hold -> carrier.ship(42, hold.fencingToken()) }
// end::coroutine[]

@InterlockTest
@Timeout(120)
class ShippingTest {
    private val carrier = Carrier()

    private fun isFree(session: Interlock) =
        session.lock("order:42").run { tryLock(PATIENCE).also { if (it) unlock() } }

    @Test
    fun holdLastsUntilTheCoroutineIsDone(mine: Interlock, @OtherSession other: Interlock) =
        runBlocking(Dispatchers.Default) {
            val shipped = async { ship(mine.holds(), carrier) }
            assertTrue(carrier.asked.await() > 0)
            assertFalse(other.lock("order:42").tryLock())
            carrier.receipt.complete("sent")
            assertEquals("order 42: sent", shipped.await())
            assertTrue(isFree(other))
        }

    @Test
    fun cancellationWhileWaitingWithdraws(mine: Interlock, @OtherSession other: Interlock) =
        runBlocking(Dispatchers.Default) {
            val first = other.holds().hold("order:42")
            val shipping = launch(start = CoroutineStart.UNDISPATCHED) { ship(mine.holds(), carrier) }
            shipping.cancelAndJoin()
            first.close()
            assertTrue(isFree(other))
            assertFalse(carrier.asked.isCompleted)
        }

    @Test
    fun cancellationWhileWorkingReleases(mine: Interlock, @OtherSession other: Interlock) =
        runBlocking(Dispatchers.Default) {
            val shipping = launch { ship(mine.holds(), carrier) }
            carrier.asked.await()
            assertFalse(other.lock("order:42").tryLock())
            shipping.cancelAndJoin()
            assertTrue(isFree(other))
        }

    /** The hold is granted while the coroutine is being cancelled, so that [await] has it and doesn't return it. */
    @Test
    fun whatIsGrantedAtTheMomentOfCancellationIsGivenBack(mine: Interlock, @OtherSession other: Interlock) =
        runBlocking(Dispatchers.Default) {
            for (i in 1..2_000) {
                val shipping = launch { mine.holds().await("order:42").use { yield() } }
                if (i % 2 == 0) yield() else delay(i % 3L)
                shipping.cancelAndJoin()
            }
            assertTrue(isFree(other))
            assertTrue(mine.lock("order:42").tryLock(PATIENCE))
        }
}
