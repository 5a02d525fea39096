/** The rig of all tests of several JVMs: peers that do what they are told, and hammers that record what they see. */
@NullMarked
package dev.interlock.testing.rig;

import org.jspecify.annotations.NullMarked;
