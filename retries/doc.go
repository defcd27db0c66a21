// Package retries says what retries are worth.
//
//  1. A call is a first attempt and the retries that belong to it: each to the
//     latest cut or failed attempt of its hop that ended before it.
//  2. Rescue: of the calls whose first attempt was cut, those that a retry
//     completed, beside how often first attempts complete on their own.
//  3. Work done twice: calls that their server ran to a good end more than once.
//  4. The wall: whether failing calls last whole multiples of their timeout.
//  5. Amplification, the retry ratio and its worst minute, backoff and its jitter.
//
// Of a chain of a hop log it needs only attempts that gave up or may have been cut,
// and retries (assembly.KeepRetried), so that memory follows what went wrong, not what
// was read. Times are nanoseconds.
package retries
