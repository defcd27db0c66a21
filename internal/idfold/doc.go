// Package idfold tells the ids in a name from its words, so that names which differ
// only in ids become one: "/user/123" and "/user/124" are "/user/{id}". What a name
// becomes depends on nothing but the name.
//
// The aim is a bounded number of names, not a guess of the route: a word with digits
// in it is an id unless it looks like a version or an abbreviation. Others do the
// same with fewer rules: Datadog replaces UUIDs, numbers of six digits and more, and
// values of queries; the path rules of its tracers replace every segment with a digit
// but versions.
package idfold
