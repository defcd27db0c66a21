// Package fit guesses at quantiles that the wall hides, with three models: the
// generalised Pareto distribution of the excesses over a threshold, and the Weibull and
// lognormal distributions of all values, each with the profile upper bound of a
// quantile. Gates say where it must not: Estimates asks the models only where all six
// are passed.
package fit
