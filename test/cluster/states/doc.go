// Package states holds `verify skew` to the answers of an expert: states of
// clusters, each with the verdict that somebody who knows the drivers and
// OpenShift gives, why, and where that is written. The verdicts were decided
// before the program was asked.
//
// The objects are written here, after what the drivers' projects, the Windows
// Machine Config Operator and OpenShift publish; they are no copies. States that
// the program judges wrongly are on a list in the test, with what it says. The
// list can only get shorter: a state on it that changes fails the test.
//
// go test -v ./test/cluster/states prints how many verdicts are right, and how long the
// texts are. The package has no code of its own.
package states
