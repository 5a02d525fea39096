/** What a session has once, for all its names: identity, beats, lease renewal, and the engines that wait and repeat. */
@NullMarked
package dev.interlock.internal.session;

import org.jspecify.annotations.NullMarked;
