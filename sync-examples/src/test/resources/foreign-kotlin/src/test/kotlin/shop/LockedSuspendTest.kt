package shop

import dev.interlock.Interlock
import dev.interlock.junit.InterlockTest
import dev.interlock.junit.OtherSession
import dev.interlock.spring.InterlockAnnotationsConfiguration
import dev.interlock.spring.Locked
import dev.interlock.spring.LockBusyException
import java.time.Duration
import java.util.function.Supplier
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.single
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.springframework.context.annotation.AnnotationConfigApplicationContext

/** Work that suspends until the test completes it. */
open class Desk {
    open val asked = CompletableDeferred<Unit>()
    open val receipt = CompletableDeferred<String>()

    @Locked(name = "order:#{#id}")
    open suspend fun ship(id: Int): String {
        asked.complete(Unit)
        return "order $id: " + receipt.await()
    }

    @Locked(name = "order:#{#id}", waitAtMost = "10ms")
    open suspend fun shipNow(id: Int): String = "order $id"

    @Locked(name = "order:#{#id}", waitAtMost = "10ms", onBusy = Locked.OnBusy.SKIP)
    open suspend fun shipOrNot(id: Int): String? = "order $id"

    @Locked(name = "order:#{#id}")
    open fun parts(id: Int): Flow<String> = flow { emit(ship2(id)) }

    private suspend fun ship2(id: Int): String {
        asked.complete(Unit)
        return "order $id: " + receipt.await()
    }
}

@InterlockTest
@Timeout(120)
class LockedSuspendTest {
    private fun isFree(session: Interlock) =
        session.lock("order:7").run { tryLock(Duration.ofSeconds(20)).also { if (it) unlock() } }

    private fun withDesk(mine: Interlock, test: suspend (Desk) -> Unit) {
        val context = AnnotationConfigApplicationContext()
        context.register(InterlockAnnotationsConfiguration::class.java, Desk::class.java)
        context.registerBean(Interlock::class.java, Supplier { mine }, { it.destroyMethodName = "" })
        context.refresh()
        context.use { runBlocking(Dispatchers.Default) { test(it.getBean(Desk::class.java)) } }
    }

    @Test
    fun holdLastsUntilTheFunctionReturns(mine: Interlock, @OtherSession other: Interlock) = withDesk(mine) { desk ->
        runBlocking(Dispatchers.Default) {
            val shipped = async { desk.ship(7) }
            desk.asked.await()
            assertFalse(other.lock("order:7").tryLock())
            desk.receipt.complete("sent")
            assertEquals("order 7: sent", shipped.await())
            assertTrue(isFree(other))
        }
    }

    @Test
    fun holdEndsWithAFailure(mine: Interlock, @OtherSession other: Interlock) = withDesk(mine) { desk ->
        desk.receipt.completeExceptionally(IllegalStateException("failed"))
        assertEquals("failed", runCatching { desk.ship(7) }.exceptionOrNull()?.message)
        assertTrue(isFree(other))
    }

    @Test
    fun cancellationGivesBack(mine: Interlock, @OtherSession other: Interlock) = withDesk(mine) { desk ->
        runBlocking(Dispatchers.Default) {
            val shipping = launch { desk.ship(7) }
            desk.asked.await()
            shipping.cancelAndJoin()
            assertTrue(isFree(other))
        }
    }

    @Test
    fun cancellationWhileWaitingWithdraws(mine: Interlock, @OtherSession other: Interlock) = withDesk(mine) { desk ->
        runBlocking(Dispatchers.Default) {
            val first = other.holds().hold("order:7")
            val shipping = launch(start = CoroutineStart.UNDISPATCHED) { desk.ship(7) }
            shipping.cancelAndJoin()
            first.close()
            assertTrue(isFree(other))
            assertFalse(desk.asked.isCompleted)
        }
    }

    @Test
    fun busyIsToldOrSkipped(mine: Interlock, @OtherSession other: Interlock) = withDesk(mine) { desk ->
        val first = other.holds().hold("order:7")
        assertTrue(runCatching { desk.shipNow(7) }.exceptionOrNull() is LockBusyException)
        assertEquals(null, desk.shipOrNot(7))
        first.close()
        assertEquals("order 7", desk.shipOrNot(7))
    }

    @Test
    fun aFlowHoldsForEachCollection(mine: Interlock, @OtherSession other: Interlock) = withDesk(mine) { desk ->
        runBlocking(Dispatchers.Default) {
            val parts = desk.parts(7)
            assertTrue(isFree(other))
            val collected = async { parts.single() }
            desk.asked.await()
            assertFalse(other.lock("order:7").tryLock())
            desk.receipt.complete("sent")
            assertEquals("order 7: sent", collected.await())
            assertTrue(isFree(other))
        }
    }
}
