// Package skew holds examples of `verify skew`: the inputs of a cluster, the
// command, and the answer that a support engineer would sign. It has no code
// of its own.
package skew
