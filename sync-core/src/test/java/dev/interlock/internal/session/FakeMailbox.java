package dev.interlock.internal.session;

import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.redis.Mailbox;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A mailbox to which the test delivers. */
public final class FakeMailbox implements Mailbox {
    private @Nullable Consumer<Mail> receiver;

    /** Delivers a message, if the mailbox is open. */
    public void deliver(Mail mail) {
        if (receiver != null) {
            receiver.accept(mail);
        }
    }

    /** Returns whether it is open. */
    public boolean isOpen() {
        return receiver != null;
    }

    @Override
    public CompletableFuture<?> open(Consumer<Mail> opened, Runnable connected) {
        receiver = opened;
        return CompletableFuture.completedFuture(true);
    }

    @Override
    public void abandon() {
        receiver = null;
    }

    @Override
    public CompletableFuture<?> close() {
        receiver = null;
        return CompletableFuture.completedFuture(true);
    }
}
