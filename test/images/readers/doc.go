// Package readers reads one baked image with the tools that people read images
// with, and wants the same files from each. It has no code of its own; its
// tests need the build tag e2e, and the tools of test/deps.sh.
package readers
