// Package arch keeps the table of which package may import which, as a test.
package arch
