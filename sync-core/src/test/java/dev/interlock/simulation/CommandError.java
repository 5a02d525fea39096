package dev.interlock.simulation;

/** What Redis answers to a command that it refuses. */
final class CommandError extends RuntimeException {
    private static final long serialVersionUID = 1;

    static final String NOT_AN_INTEGER = "ERR value is not an integer or out of range";

    CommandError(String message) {
        super(message, null, false, false);
    }

    static CommandError wrongType() {
        return new CommandError("WRONGTYPE Operation against a key holding the wrong kind of value");
    }

    /** Returns the reply to options that don't belong together. */
    static CommandError syntax() {
        return new CommandError("ERR syntax error");
    }

    @Override
    public String getMessage() {
        return String.valueOf(super.getMessage());
    }
}
