package dev.interlock.testing;

/** An error that Redis answered, such as {@code ERR unknown command}. */
public final class RespError extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final String reply;

    RespError(String reply) {
        super(reply);
        this.reply = reply;
    }

    /** The text of the error. */
    @Override
    public String getMessage() {
        return reply;
    }
}
