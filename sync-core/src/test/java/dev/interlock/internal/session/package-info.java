/** What a session has once. */
@NullMarked
package dev.interlock.internal.session;

import org.jspecify.annotations.NullMarked;
