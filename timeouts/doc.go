// Package timeouts says what each timeout should be, what the whole request should
// be given, and on what evidence.
//
//  1. Only what a caller sets has a timeout: attempts of hop logs and client spans.
//  2. A leaf's comes from the tail of its first attempts: certified, identified, or
//     not known, and then a canary would make it known.
//  3. A call that makes calls itself is given its own work and what it grants them.
//  4. The budget of a request adds up the calls in a row, takes the longest of those
//     side by side, and reserves its retries once.
//
// Evidence and advice are two things: a timeout that is not known is null, and no
// model's guess ever sets one. Durations are integer nanoseconds.
package timeouts
