/** Encryption, rights and secrets; what strangers may send. */
@NullMarked
package dev.interlock.security;

import org.jspecify.annotations.NullMarked;
