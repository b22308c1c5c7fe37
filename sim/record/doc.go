// Package record keeps what a simulation measures: histograms of durations that
// can be merged, and means over replications with their intervals.
//
// A [Histogram] has fixed buckets, 128 to each doubling, so that two of them can
// be added whatever they hold, a percentile is wrong by less than one per cent,
// and an observation costs some nanoseconds and no memory. Its mean and
// deviation are exact.
//
// An [Interval] says how far a mean over independent replications can be
// trusted (Student's t). Observations of one run are not independent: a request
// behind a long queue is slow because the one before it was. Never make an
// interval of those.
package record
