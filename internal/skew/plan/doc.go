// Package plan puts what rules ask for in order: before, during and after each
// hop. Each action is applied to a copy of the inventory, and the rules judge that
// before the next step is chosen. It has no rule of its own.
package plan
