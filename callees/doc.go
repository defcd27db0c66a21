// Package callees tells apart the calls of one client hop that go to several services.
//
// Many clients call their spans by the method or the library alone, so that one hop
// stands for calls of fast and of slow services. A part of the traces shows which hops
// those are, and whether nearly all of their calls, those that were cut too, have a
// server's span that names their callee: else the rows by callee would leave out the
// very calls that were too slow for one. Then each callee is a hop of its own in all
// traces, called "hop -> service".
package callees
