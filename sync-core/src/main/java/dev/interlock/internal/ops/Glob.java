package dev.interlock.internal.ops;

/**
 * Patterns of names: {@code *} stands for any characters or none, {@code ?} for one. The matcher goes back to the last
 * {@code *} only, so that the time it takes is bounded by the product of both lengths: sessions match the patterns of
 * strangers in the thread that renews their leases.
 */
final class Glob {
    /** The length of the longest pattern that an operator may use. */
    static final int MOST_CHARACTERS = 1_000;

    private Glob() {}

    /** Returns whether the whole name matches. */
    static boolean matches(String glob, String name) {
        int inGlob = 0;
        int inName = 0;
        int star = -1;
        int behindStar = 0;
        while (inName < name.length()) {
            char wanted = inGlob < glob.length() ? glob.charAt(inGlob) : 0;
            if (wanted == '*') {
                star = inGlob++;
                behindStar = inName;
            } else if (wanted == '?') {
                inGlob++;
                inName += Character.charCount(name.codePointAt(inName));
            } else if (inGlob < glob.length() && wanted == name.charAt(inName)) {
                inGlob++;
                inName++;
            } else if (star >= 0) {
                inGlob = star + 1;
                inName = ++behindStar;
            } else {
                return false;
            }
        }
        while (inGlob < glob.length() && glob.charAt(inGlob) == '*') {
            inGlob++;
        }
        return inGlob == glob.length();
    }
}
